# Scaling: step time, exposed communication and idle time after syncs of several recordings, against their ranks or tokens.
# $points, parted by empty lines where they are not joined: x low high step "step" exposed "exposed" sync "sync" (-1: not known)     xtics: given, too
# logx, low, high, wide, logy, least, most, unit, axis, sample: given
set lmargin 10
set rmargin 6
set bmargin 4
set tmargin 3
set border 3
if (logx) { set logscale x 2 }
if (logy) { set logscale y 10 }
bottom = logy ? least / 2 : 0
set xrange [low:high]
set yrange [bottom:logy ? most * 2.5 : most * 1.18]
set ytics nomirror out
if (logy) { set format y "%g" }
set ylabel sprintf("time of a step (%s)", unit)
set xlabel sprintf("%s; %s", axis, sample)
set key at graph 0, graph 1 bottom left horizontal Left reverse samplen 1.6 width 1 maxrows 1
left(x) = logx ? x / wide : x - wide
right(x) = logx ? x * wide : x + wide
# What is 0 stands on a logarithmic axis at its end. Labels stand below what they are of, near the axis above it.
known(y) = y < 0 ? NaN : y < bottom ? bottom : y
near(y) = logy ? y < bottom * 1.3 : y < most * 0.07
below(y) = near(known(y)) ? NaN : known(y)
above(y) = near(known(y)) ? known(y) : NaN
plot $points using 1:4 with lines lw 1.5 dt 2 lc rgb c_after notitle, \
     $points using 1:(known($6)) with lines lw 1.5 dt 2 lc rgb c_comm notitle, \
     $points using 1:(known($8)) with lines lw 1.5 dt 2 lc rgb c_wait notitle, \
     $points using 1:2:(0):($3-$2) with vectors nohead lw 2 lc rgb c_after notitle, \
     $points using (left($1)):4:(right($1)-left($1)):(0) with vectors nohead lw 4 lc rgb c_after title "step: median, and its range", \
     $points using (left($1)):(known($6)):(right($1)-left($1)):(0) with vectors nohead lw 4 lc rgb c_comm title "exposed communication", \
     $points using (left($1)):(known($8)):(right($1)-left($1)):(0) with vectors nohead lw 4 lc rgb c_wait title "device idle after host syncs", \
     $points using 1:3:5 with labels center offset 0,0.8 notitle, \
     $points using 1:(below($6)):7 with labels center offset 0,-0.8 notitle, \
     $points using 1:(above($6)):7 with labels center offset 0,0.8 notitle, \
     $points using 1:(below($8)):9 with labels center offset 0,-0.8 notitle, \
     $points using 1:(above($8)):9 with labels center offset 0,0.8 notitle
