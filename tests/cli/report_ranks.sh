# A page of forty ranks: of the bars those at the ends are drawn, so the straggler is there; the tables hold every rank.
python3 - <<'PY'
import json
for r in range(40):
    slow = 30 if r == 20 else 0
    ev = [dict(ph='X', cat='user_annotation', name='ProfilerStep#0', pid=1, tid=1, ts=0, dur=1000)]
    for k in range(10):
        ev.append(dict(ph='X', cat='kernel', name='gemm', pid=0, tid=7, ts=100 * k, dur=30 + slow, args=dict(device=r % 8, stream=7)))
        ev.append(dict(ph='X', cat='kernel', name='ncclDevKernel_AllReduce_Sum_f32', pid=0, tid=7, ts=100 * k + 30 + slow, dur=60 - slow,
                       args=dict(device=r % 8, stream=7)))
    json.dump(dict(distributedInfo=dict(rank=r, world_size=40), traceEvents=ev), open('r%02d.json' % r, 'w'))
PY
mkdir job && mv r*.json job && cpscope report job -o page.html && cpscope report job -o again.html && cmp page.html again.html
bars() { grep -o "rank $1, device $2" page.html | sort -u; }
for n in 20 9 19; do echo "rank $n: $(bars $n $((n % 8)))"; done
grep -o '[0-9]* of 40 devices[^<]*' page.html
grep -o 'waits 0 ms[^<]*' page.html
grep -c '<th scope="row"' page.html
# no steps are marked: the page speaks of windows, and of no rate of a step
python3 - <<'PY'
import json
call = dict(ph='X', cat='cuda_runtime', name='cudaDeviceSynchronize', pid=1, tid=1, ts=20, dur=9, args=dict(correlation=1))
work = dict(ph='X', cat='kernel', name='k', pid=0, tid=7, ts=12, dur=15, args=dict(device=0, stream=7, correlation=2))
for name, n in (('one', 1), ('two', 2)):
    ev = [dict(e, ts=e['ts'] + 100 * i) for i in range(n) for e in (call, work)]
    json.dump(dict(traceEvents=ev), open(name + '.json', 'w'))
PY
cpscope report two.json --baseline one.json -o page.html
python3 "$ROOT/tests/browser/read_page.py" page.html "Means of a rank in its window" "Wait ledger: host calls that block, by call site" \
    "What the recordings say, where they differ" | cut -c1-400
