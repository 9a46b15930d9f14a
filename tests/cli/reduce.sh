# Parts of two hosts say what the traces say, to the byte; what a part without rows cannot answer is refused with its cure.
mkdir run
make_rank() { # RANK START
    cat > "run/rank$1.json" <<EOF
{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": $1, "world_size": 4}, "displayTimeUnit": "ns", "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0.000, "dur": 900.000},
{"ph": "X", "cat": "cpu_op", "name": "aten::item", "pid": 1, "tid": 1, "ts": 100.000, "dur": 300.000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10.000, "dur": 5.000, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 1, "tid": 1, "ts": 110.000, "dur": 280.000, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 400.000, "dur": 5.000, "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 50.000, "dur": 330.000, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL", "pid": 0, "tid": 9, "ts": $2, "dur": $(python3 -c "print(700 - $2)"), "args": {"device": 0, "stream": 9, "correlation": 3, "Collective name": "_allgather_base", "Group size": 4, "Process Group Name": "cp", "In msg nelems": 64, "dtype": "Float"}}
]}
EOF
}
make_rank 0 420.000; make_rank 1 500.000; make_rank 2 450.000; make_rank 3 610.000
cpscope reduce run/rank0.json run/rank1.json -o host0.part; echo "status $?"
cpscope reduce run/rank2.json run/rank3.json -o host1.part --no-rows; echo "status $?"
cpscope reduce run/rank2.json run/rank3.json -o host1.part; echo "status $?"
mkdir rows && cpscope reduce run/rank2.json run/rank3.json -o rows/host1.part
cpscope summary host0.part host1.part --format csv
cpscope ranks *.part
echo "--- every table, of parts and of a part with traces"
for t in summary kernels comm overlap idle ranges steps cp repeats ranks; do
    for f in csv text; do
        cpscope $t run --format $f > want 2> want.err; echo $? >> want.err
        cpscope $t host0.part host1.part --format $f > got 2> got.err; echo $? >> got.err
        cmp want got && cmp want.err got.err
        cpscope $t host0.part run/rank2.json run/rank3.json --format $f > got 2> got.err; echo $? >> got.err
        cmp want got && cmp want.err got.err
    done
done
for t in "syncs" "critical" "whatif --drop-syncs item" "explain" "kernels --by class" "summary --rank 3" "summary --from 100us" "gate" "diff run"; do
    cpscope $t run > want 2> want.err; echo $? >> want.err
    cpscope $t host0.part rows/host1.part > got 2> got.err; echo $? >> got.err
    case $t in diff*) mkdir -p both; cp host0.part rows/host1.part both; cpscope $t both > got 2> got.err; echo $? >> got.err ;; esac
    cmp want got && cmp want.err got.err
done
cpscope report run -o want.html; cpscope report host0.part rows/host1.part -o got.html; cmp want.html got.html
echo "--- what a part cannot answer"
cpscope summary host0.part host1.part --span all; echo "status $?"
cpscope kernels host0.part host1.part --by class; echo "status $?"
cpscope whatif host0.part host1.part --drop-syncs item; echo "status $?"
cpscope explain host0.part host1.part; echo "status $?"
cpscope reduce run --span gpu -o gpu.part
cpscope summary gpu.part --span step; echo "status $?"
cpscope summary gpu.part host0.part; echo "status $?"
cpscope summary gpu.part --format csv | cut -d, -f1-3
echo "--- the part itself"
cpscope info gpu.part --format csv
cpscope summary host0.part -o host0.part; echo "status $?"
head -c 3000 host0.part > cut.part; cpscope summary cut.part; echo "status $?"
cpscope reduce run --rank 9 -o none.part; echo "status $?"
cpscope reduce run; echo "status $?"
ls *.part*
