# The kinds steps, wait, curves and scaling: what stands where, twice the same bytes, hostile names as text, refusals.
python3 "$ROOT/tests/cli/plot_traces.py"
look() { python3 -c '
import sys, xml.etree.ElementTree as E
root = E.parse(sys.argv[1]).getroot()
text = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
print(root.get("viewBox"), "|", " | ".join(t for t in text if t and not t.strip().replace(".", "").isdigit()))' "$1"; }
# Widths of the bars by colour, legend left out, in units of the narrowest: transfer 150 us, waiting 100 us.
widths() { python3 -c '
import re, sys
seen = []
for colour, points in re.findall(r"<polygon fill=.rgb\(([^)]*)\)[^>]*?points=.([^/]*?).\s*/>", open(sys.argv[1]).read()):
    p = [tuple(map(float, q.split(","))) for q in points.split()]
    if max(y for _, y in p) > 40:
        seen.append(max(x for x, _ in p) - min(x for x, _ in p))
print("bars", " ".join("%.2f" % (w / min(v for v in seen if v > 1)) for w in seen))' "$1"; }
draw() { # KIND NAME ARGS...
    kind=$1 name=$2; shift 2
    cpscope plot "$kind" "$@" -o "$name.svg"; echo "status $?"
    look "$name.svg"
    cpscope plot "$kind" "$@" -o again.svg && cmp "$name.svg" again.svg
}
echo "--- steps"
draw steps steps two
draw steps steps quick --baseline two
echo "--- wait"
draw wait wait two
widths wait.svg
draw wait wait quick --baseline two
echo "--- curves"
draw curves curves a.csv b.csv
draw curves curves a.csv b.csv --log --column grad_norm
draw curves curves a.csv a.csv --column loss
draw curves evil evil.csv
echo "--- scaling"
draw scaling scaling four two quick
draw scaling synced four synced # device idle after syncs: 15 us after four of five steps
cpscope plot scaling four two quick -o p.png && head -c 4 p.png | tail -c 3; echo
echo "--- scaling on a modelled machine, against tokens where the ranks are the same"
modelled() { # TOKENS
    cpscope record -q -o "$1.sqlite" -- cpbench run --device sim --mode gdn.chunkwise --boundaries per-layer --cp 2 --tokens "$1" --seqs equal:1 > run.csv
}
modelled 1024 && modelled 4096
cpscope plot scaling 4096.sqlite 1024.sqlite -o tokens.svg; echo "status $?"
look tokens.svg | sed 's/[0-9.]* [mu]s/T/g' # times are the machine's
cpscope plot scaling 4096.sqlite 1024.sqlite --against tokens -o again.svg && cmp tokens.svg again.svg
cpscope plot scaling 4096.sqlite 1024.sqlite --against ranks -o ranks.svg && look ranks.svg | grep -o "ranks; n.*not measured)"
echo "--- recordings of one size stand beside each other and are not joined"
cpscope plot scaling 4096.sqlite 1024.sqlite 1024.sqlite --against tokens -o beside.svg
joined() { grep -o "dasharray[^>]*" "$1" | grep -c L; }
echo "joined: $(joined tokens.svg) lines, beside: $(joined beside.svg), at $(grep -o "dasharray[^>]*" beside.svg | grep -o 'M[0-9.]*' | sort -u | wc -l) places"
rm -f ./*.svg ./*.png ./*.sqlite run.csv
echo "--- on the page"
cpscope report quick --baseline two -o page.html; echo "status $?"
python3 "$ROOT/tests/browser/read_page.py" page.html "Step by step: after"
rm page.html
echo "--- refusals"
refuse() { cpscope plot "$@"; echo "status $?"; }
refuse wait two/rank0.json -o x.svg
refuse steps a.csv -o x.svg
refuse curves short.csv -o x.svg
refuse curves quotes.csv -o x.svg
refuse curves nostep.csv -o x.svg
refuse curves nothing.csv -o x.svg
refuse curves empty.csv -o x.svg
refuse curves nosuch.csv -o x.svg
refuse curves a.csv --column lose -o x.svg
refuse curves a.csv --baseline b.csv -o x.svg
refuse scaling two quick --against tokens -o x.svg
refuse scaling two quick --against time -o x.svg
cp a.csv a.svg && refuse curves a.svg -o a.svg && cmp a.csv a.svg && rm a.svg
ls
