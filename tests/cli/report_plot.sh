# Plots: every kind as svg and png, well-formed, repeatable; wrong kinds and names are refused.
python3 "$ROOT/tests/cli/report_traces.py"
look() { python3 -c '
import sys, xml.etree.ElementTree as E
root = E.parse(sys.argv[1]).getroot()
text = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
print(root.get("viewBox"), "|", " | ".join(t for t in text if t and not t.strip().replace(".", "").isdigit()))' "$1"; }
# Areas of colours, legend left out, against that of communication (80 us of the 1000): compute 240 us, host blocked 200 us.
areas() { python3 -c '
import re, sys
area = {}
for colour, points in re.findall(r"<polygon fill=.rgb\(([^)]*)\)[^>]*?points=.([^/]*?).\s*/>", open(sys.argv[1]).read()):
    p = [tuple(map(float, q.split(","))) for q in points.split()]
    if max(y for _, y in p) < 40:
        continue
    twice = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(p, p[1:] + p[:1]))
    area[colour.replace(" ", "")] = area.get(colour.replace(" ", ""), 0) + abs(twice) / 2
print("compute %.2f blocked %.2f idle %.2f" % tuple(area.get(c, 0) / area["230,159,0"] for c in ("0,114,178", "213,94,0", "154,163,171")))' "$1"; }
for kind in breakdown syncs timeline; do
    echo "--- $kind"
    cpscope plot $kind before.json -o $kind.svg; echo "status $?"
    look $kind.svg
    cpscope plot $kind before.json -o again.svg && cmp $kind.svg again.svg
    cpscope plot $kind before.json -o $kind.png && head -c 4 $kind.png | tail -c 3; echo
done
echo "--- areas"
areas breakdown.svg
areas timeline.svg
echo "--- before and after"
cpscope plot syncs after.json --baseline before.json --ledger op -o syncs.svg; echo "status $?"
look syncs.svg
cpscope plot breakdown after.json --baseline before.json -o breakdown.svg; echo "status $?"
look breakdown.svg
echo "--- hostile names"
cpscope plot syncs evil.json -o evil.svg; echo "status $?"
look evil.svg | cut -c 1-120
echo "--- refusals"
rm -f ./*.svg ./*.png
cpscope plot pie before.json -o x.svg; echo "status $?"
cpscope plot syncs before.json -o x.gif; echo "status $?"
cpscope plot syncs before.json; echo "status $?"
cpscope plot syncs before.json --ledger both -o x.svg; echo "status $?"
cpscope plot timeline after.json --baseline before.json -o x.svg; echo "status $?"
ls
