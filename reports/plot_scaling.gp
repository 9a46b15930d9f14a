# Scaling: step time and exposed communication of several recordings, against their ranks or tokens.
# $points: x step low high exposed "step" "exposed" (exposed -1: not known)     xtics: given, too
# logarithmic, low, high, wide, most, unit, axis, sample: given
set lmargin 10
set rmargin 6
set bmargin 4
set tmargin 3
set border 3
if (logarithmic) { set logscale x 2 }
set xrange [low:high]
set yrange [0:most * 1.18]
set ytics nomirror out
set ylabel sprintf("time of a step (%s)", unit)
set xlabel sprintf("%s; %s", axis, sample)
set key at graph 0, graph 1 bottom left horizontal Left reverse samplen 1.6 width 1 maxrows 1
left(x) = logarithmic ? x / wide : x - wide
right(x) = logarithmic ? x * wide : x + wide
known(y) = y < 0 ? NaN : y
plot $points using 1:2 with lines lw 1.5 dt 2 lc rgb c_after notitle, \
     $points using 1:(known($5)) with lines lw 1.5 dt 2 lc rgb c_comm notitle, \
     $points using 1:3:(0):($4-$3) with vectors nohead lw 2 lc rgb c_after notitle, \
     $points using (left($1)):2:(right($1)-left($1)):(0) with vectors nohead lw 4 lc rgb c_after title "step: median, and its range", \
     $points using (left($1)):(known($5)):(right($1)-left($1)):(0) with vectors nohead lw 4 lc rgb c_comm title "exposed communication", \
     $points using (left($1)):2:6 with labels right offset -0.5,0.6 notitle, \
     $points using (right($1)):(known($5)):7 with labels left offset 0.5,-0.5 notitle
