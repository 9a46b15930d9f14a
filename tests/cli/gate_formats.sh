# The gate in the formats of CI, and times of several runs: verdicts only when the noise allows them.
cp "$DATA"/gate_*.json .
for f in junit sarif github; do cpscope gate gate_after.json --baseline gate_before.json --format $f > out.$f; echo "status $?"; cat out.$f; done
cpscope gate gate_other_gpu.json --baseline gate_before.json --format github; echo "status $?"
cpscope gate gate_other_gpu.json --baseline gate_before.json --format junit | grep -c '<error'
cpscope summary gate_before.json --format sarif; echo "status $?"
python3 - <<'PY'
import json, xml.etree.ElementTree as ET
suite = ET.parse('out.junit').getroot()
assert suite.tag == 'testsuites' and len(list(suite.iter('failure'))) == 3
s = json.load(open('out.sarif'))
rules = s['runs'][0]['tool']['driver']['rules']
for r in s['runs'][0]['results']:
    assert rules[r['ruleIndex']]['id'] == r['ruleId'] and r['locations'][0]['physicalLocation']['region']['startLine'] > 0
print('valid')
PY
# runs: five of one speed, five 12 % slower, five 1 % slower; same counts
python3 - <<'PY'
import json
for name, scale in (('a', 1.0), ('b', 1.12), ('c', 1.01)):
    for k in range(5):
        dur = int(1000 * scale * (1 + 0.02 * ((k * 7) % 5 - 2) / 2))
        ev = [dict(ph='X', cat='user_annotation', name='ProfilerStep#0', pid=1, tid=1, ts=0, dur=dur),
              dict(ph='X', cat='kernel', name='k', pid=0, tid=7, ts=10, dur=50, args=dict(device=0, stream=7))]
        json.dump(dict(distributedInfo=dict(rank=0, world_size=1), traceEvents=ev), open(f'{name}{k}.json', 'w'))
PY
mkdir a b c; for n in a b c; do mv $n?.json $n/; done
echo 'summary.span_ns max <= baseline * 1.05   # the step' > step.rules
for n in a b c; do cpscope gate $n --baseline a --rules step.rules --format csv; echo "status $?"; done
echo 'summary.span_ns max <= baseline' > same.rules
cpscope gate c --baseline a --rules same.rules --format csv; echo "status $?"
cpscope gate a --rules step.rules --update-baseline step.baseline; cpscope gate b --rules step.rules --baseline step.baseline --format csv; echo "status $?"
cpscope gate --aa a --format csv | head -3
cpscope gate --aa a/a0.json; echo "status $?"
