#!/usr/bin/env bash
# stacks.sh - what the call stack of a host wait costs the thread that waited: CPU time of a report with it and without, and the
# difference. Native stacks by frame pointers and by the unwinder, Python at a depth of 30 lines. "apart": each report from another
# depth than the one before, so that the unwinder finds 1 to 8 frames that are not those of its last walk.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}
PATH=$BUILD/bin:$PATH
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
library() { ${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE "$1" -I"$root" -shared -fPIC "$root/tests/fake/sync_lib.c" -o "$2"; }
library -fno-omit-frame-pointer with.so && library -fomit-frame-pointer without.so || exit 1
cat > deep.c <<'C'
#include <stdio.h>
double report_cost(int n) __attribute__((weak)), report_cost_apart(int n) __attribute__((weak));
static double (*cost)(int n);
__attribute__((noinline)) static double deep(int depth, int n)
{
    double ns = depth ? deep(depth - 1, n) : cost(n);
    __asm__ volatile("" ::: "memory");
    return ns;
}
int main(int argc, char **argv)
{
    (void)argv;
    cost = argc > 1 ? report_cost_apart : report_cost;
    deep(15, 2000);
    printf("%.0f\n", deep(15, 20000));
}
C
cat > deep.py <<'P'
import ctypes
cost = ctypes.CDLL(None).report_cost
cost.restype = ctypes.c_double
def deep(n):
    return deep(n - 1) if n else (cost(2000), cost(20000))[1]
print("%.0f" % deep(28))
P
for how in -fno-omit-frame-pointer -fomit-frame-pointer; do ${CC:-cc} -O2 $how deep.c -o deep$how || exit 1; done
cost() { # LIBRARY THRESHOLD PROGRAM...
    rm -f s.sqlite*
    LD_PRELOAD=$PWD/$1 cpscope record --stack-threshold "$2" -o s.sqlite -- "${@:3}" 2> /dev/null
}
line() { # NAME LIBRARY PROGRAM...
    local with without
    with=$(cost "$2" 0s "${@:3}") without=$(cost "$2" 1s "${@:3}")
    depth=$(cost "$2" 0s "${@:3}" > /dev/null; sqlite3 s.sqlite 'SELECT max(depth) + 1 FROM frame')
    printf '%-44s %8s %8s %10s %8s\n' "$1" "$without" "$with" $((with - without)) "$depth"
}
echo "CPU of a report, ns                           without     with difference   frames"
line "native, 16 deep, frame pointers" with.so ./deep-fno-omit-frame-pointer
line "native, 16 deep, unwinder" without.so ./deep-fomit-frame-pointer
line "native, 16 to 23 deep, unwinder, apart" without.so ./deep-fomit-frame-pointer apart
for p in python3 python3.11 python3.12 python3.13 ~/.pyenv/versions/3.1[123].*/bin/python3; do
    "$p" -c 'import ctypes, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2> /dev/null && line "$("$p" --version), 30 lines" without.so "$p" deep.py
done
