# Where the window went: one bar a device, four parts that add up to all of it.
# $bars: row "label" x0 x1 x2 x3 x4     $marks: x row "text" colour     rows, sample: given
set lmargin label_columns
set rmargin 3
set bmargin 4
set tmargin 2
set xrange [0:100]
set yrange [rows - 0.4:-0.6]
set xtics 0,10,100 nomirror out
set mxtics 1
set xlabel sprintf("share of the window (%%); %s", sample)
unset ytics
set border 1
set key at graph 0, graph 1 bottom left horizontal Left reverse samplen 1 width 1.5 maxrows 1
h = 0.36
set style fill solid 1.0 noborder
plot $bars using 3:1:3:4:($1-h):($1+h) with boxxyerror lc rgb c_compute title "compute", \
     $bars using 4:1:4:5:($1-h):($1+h) with boxxyerror lc rgb c_comm title "exposed comm", \
     $bars using 5:1:5:6:($1-h):($1+h) with boxxyerror lc rgb c_copy title "copies alone", \
     $bars using 6:1:6:7:($1-h):($1+h) with boxxyerror fs transparent solid 0.35 noborder lc rgb c_idle title "idle", \
     $bars using (0):1:2 with labels right offset -0.8,0 notitle, \
     $light using 1:2:3 with labels tc rgb "#ffffff" notitle, \
     $dark using 1:2:3 with labels tc rgb "#101010" notitle, \
     $plain using 1:2:3 with labels notitle
