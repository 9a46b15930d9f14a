# Deliberate syncs: a comment in the source line, a range around the call; and what changed since a commit.
cp "$DATA"/gate_*.json .
git init -q . && git config user.email t@example.org && git config user.name t && git config commit.gpgsign false
printf '1\n2\ndef route(): x.item()\ndef mask(): x.nonzero()\n' > router.py
printf '1\n2\n3\n4\ndef forward(): sync()\n6\n7\n8\ndef loss(): x.item()\n' > model.py
git add router.py model.py && git commit -qm base
gate() { cpscope gate gate_after.json --baseline gate_before.json --format csv "$@" | cut -c1-260; echo "status ${PIPESTATUS[0]}"; }
gate
printf '1\n2\ndef route(): x.item() # gpu-sync-ok: routing needs it\ndef mask(): x.nonzero() # gpu-sync-ok:\n' > router.py
gate --git HEAD   # the comment without a reason excuses nothing; its line changed since the commit
printf '1\n2\ndef route(): x.item() # gpu-sync-ok: routing needs it\ndef mask(): x.nonzero() # gpu-sync-ok: so does this\n' > router.py
gate --git HEAD
gate --git nosuch
gate --git --output=x
# a range named cpscope.allow_sync around the two syncs of the step
python3 - <<'PY'
import json
t = json.load(open('gate_after.json'))
for e in [e for e in t['traceEvents'] if e['name'] == 'cudaStreamSynchronize']:
    t['traceEvents'].append(dict(ph='X', cat='user_annotation', name='cpscope.allow_sync', pid=1, tid=1, ts=e['ts'] - 0.5, dur=e['dur'] + 1, args={}))
json.dump(t, open('gate_allowed.json', 'w'))
PY
cpscope gate gate_allowed.json --baseline gate_before.json --format csv; echo "status $?"
cpscope diff gate_before.json gate_after.json --table syncs --ledger op --git HEAD --format csv; echo "status $?"
