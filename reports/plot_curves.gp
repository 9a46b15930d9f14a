# Curves: a panel a quantity, a line a file; what differs most from the first file is said above each panel.
# $curves: step value; dataset p * files + i is quantity p of file i     $panels: low high "title"     $names: 0 "file"
# panels, files, logarithmic, low, high, each, every, pixels, sample: given
set lmargin 12
set rmargin 3
set border 3
set xtics every nomirror out
set ytics nomirror out
set xrange [low:high]
set format y "%g"
if (logarithmic) { set logscale y }
bottom(p) = 1.0 * (50 + each * (panels - 1 - p) + 38) / pixels
top(p) = 1.0 * (50 + each * (panels - p) - 30) / pixels
colour(i) = i % 3 == 0 ? c_before : i % 3 == 1 ? c_after : "black"
set multiplot
do for [p = 0:panels-1] {
    set bmargin at screen bottom(p)
    set tmargin at screen top(p)
    a = real(word($panels[p+1], 1))
    b = real(word($panels[p+1], 2))
    set yrange [a:b]
    # under a decade or so gnuplot would put no number on a logarithmic axis
    tics = ""
    if (logarithmic && b < 20 * a) {
        do for [k = floor(log10(a)):ceil(log10(b))] {
            do for [m in (b < 3 * a ? "1 1.2 1.4 1.6 1.8 2 2.5 3 4 5 6 7 8 9" : "1 1.5 2 3 4 5 6 8")] {
                v = real(m) * 10**k
                if (b >= 1.6 * a && v >= a && v <= b) { tics = tics . sprintf("%s'%g' %.12g", strlen(tics) ? ", " : "", v, v) }
            }
        }
        if (!strlen(tics)) { tics = sprintf("'%.3g' %.12g, '%.3g' %.12g", a * 1.02, a * 1.02, b / 1.02, b / 1.02) }
        eval "set ytics (" . tics . ")"
    } else { set ytics auto }
    set label 1 word($panels[p+1], 3) at graph 0, graph 1 left offset 0,0.9
    if (p == panels - 1) { set xlabel sprintf("step; %s", sample) }
    if (p == 0) { set key at screen 0.99, screen 1.0 - 4.0 / pixels top right horizontal Right samplen 2.4 width 1 maxrows 1 } else { unset key }
    plot for [i = 0:files-1] $curves index p*files+i using 1:2 with lines lw 2 dt i/3+1 lc rgb colour(i) title word($names[1], i + 1)
}
unset multiplot
