#!/usr/bin/env bash
# cupti.sh - what an API callback costs the calling thread, on a stand-in for CUPTI (tests/fake/cupti): with and without the
# collector in one run. No figure is one of a GPU.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$ROOT/build}
PATH=$BUILD/bin:$PATH
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
FAKE_CFLAGS=-O2 CUDA=/nonexistent . "$ROOT/tests/fake/cupti/build.sh" . || exit 1
n=${CALLS:-200000}
cost() { "$@" ./client calls "$n" 2> /dev/null; }
for turn in 1 2 3; do
    plain=$(cost env)
    idle=$(cost cpscope record --force --kinds range -o a.sqlite --)
    rows=$(cost cpscope record --force --stack-threshold 1h -o b.sqlite --)
    echo "$plain $idle $rows"
done | awk '{plain = NR == 1 || $1 < plain ? $1 : plain; idle = NR == 1 || $2 < idle ? $2 : idle; rows = NR == 1 || $3 < rows ? $3 : rows}
    END {printf "an API call, CPU of the thread, ns: %.0f without the collector, %.0f not asked for, %.0f recorded: a callback pair costs %.0f (goal: under 250)\n",
        plain, idle, rows, rows - plain}'
echo "rows lost: $(sqlite3 b.sqlite "SELECT coalesce(sum(count), 0) FROM loss") of $((n * 5))"
