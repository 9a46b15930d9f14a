# The first tables on a small trace of two devices: exact csv, the window of steps and of the GPU, both ledgers.
f=$DATA/analyzer/two_devices.json
run() { echo "\$ cpscope $*" | sed "s|$DATA/analyzer/||g"; cpscope "$@"; echo "status $?"; }
run summary "$f" --format csv
run summary "$f" --format csv --span gpu
run summary "$f" --format csv --step 5
run kernels "$f" --format csv
run kernels "$f" --format csv --by short --device 0
run kernels "$f" --format csv --by class --sort calls --top 1
run kernels "$f" --format csv --by range
run syncs "$f" --format csv
run syncs "$f" --format csv --by line --filter Memcpy
run syncs "$f" --format csv --ledger op
run comm "$f" --format csv
run comm "$DATA/analyzer/rank0.json" "$DATA/analyzer/rank1.json" --format csv
run summary "$DATA/analyzer/rank0.json" "$DATA/analyzer/rank1.json" --format csv --across-ranks
run info "$DATA/analyzer/rank0.json" --format csv
