# A strip of time. Each lane is as high as it is used: the shades stack within each bin, so full height is a full bin.
# $compute $comm $copy $wait: x low high, a blank line between lanes     $lanes: row "label"     rows, span, axis, unit, what: given
set lmargin label_columns
set rmargin 3
set bmargin 4
set tmargin 2
set xrange [0:axis]
set yrange [rows - 0.4:-0.6]
set xtics nomirror out
set xlabel sprintf("time since the start of %s (%s)", what, unit)
unset ytics
set border 1
set key at graph 0, graph 1 bottom left horizontal Left reverse samplen 1.2 width -2 maxrows 1
set style fill solid 1.0 noborder
plot $floor using (0):($1+0.4):(span):(0) with vectors nohead lw 0.5 lc rgb c_idle notitle, \
     $compute using 1:2:3 with filledcurves lc rgb c_compute title "compute", \
     $comm using 1:2:3 with filledcurves lc rgb c_comm title "communication", \
     $copy using 1:2:3 with filledcurves lc rgb c_copy title "copies and fills", \
     $wait using 1:2:3 with filledcurves lc rgb c_wait title "host blocked", \
     $floor using (0):1:2 with labels right offset -0.8,0 notitle
