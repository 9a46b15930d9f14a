# The page: verdict first, whole, offline, repeatable, inert; and what is said when there is none.
python3 "$ROOT/tests/cli/report_traces.py"
read_page() { python3 "$ROOT/tests/browser/read_page.py" "$1"; }

echo "--- before and after"
cpscope report after.json --baseline before.json -o page.html; echo "status $?"
read_page page.html
python3 "$ROOT/tests/browser/read_page.py" page.html "Means of a rank in a step" "Op ledger: operators that read back, by call site" \
    "Wait ledger: host calls that block, by call site" "Wait ledger: by file and line" "Wait ledger: by stack, outermost first" \
    "Critical path: the chain of causes, walked back from the end" "By class" "By name" Collectives "Summary of each device: after"
cpscope report after.json --baseline before.json -o again.html && cmp page.html again.html && echo "twice the same bytes"
cpscope report after.json --baseline before.json -o - | cmp - page.html && echo "the same on stdout"

echo "--- the other way round"
cpscope report before.json --baseline after.json -o page.html; echo "status $?"
read_page page.html | sed -n 1,3p

echo "--- the same run twice"
cpscope report before.json --baseline before.json -o page.html; echo "status $?"
read_page page.html | sed -n 1,2p

echo "--- as many syncs, some at a place that had none"
cpscope report moved.json --baseline before.json -o page.html; echo "status $?"
read_page page.html | sed -n 1,7p

echo "--- one run"
cpscope report before.json -o page.html; echo "status $?"
read_page page.html | sed -n 1,3p

echo "--- another world size"
cpscope report other.json --baseline before.json -o page.html; echo "status $?"
read_page page.html | sed -n 1,3p

echo "--- two steps against one: sums are of a step"
python3 - <<'PY'
import json
t = json.load(open('before.json'))
ev = [dict(e, ts=e['ts'] + 2000, name=e['name'].replace('#5', '#6'), args=dict(e['args'], correlation=e['args'].get('correlation', -1000) + 1000))
      for e in t['traceEvents']]
t['traceEvents'] += ev
json.dump(t, open('twice.json', 'w'))
PY
cpscope report twice.json --baseline before.json -o page.html; echo "status $?"
read_page page.html | sed -n 1,3p
python3 "$ROOT/tests/browser/read_page.py" page.html "Op ledger: operators that read back, by call site" "By name"

echo "--- a baseline file: the gate's verdict"
cpscope gate after.json --update-baseline sync.baseline
for run in before after other; do
    cpscope report $run.json --baseline sync.baseline -o page.html; echo "status $?"
    read_page page.html | sed -n 1,3p
done
printf 'cpscope baseline 1\nrule x\n    many y\n' > torn.baseline
cpscope report before.json --baseline torn.baseline -o page.html; echo "status $?"
python3 "$ROOT/tests/browser/read_page.py" page.html "Rules against the baseline"
rm ./*.baseline twice.json

echo "--- links to the source"
cpscope report before.json --source 'docs/a&b' -o page.html; echo "status $?"
grep -o '<a href="docs[^>]*>' page.html | sort -u
for url in 'javascript:alert(1)' //host/x ''; do cpscope report before.json --source "$url" -o none.html; echo "status $?"; done

echo "--- hostile names"
cpscope report evil.json -o page.html; echo "status $?"
read_page page.html | grep -v '^ '
rm -f ./*.html

echo "--- refusals leave nothing behind"
cpscope report before.json; echo "status $?"
cpscope report nosuch.json -o page.html; echo "status $?"
cpscope report before.json -o nosuch/page.html; echo "status $?"
cpscope report before.json -o - > /dev/full; echo "status $?"
PATH=$BUILD/bin cpscope report before.json -o page.html; echo "status $?"
ls
