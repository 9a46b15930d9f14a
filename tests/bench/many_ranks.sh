#!/usr/bin/env bash
# many_ranks.sh - a folder of many ranks: time, both cores used (user against wall) and peak memory of tables that go rank by
# rank, of `reduce`, and of the same tables over the part. Asked for: 512 ranks of 100,000 events in minutes, under 4 GB.
# RANKS=64, EVENTS=100000, TABLES="summary kernels comm idle ranks", FOLDER= of an earlier run.
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
ranks=${RANKS:-64} events=${EVENTS:-100000} folder=${FOLDER:-$tmp/ranks}
"${CC:-cc}" -O2 -D_GNU_SOURCE "$ROOT/tests/bench/import_measure.c" -o "$tmp/measure" &&
    "${CC:-cc}" -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/bench/own_make.c" "$BUILD/ar/libschemas.a" -pthread -lsqlite3 -o "$tmp/make" || exit 1
mkdir -p "$folder"
for r in $(seq 0 $((ranks - 1))); do
    f=$folder/rank$(printf %04d "$r").sqlite
    [ -s "$f" ] || "$tmp/make" "$events" "$f" "$r" "$ranks" || exit 1
done
run() { # WHAT COMMAND
    printf '%-24s' "$1"
    shift
    "$tmp/measure" rows $((ranks * events)) 1 -- "$@"
}
echo "$(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the start; $ranks ranks of $events events, $(du -sm "$folder" | cut -f1) MB"
for t in ${TABLES:-summary kernels comm idle ranks}; do
    run "$t" cpscope "$t" "$folder" --format csv -o "$tmp/$t.csv"
done
run "reduce" cpscope reduce "$folder" -o "$tmp/job.part"
run "reduce --no-rows" cpscope reduce "$folder" --no-rows -o "$tmp/results.part"
echo "the part has $(du -sm "$tmp/job.part" | cut -f1) MB, without rows $(du -sm "$tmp/results.part" | cut -f1) MB"
for t in ${TABLES:-summary kernels comm idle ranks}; do
    run "$t of the part" cpscope "$t" "$tmp/results.part" --format csv -o "$tmp/$t.part.csv"
    cmp "$tmp/$t.csv" "$tmp/$t.part.csv"
done
run "kernels --by class, rows" cpscope kernels --by class "$tmp/job.part" --format csv -o "$tmp/class.csv"
