# Files that do not say their rank: with collectives that agree they are one job, in every command, as files, folder and parts.
make_file() { # NAME REDUCE GATHER: an all_reduce from REDUCE to 420 us, an all_gather from GATHER to 700
    cat > "$1.json" <<EOF
{"schemaVersion": 1, "displayTimeUnit": "ns", "traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10.000, "dur": 5.000, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 20.000, "dur": 5.000, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 1, "tid": 1, "ts": 40.000, "dur": 400.000, "args": {"correlation": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 450.000, "dur": 5.000, "args": {"correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 50.000, "dur": 100.000, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 7, "ts": $2, "dur": $((420 - $2)), "args": {"device": 0, "stream": 7, "correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL", "pid": 0, "tid": 7, "ts": $3, "dur": $((700 - $3)), "args": {"device": 0, "stream": 7, "correlation": 4}}
]}
EOF
}
mkdir run && cd run && make_file a 200 650 && make_file b 300 500 && make_file c 250 600 && cd ..
cpscope comm run --format csv
cpscope ranks run --format csv
cpscope comm run | tail -2
cpscope summary run --format csv | cut -d, -f1-3,11,23
cpscope summary run --format csv --across-ranks | cut -d, -f1-3,11,21,23
cpscope critical run --format csv
cpscope whatif run --drop-comm AllGather --format csv | grep comm_sum
cpscope gate run --format csv | cut -d, -f1-3
echo "- as files in another order, as parts of any split"
cpscope reduce run/b.json -o host0.part && cpscope reduce run/a.json run/c.json -o host1.part
for t in summary kernels syncs comm overlap idle ranges steps cp repeats ranks critical "whatif --drop-comm AllGather" explain "summary --across-ranks" "comm --from 100us"; do
    cpscope $t run > want 2> want.err; echo $? >> want.err
    for f in "run/a.json run/b.json run/c.json" "host0.part host1.part" "host1.part host0.part"; do
        cpscope $t $f > got 2> got.err; echo $? >> got.err
        cmp want got && cmp want.err got.err
    done
done
cpscope report run -o want.html; cpscope report host0.part host1.part -o got.html; cmp want.html got.html
echo "- one of them is another program's, one is given twice"
cpscope import run/a.json -o a.sqlite && sed 's/AllGather/Broadcast/' run/b.json > other.json
cpscope comm a.sqlite other.json run/c.json --format csv | cut -d, -f4-9,12 | grep -v bytes
cpscope comm run/a.json run/b.json run/a.json --format csv | cut -d, -f4,7-9,12 | grep reduce
cpscope ranks run/a.json run/a.json --format csv | cut -d, -f3,4,7,8
