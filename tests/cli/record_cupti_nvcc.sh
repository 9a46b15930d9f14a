# The same as record_cupti, for a program that nvcc compiled: host code of the real toolkit on the stand-in runtime.
[ -x "${CUDA:-/usr/local/cuda}/bin/nvcc" ] || { echo "no nvcc"; exit 77; }
. "$ROOT/tests/fake/cupti/build.sh" . > build.log 2>&1 || { cat build.log; exit 1; }
. "$ROOT/tests/fake/cupti/rows.sh"
export NCCL_PROFILER_PLUGIN=$BUILD/lib/libcpscope.so
for what in all "threads 8" nccl; do
    rm -f t.sqlite log
    FAKE_LOG=$PWD/log cpscope record -o t.sqlite -- ./client.cu $what 2> err
    echo "$what: status $?, rows missing $(($(grep -cv '^task ' log) - $(trace_rows t.sqlite | wc -l)))"
    rows_differ t.sqlite log
done
cpscope kernels --format csv --span all t.sqlite | cut -d, -f1-4
echo "the program for a GPU (tests/gpu_collector.sh), for sm_80 and sm_90:"
nvcc=${CUDA:-/usr/local/cuda}/bin/nvcc with="" libs=""
[ ! -f "${nvcc%/bin/nvcc}/include/nccl.h" ] || with="-DWITH_NCCL" libs="-lnccl"
[ ! -f "${nvcc%/bin/nvcc}/include/cupti.h" ] || with="$with -DWITH_CUPTI" libs="$libs -lcupti"
$(command -v ccache) "$nvcc" $with -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -c "$ROOT/tests/gpu/collector.cu" -o gpu.o &&
    "$nvcc" -cudart shared gpu.o -o gpu -L"${CUDA:-/usr/local/cuda}/lib64" $libs && echo "compiled and linked: $(strings -a gpu | grep -oE 'sm_(80|90)' | sort -u | tr '\n' ' ')"
