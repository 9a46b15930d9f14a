# Two runs held against each other; runs that are not comparable are refused with what differs.
cp "$DATA"/gate_*.json .
diff() { cpscope diff "$@" --format csv; echo "status $?"; }
diff gate_before.json gate_after.json
diff gate_before.json gate_after.json --table syncs
diff gate_before.json gate_after.json --table syncs --ledger op
diff gate_before.json gate_after.json --table kernels
diff gate_before.json gate_longer.json   # three steps against two: sums of a step
diff gate_before.json gate_longer.json --table kernels
diff gate_before.json gate_other_gpu.json
diff gate_before.json gate_after.json --table sinks
diff gate_before.json absent.json
diff gate_before.json
# What made each side, and what they are compared for, is said below the table.
cpscope diff gate_before.json gate_after.json | tail -n 3
