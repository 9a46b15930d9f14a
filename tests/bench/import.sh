#!/usr/bin/env bash
# import.sh - reading a Kineto trace: MB of text per second on one core, and peak memory against the size of the text.
# Asked for: 200 MB/s or more into memory, peak under the size of the text. SIZE=MB [300].
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
one=$(command -v taskset > /dev/null && echo "taskset -c 0")
"${CC:-cc}" -O2 -D_GNU_SOURCE "$ROOT/tests/bench/import_measure.c" -o "$tmp/measure" || exit 1
"$tmp/measure" generate "${SIZE:-300}" "$tmp/trace.json" && gzip -k "$tmp/trace.json" || exit 1
# shellcheck disable=SC2086
go() { printf '%-34s' "$1:"; shift; "$tmp/measure" time "$tmp/trace.json" 3 -- $one "$@"; }
go "info (into memory)" cpscope info "$tmp/trace.json" --format csv
go "summary (into memory, and busy)" cpscope summary "$tmp/trace.json" --span gpu --format csv
go "summary of the .gz" cpscope summary "$tmp/trace.json.gz" --span gpu --format csv
go "import (streamed to a file)" cpscope import "$tmp/trace.json" -o "$tmp/trace.db" --force
go "summary of the imported file" cpscope summary "$tmp/trace.db" --span gpu --format csv
