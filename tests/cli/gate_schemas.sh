# What CI reads, against schemas: SARIF, JUnit, markdown and workflow commands of gates that pass, fail and cannot judge, with hostile names too.
cp "$DATA"/gate_*.json .
python3 - <<'PY'
import json
EVIL = 'a|b`*_<i>@user #1 ]]> ::error::x%0A "\'&\\ \u202e\u0001\nnext'
t = json.load(open('gate_after.json'))
for e in t['traceEvents']:
    e['name'] = e['name'].replace('router.py', 'sp ace/' + EVIL + '/router.py').replace('model.py', '/abs/model.py')
json.dump(t, open('evil.json', 'w'))
PY
printf 'syncs.count per site <= baseline # say | why, <b>now</b>\nsteps.duration_ns median <= baseline\n' > my.rules
gate() { # NAME ARGS...
    local name=$1 f; shift
    for f in junit sarif github markdown; do cpscope gate "$@" --format $f > "$name.${f/markdown/md}" 2> err.log; done
    echo "$name: status $?"
}
gate pass gate_before.json --baseline gate_before.json
gate fail gate_after.json --baseline gate_before.json
gate undecided gate_other_gpu.json --baseline gate_before.json
gate evil evil.json --baseline gate_before.json --rules my.rules
python3 "$ROOT/tests/cli/check_formats.py" "$DATA/formats" pass fail undecided evil
grep -o '"uri": "[^"]*"' evil.sarif
if command -v xmllint > /dev/null; then
    for n in pass fail undecided evil; do xmllint --noout --schema "$DATA/formats/junit.xsd" $n.junit; done
else
    echo "no xmllint here"; exit 77
fi
# the schemas refuse what is wrong
sed 's/"startLine": [0-9]*/"startLine": 0/; s/"kind": "fail"/"kind": "failed"/' fail.sarif > bad.sarif
sed 's/^| syncs.count/| x | syncs.count/; s/---: |$/---:/' fail.md > bad.md
sed 's/^::error file/::mistake file/' fail.github > bad.github
sed 's/failures="3"/failures="4"/; s/line="5"/line="0"/' fail.junit > bad.junit
python3 "$ROOT/tests/cli/check_formats.py" "$DATA/formats" bad | tail -n 1
xmllint --noout --schema "$DATA/formats/junit.xsd" bad.junit > lint.log 2>&1; echo "xmllint $?"
