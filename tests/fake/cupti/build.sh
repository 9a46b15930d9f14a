# build.sh FOLDER - the stand-ins into FOLDER/fake: libcudart.so.13, libcupti.so.13 (the same file), libnccl.so.2; and FOLDER/client,
# the test program by the C compiler; FOLDER/device, one that reports as our own devices do; FOLDER/client.cu by nvcc where there is one. Sourced by tests: $ROOT, $CC, $CUDA.
here=$ROOT/tests/fake/cupti
cc="${CC:-cc} -std=c11 -O1 -g -D_GNU_SOURCE -I$ROOT -pthread ${FAKE_CFLAGS:-}"
mkdir -p "$1/fake" || exit 1
$cc -fPIC -shared -Wl,-soname,libcudart.so.13 -Wl,--version-script="$here/runtime.map" "$here"/{cupti,records,runtime,work,launches}.c \
    -o "$1/fake/libcudart.so.13" -ldl || exit 1
ln -sf libcudart.so.13 "$1/fake/libcupti.so.13"
$cc -fPIC -shared -fvisibility=hidden -Wl,-soname,libnccl.so.2 -isystem "${CUDA:-/usr/local/cuda}/include" "$here"/{nccl,ranges}.c -o "$1/fake/libnccl.so.2" -L"$1/fake" -l:libcudart.so.13 -ldl || exit 1
$cc "$here/client.c" -o "$1/client" -L"$1/fake" -l:libcudart.so.13 -l:libnccl.so.2 -Wl,-rpath,'$ORIGIN/fake' -Wl,-rpath-link,"$1/fake" -ldl || exit 1
$cc -rdynamic "$here/device.c" -o "$1/device" -L"$1/fake" -l:libcudart.so.13 -l:libnccl.so.2 -Wl,-rpath,'$ORIGIN/fake' -Wl,-rpath-link,"$1/fake" -ldl || exit 1
nvcc=${CUDA:-/usr/local/cuda}/bin/nvcc
if [ -x "$nvcc" ]; then
    "$nvcc" -cudart shared -arch=sm_90 -I"$ROOT" -x cu "$here/client.c" -o "$1/client.cu" -L"$1/fake" -l:libcudart.so.13 -l:libnccl.so.2 \
        -Xlinker -rpath='$ORIGIN/fake' -Xlinker -rpath-link="$1/fake" -ldl || exit 1
fi
