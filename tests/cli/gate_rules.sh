# The rule language at work: the grammar as help prints it, then each rule against the same run: verdict, measured, limit, status.
cpscope help rules
cp "$DATA"/gate_*.json .
try() {
    printf '%s\n' "$1" > one.rules
    shift
    cpscope gate gate_after.json --rules one.rules "$@" --format csv 2> err.log | sed 1d | cut -d, -f 1-4 | tr '\n' ';'
    echo " status ${PIPESTATUS[0]}$(sed 's/.*rules:1:/ /' err.log)"
}
echo "--- limits"
try 'syncs.count sum <= 12'
try 'syncs.count sum <= 11'
try 'syncs.count sum < 12'
try 'syncs.count sum >= 12'
try 'syncs.count sum > 12'
try 'syncs.count sum == 12'
try 'syncs.count max <= 6'
try 'syncs.count min >= 2'
try 'syncs.count median == 3'
try 'syncs.blocked_ns sum <= 96 us'
try 'syncs.blocked_ns sum <= 95.999us'
try 'syncs.blocked_ns sum <= 0.000096 s'
try 'summary.busy_pct min >= 1 %'
try 'summary.span_ns max <= 2 ms'
try 'steps.duration_ns median == 1 ms'
try 'op_syncs.count sum <= 6'
try 'kernels.total_ns sum <= 40 us'
echo "--- which rows"
try 'syncs.count where site ~ "router" sum <= 0'
try 'syncs.count where site ~ "^router\.py:route$" sum <= 1'
try 'syncs.count where site ~ "nothing like it" sum <= 0'
try 'syncs.count where class ~ "stream|event" sum <= 100'
try 'syncs.count where count ~ "^2$" sum <= 2'
try 'syncs.count in range ~ "ProfilerStep#0" sum <= 0'
try 'syncs.count where site ~ "router" in range ~ "^ProfilerStep#1$" sum <= 1'
try 'syncs.count in range ~ "no such range" sum <= 0'
try 'summary.busy_pct where device ~ "7" min >= 80 %'
echo "--- values that the trace does not have"
python3 - <<'PY'
import json
t = json.load(open('gate_after.json'))
e = next(e for e in t['traceEvents'] if e.get('cat') == 'kernel')
t['traceEvents'].append(dict(e, name='ncclDevKernel_AllReduce_Sum_f32', ts=e['ts'] + 100, args=dict(device=0, stream=20)))
t['distributedInfo']['world_size'] = 2
json.dump(t, open('gate_after.json', 'w'))
PY
try 'comm.wait_ns sum <= 0'
try 'comm.wait_ns max <= 1 s'
try 'comm.total_ns sum <= 1 s'
try 'summary.comm_wait_ns sum <= 0'
cp "$DATA"/gate_after.json .
echo "--- by key"
try 'syncs.count per site <= 4'
try 'syncs.count per api <= 11'
try 'syncs.blocked_ns per class <= 1 ms'
try 'syncs.count per rank <= 12'
echo "--- against a baseline"
try 'syncs.count sum <= baseline'
try 'syncs.count sum <= baseline' --baseline gate_before.json
try 'syncs.count sum <= baseline + 6' --baseline gate_before.json
try 'syncs.count sum <= baseline * 2' --baseline gate_before.json
try 'syncs.count sum <= baseline + 1 * 1.5' --baseline gate_before.json
try 'syncs.count per site <= baseline + 2' --baseline gate_before.json
try 'kernels.total_ns sum <= baseline * 1.05' --baseline gate_before.json
try 'summary.busy_pct min >= baseline' --baseline gate_before.json
try 'comm.calls sum <= baseline' --baseline gate_before.json
echo "--- refused"
try 'syncs.counts sum <= 1'
try 'summary.buzy_pct min >= 80 %'
try 'kernals.calls sum <= 1'
try 'syncs.count smu <= 1'
try 'syncs.count per sit <= 1'
try 'syncs.count where sight ~ "x" sum <= 1'
try 'syncs.site sum <= 1'
try 'syncs.trace per site <= 1'
try 'syncs.count sum <= 3 us'
echo "--- below zero, units, and a ledger that the trace does not have"
try 'ranks.offset_ns min >= -1 us'
try 'ranks.offset_ns max <= -1 us'
try 'syncs.blocked_ns sum <= 3msec'
printf '# only this\nallow router # why\n' > one.rules
cpscope gate gate_after.json --rules one.rules
python3 - <<'PY'
import json
t = json.load(open('gate_before.json'))
t['traceEvents'] = [e for e in t['traceEvents'] if e.get('cat') != 'cpu_op']
json.dump(t, open('no_ops.json', 'w'))
PY
cpscope gate no_ops.json --baseline no_ops.json | tail -n 2; echo "status ${PIPESTATUS[0]}"
# - is standard output, an empty name is none
cpscope gate gate_before.json --update-baseline - | head -n 1
cpscope summary gate_before.json --format csv -o - | head -c 11; echo
cpscope summary gate_before.json -o ''; echo "status $?"
PATH=$PWD/empty:$(dirname "$(command -v cpscope)") cpscope gate gate_after.json --baseline gate_before.json --git HEAD; echo "status $?"
