#!/usr/bin/env bash
# gdn.sh - the GDN chunk core beside sgemm (asked for: 40 % at d = 128), cost over tokens and ranks, cost of the interval route
# (asked for: under 1 ms at 8 ranks and 64 sequences).
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
"${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/bench/gdn.c" "$BUILD/ar/libkernels.a" "$BUILD/ar/libschemas.a" \
    -pthread -lopenblas -lyajl -lsqlite3 -lm -ldl -o "$tmp/gdn" && "$tmp/gdn"
