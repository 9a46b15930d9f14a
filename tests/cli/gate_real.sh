# Traces that people recorded: the pair of nsys-ai, read and found true (see below), and a pair that is none.
T=$ROOT/../shared/traces
[ -d "$T/nsys" ] && [ -d "$T/kineto" ] || { echo "the shared traces are not here"; exit 77; }
before=$T/nsys/nsysai_mfu_2gpu_before.sqlite after=$T/nsys/nsysai_mfu_2gpu_after.sqlite
say() { "$@"; echo "status $?"; }
# What nsys-ai itself says of the pair: kernels 535.20 -> 488.84 ms, exposed communication 25.40 -> 33.74 ms, flash_fwd 68 -> 60 calls, -31.56 ms.
# Both windows are 300 ms without steps: in the second less was done (60 of 68 layers' attention, 30 of 33 copies), its ranks waited longer.
say cpscope diff "$before" "$after" --format csv
say cpscope diff "$before" "$after" --table kernels --format csv | grep -E '^key|flash_fwd|SendRecv|^status'
say cpscope diff "$before" "$after" --table syncs --format csv
say cpscope diff "$before" "$after" --table comm --format csv
# fewer waits pass, more fail; no operator was recorded, so the op ledger says nothing
say cpscope gate "$after" --baseline "$before" --format csv
echo 'syncs.count per site <= baseline' > wait.rules
say cpscope gate "$after" --baseline "$before" --rules wait.rules
say cpscope gate "$before" --baseline "$after" --rules wait.rules --format csv
echo 'summary.busy_pct min >= 85 %' > busy.rules
say cpscope gate "$before" --rules busy.rules --format csv
say cpscope gate "$after" --rules busy.rules --format csv
echo "--- an A100 of eight ranks against a V100 of two"
say cpscope diff "$T/kineto/hta_trace_diff_control.json.gz" "$T/kineto/hta_trace_diff_test.json.gz"
say cpscope gate "$T/kineto/hta_trace_diff_test.json.gz" --baseline "$T/kineto/hta_trace_diff_control.json.gz" --format csv
say cpscope report "$T/kineto/hta_trace_diff_test.json.gz" --baseline "$T/kineto/hta_trace_diff_control.json.gz" -o page.html
python3 "$ROOT/tests/browser/read_page.py" page.html | sed -n 1,2p
