# Plots: every kind as svg and png, well-formed, repeatable; wrong kinds and names are refused.
python3 "$ROOT/tests/cli/report_traces.py"
look() { python3 -c '
import sys, xml.etree.ElementTree as E
root = E.parse(sys.argv[1]).getroot()
text = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
print(root.get("viewBox"), "|", " | ".join(t for t in text if t and not t.strip().replace(".", "").isdigit()))' "$1"; }
for kind in breakdown syncs timeline; do
    echo "--- $kind"
    cpscope plot $kind before.json -o $kind.svg; echo "status $?"
    look $kind.svg
    cpscope plot $kind before.json -o again.svg && cmp $kind.svg again.svg
    cpscope plot $kind before.json -o $kind.png && head -c 4 $kind.png | tail -c 3; echo
done
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
