# Step times: a dash a rank and step, the median as a line, a box around each outlier.
# $before $after: step time     $marked: step time "text"     pair, low, high, every, most, dash, unit, names, medians, sample: given
set lmargin 10
set rmargin 3
set bmargin 4
set tmargin 3
set xrange [low:high]
set yrange [0:most * 1.18]
set xtics every nomirror out
set ytics nomirror out
set ylabel sprintf("step time (%s)", unit)
set xlabel sprintf("step; %s", sample)
set border 3
set key at graph 0, graph 1 bottom left horizontal Left reverse samplen 1.6 width 1 maxrows 1
set style fill empty
w = 0.36
plot $before using ($1-w):2:(2*w):(0) with vectors nohead lw dash lc rgb c_before title (pair ? name_before : ""), \
     $after using ($1-w):2:(2*w):(0) with vectors nohead lw dash lc rgb c_after title name_after, \
     $line_before using 1:2:($3-$1):(0) with vectors nohead lw 1 dt 2 lc rgb c_before notitle, \
     $line_after using 1:2:($3-$1):(0) with vectors nohead lw 1 dt 2 lc rgb c_after notitle, \
     $marked using 1:2:($1-w-gap):($1+w+gap):($2-most*0.025):($2+most*0.025) with boxxyerror lw 1.5 lc rgb "black" \
         title (outliers ? "outlier" : ""), \
     $marked using 1:($2+most*0.07):3 with labels notitle
