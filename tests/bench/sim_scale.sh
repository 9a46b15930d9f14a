#!/usr/bin/env bash
# sim_scale.sh - CPU time of a simulated event from 64 to 8,192 ranks, in one group and in many (asked for: at most twice that
# of 64 at 4,096), and peak memory (asked for: under 8 GB).
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
"${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/bench/sim_scale.c" "$BUILD/ar/libkernels.a" "$BUILD/ar/libschemas.a" \
    -pthread -lopenblas -lyajl -lsqlite3 -lm -ldl -o "$tmp/sim_scale" && "$tmp/sim_scale"
