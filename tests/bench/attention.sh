#!/usr/bin/env bash
# attention.sh - what share of OpenBLAS sgemm's rate the attention kernels reach, in one run on one thread. Asked for: 40 % at d = 128.
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
"${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/bench/attention.c" "$BUILD/ar/libkernels.a" "$BUILD/ar/libschemas.a" \
    -pthread -lopenblas -lyajl -lsqlite3 -lm -ldl -o "$tmp/attention" && "$tmp/attention"
