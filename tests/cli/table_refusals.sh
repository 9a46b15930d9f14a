# Usage is 2, failure 3, what cannot be judged 4: one line each, nothing on stdout, nothing left behind.
f=$DATA/analyzer/two_devices.json
run() {
    cpscope "$@" > out 2> err
    echo "status $? stdout $(wc -c < out) $(sed "s|$DATA/analyzer/||g" err)"
    rm -f out err
}
run summray "$f"
run summary "$f" --span sometimes
run summary "$f" --format yaml
run summary "$f" --sort bussy_ns
run summary "$f" --filter '('
run summary "$f" --range '('
run summary "$f" --step 3:1
run summary "$f" --color sometimes
run summary "$f" --patterns absent.txt
run syncs "$f" --ledger both
run syncs "$f" --by place
run kernels "$f" --by weight
run summary absent.json
: > empty.json
run summary empty.json
mkdir folder
run summary folder
run summary "$f" -o absent/out.csv
run summary "$f" --rank 99
run summary "$f" --device 7
run summary "$f" --range nosuchrange
run summary "$f" --step 9
run summary "$f" --step-marker nosuchmarker
run summary "$f" --rank -5
run summary "$f" --device -2
run summary "$f" --from 1s
run summary "$DATA/analyzer/no_gpu.json"
run kernels "$DATA/analyzer/no_gpu.json"
run comm "$DATA/analyzer/no_gpu.json"
run syncs "$DATA/analyzer/no_gpu.json"
run syncs "$DATA/analyzer/rank0.json" --ledger op
run help nosuch
run recover empty.json
find . | sort
