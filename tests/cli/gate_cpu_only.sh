# CI without GPUs: the operators of a CPU-only framework trace are gated too, inside ranges; Python stacks name the line.
cat > traces.py <<'PY'
import json


def x(cat, name, ts, dur, **args):
    return dict(ph='X', cat=cat, name=name, pid=1, tid=1, ts=ts, dur=dur, args=args)


def trace(steps, inside, outside, moved=0):
    """Each step holds one deliberate read, `inside` more in the layer, `outside` more between the steps' ranges."""
    ev = []
    for s in range(steps):
        t = 1000 * s
        ev += [x('user_annotation', 'ProfilerStep#%d' % s, t, 1000), x('user_annotation', 'train_step', t + 10, 600),
               x('python_function', 'train.py(%d): step' % (40 + moved), t + 11, 500), x('cpu_op', 'aten::item', t + 20, 5),
               x('python_function', 'model/layer.py(%d): forward' % (12 + moved), t + 100, 300)]
        for i in range(inside):
            ev += [x('cpu_op', 'aten::is_nonzero', t + 110 + 20 * i, 10), x('cpu_op', 'aten::item', t + 112 + 20 * i, 5)]
        ev.append(x('python_function', 'data/loader.py(7): next_batch', t + 700, 200))
        for i in range(outside):
            ev.append(x('cpu_op', 'aten::nonzero', t + 710 + 20 * i, 10))
    return dict(traceEvents=ev)


for name, args in dict(good=(2, 0, 1), longer=(4, 0, 1, 100), inside=(2, 1, 1), outside=(2, 0, 2)).items():
    json.dump(trace(*args), open(name + '.json', 'w'))
PY
python3 traces.py
gate() { cpscope gate "$@" --format csv; echo "status $?"; }
cpscope summary good.json; echo "status $?"
printf 'op_syncs.count per site in range ~ "(^|/)train_step$" <= baseline + 0 # no new read back in a step\n' > wrong.rules
gate good.json --rules wrong.rules 2>&1
printf 'op_syncs.count in range ~ "(^|/)train_step$" per site <= baseline + 0 # no new read back in a step\n' > step.rules
cpscope gate good.json --rules step.rules --update-baseline step.baseline && cat step.baseline
for n in good longer inside outside; do echo "--- $n"; gate $n.json --rules step.rules --baseline step.baseline; done
echo "--- everywhere, by the shipped rules: the wait ledger is not in such a trace"
gate outside.json --baseline good.json
echo "--- the range is not in the trace"
sed 's/"train_step"/"eval_step"/g' good.json > eval.json
gate eval.json --rules step.rules --baseline step.baseline
