#!/usr/bin/env bash
# run.sh - builds every fuzz target with clang, runs each for SECONDS_EACH seconds [30] from its seeds, one line a target.
# RUNS=N stops after N inputs from a fixed seed: the same inputs every time, for CI.
# A crash leaves its input in the build folder and is printed; make it a case under tests/data/ when it is mended.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath -m "${BUILD:-$root/build}-fuzz")
clang=$(command -v clang-14 || command -v clang) || { echo "skip fuzz: clang is missing"; exit 0; }
cd "$root" || exit 1
san=address,undefined,fuzzer-no-link
make -s -j"$(nproc)" BUILD="$build" CC="$clang" SAN=$san "$build"/ar/lib{analyzer,reports,schemas}.a > "$build.log" 2>&1 || { tail -n 20 "$build.log"; exit 1; }
rm -f "$build.log"

work=$(mktemp -d "$( [ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/cpscope-fuzz.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Seeds: the case files; databases with small pages, for their bytes are what is fuzzed.
seeds() {
    mkdir -p "$1"
    case $2 in
    tracefile) "$build/seed" "$1" ;;
    part) printf '\1\0\2\0' > "$1/rows" ;;
    rules) cp reports/*.rules tests/data/*.rules "$1" ;;
    baseline) cp tests/data/formats/*.baseline "$1" ;;
    *) for f in tests/data/import_"$2"/*; do
            case $f in
            *.sql) { echo "PRAGMA page_size = 512;"; cat "$f"; } | sqlite3 "$1/$(basename "$f" .sql).db" ;;
            *) cp "$f" "$1" ;;
            esac
        done ;;
    esac
}

link=("$build/ar/libanalyzer.a" "$build/ar/libreports.a" "$build/ar/libschemas.a" -lyajl -lz -lzstd -larchive -lsqlite3 -lm -ldl)
flags=(-std=c11 -D_GNU_SOURCE -I. -Itests -Itests/fuzz -g1 -O1 -pthread)
"$clang" "${flags[@]}" -fsanitize=address,undefined tests/fuzz/seed_tracefile.c -o "$build/seed" "${link[@]}" || exit 1

# Builds a target and runs it; what it says goes to $work/TARGET.said, one line when all is well.
try() {
    local name=$1 target=$build/$1 rc
    "$clang" "${flags[@]}" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all "tests/fuzz/$name.c" -o "$target" "${link[@]}" || return 1
    mkdir -p "$work/$name" "$build/crashes" "$build/corpus/$name"
    seeds "$work/$name/seeds" "${name#fuzz_}"
    (cd "$work/$name" && "$target" ${RUNS:+-runs=$RUNS -seed=1} -max_total_time="${SECONDS_EACH:-30}" -timeout=60 -rss_limit_mb=4096 -max_len=65536 -close_fd_mask=1 \
        -artifact_prefix="$build/crashes/$name-" "$build/corpus/$name" seeds > log 2>&1)
    rc=$?
    if [ $rc -eq 0 ]; then
        echo "ok $name: $(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1 inputs in \2 s/p' "$work/$name/log")"
    else
        echo "FAIL $name (exit $rc)"
        grep -vE '^(#|cpscope: )' "$work/$name/log" | tail -n 40
    fi
    return $rc
}

# As many at a time as there are cores.
for t in tests/fuzz/fuzz_*.c; do
    name=$(basename "$t" .c)
    [[ $name == *${ONLY:-}* ]] || continue
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
    { try "$name" || touch "$work/bad"; } > "$work/$name.said" 2>&1 &
done
wait
cat "$work"/*.said
[ ! -e "$work/bad" ]
