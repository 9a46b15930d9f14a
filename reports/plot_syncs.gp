# Sync sites: host time blocked, a pair of bars a site (before above after), how often at the bar's end.
# $before, $after: row value "text"     $sites: row "label"     rows, pair, label_columns, unit, most, sample: given
set lmargin label_columns
set rmargin 3
set bmargin 4
set tmargin 2
set xrange [0:most * 1.3]
set yrange [rows - 0.4:-0.6]
set xtics nomirror out
set xlabel sprintf("host time blocked (%s); %s", unit, sample)
unset ytics
set border 1
set key at graph 0, graph 1 bottom left horizontal Left reverse samplen 1.2 width 1 maxrows 1
set style fill solid 1.0 noborder
h = pair ? 0.19 : 0.32
d = pair ? 0.2 : 0
if (pair) {
    plot $before using (0):1:(0):2:($1-d-h):($1-d+h) with boxxyerror lc rgb c_before title "before", \
         $after using (0):1:(0):2:($1+d-h):($1+d+h) with boxxyerror lc rgb c_after title "after", \
         $before using 2:($1-d):3 with labels left offset 0.6,0 notitle, \
         $after using 2:($1+d):3 with labels left offset 0.6,0 notitle, \
         $sites using (0):1:2 with labels right offset -0.8,0 notitle
} else {
    plot $after using (0):1:(0):2:($1-h):($1+h) with boxxyerror lc rgb c_after title "this run", \
         $after using 2:1:3 with labels left offset 0.6,0 notitle, \
         $sites using (0):1:2 with labels right offset -0.8,0 notitle
}
