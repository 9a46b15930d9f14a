# Idle causes, overlap, ranges, steps, repeats and ranks of small traces: exact csv; what a trace cannot answer is said.
f=$DATA/analyzer/two_devices.json a=$DATA/analyzer/rank0.json b=$DATA/analyzer/rank1.json none=$DATA/analyzer/no_gpu.json
run() { echo "\$ cpscope $*" | sed "s|$DATA/analyzer/||g"; cpscope "$@"; echo "status $?"; }
run idle "$f" --format csv
run idle "$f" --format csv --span gpu --device 0
run overlap "$f" --format csv
run overlap "$f" --format csv --of gemm --with nccl
run overlap "$f" --of '('
run ranges "$f" --format csv
run ranges "$f" --format csv --each
run steps "$f" --format csv
run repeats "$f" --format csv
run ranks "$a" "$b" --format csv
run ranks "$a" "$b"
run cp "$f"
for t in cp repeats ranges steps idle; do run $t "$DATA/analyzer/cp_layers.json" --format csv; done
run idle "$none"
run overlap "$none"
run steps "$a" --step-marker nosuch
