# Collectives of each rank: transfer, and what was waited for the last rank.
# $bars: row "label" transfer total "text"     rows, label_columns, unit, most, sample: given
set lmargin label_columns
set rmargin 3
set bmargin 4
set tmargin 2
set xrange [0:most * 1.4]
set yrange [rows - 0.4:-0.6]
set xtics nomirror out
set xlabel sprintf("time in collectives (%s); %s", unit, sample)
unset ytics
set border 1
set key at graph 0, graph 1 bottom left horizontal Left reverse samplen 1.2 width 1 maxrows 1
set style fill solid 1.0 noborder
h = 0.32
plot $bars using (0):1:(0):3:($1-h):($1+h) with boxxyerror lc rgb c_comm title "transfer", \
     $bars using 3:1:3:4:($1-h):($1+h) with boxxyerror fs transparent solid 0.4 noborder lc rgb c_comm title "waiting for the last rank", \
     $bars using 4:1:5 with labels left offset 0.6,0 notitle, \
     $bars using (0):1:2 with labels right offset -0.8,0 notitle
