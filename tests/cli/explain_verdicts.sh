# What the verdict says first is what most of the critical path is; what else is much of it follows.
# A host launches one row after the other: the launch takes HOST us, then COPY, GEMM and REDUCE us of device work, each in turn.
trace() { # HOST COPY GEMM REDUCE
    awk -v host="$1" -v copy="$2" -v gemm="$3" -v reduce="$4" '
    function row(cat, name, tid, ts, dur, args) {
        printf "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %d, \"dur\": %d, \"args\": {\"correlation\": %d%s}}",
            sep, cat, name, tid == 7 ? 0 : 100, tid, ts, dur, id, args
        sep = ",\n"
    }
    function work(cat, name, dur) {
        if (!dur) return
        id++
        row("cuda_runtime", cat == "gpu_memcpy" ? "cudaMemcpyAsync" : "cudaLaunchKernel", 1, now, host)
        begin = now + host > free ? now + host : free
        row(cat, name, 7, begin, dur, ", \"device\": 0, \"stream\": 7")
        free = begin + dur
        now += host
    }
    BEGIN {
        print "{\"deviceProperties\": [{\"id\": 0, \"name\": \"H\", \"type\": \"cuda\"}], \"traceEvents\": ["
        for (i = 0; i < 4; i++) {
            work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", copy)
            work("kernel", "gemm", gemm)
            work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", reduce)
        }
        print "]}"
    }' > t.json
    echo "host $1 copy $2 gemm $3 reduce $4"
    cpscope explain t.json | sed -n '1p;4p'
}
trace 1 0 90 0
trace 1 0 60 40
trace 1 0 40 60
trace 90 0 10 0
trace 1 90 10 0
trace 30 0 50 0
trace 1 30 40 30
