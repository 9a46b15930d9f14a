#!/usr/bin/env bash
# import.sh - reading a Kineto trace: MB of text per second, and peak memory against the size of the text.
# Asked for: 250 MB/s or more on one core, 400 MB/s on two, 150 MB/s from .gz, peak memory under half the text. SIZE=MB [300].
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
one=$(command -v taskset > /dev/null && echo "taskset -c 0")
"${CC:-cc}" -O2 -D_GNU_SOURCE "$ROOT/tests/bench/import_measure.c" -o "$tmp/measure" || exit 1
"$tmp/measure" generate "${SIZE:-300}" "$tmp/trace.json" && gzip -k "$tmp/trace.json" || exit 1
echo "$(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the start"
# shellcheck disable=SC2086
go() { printf '%-44s' "$1, one core:"; "$tmp/measure" time "$tmp/trace.json" 3 -- $one "${@:2}"; }
two() { printf '%-44s' "$1, two cores:"; "$tmp/measure" time "$tmp/trace.json" 3 -- "${@:2}"; }
go "info (into memory)" cpscope info "$tmp/trace.json" --format csv
go "summary (into memory, and busy)" cpscope summary "$tmp/trace.json" --span gpu --format csv
go "summary of the .gz" cpscope summary "$tmp/trace.json.gz" --span gpu --format csv
go "import (streamed to a file)" cpscope import "$tmp/trace.json" -o "$tmp/trace.db" --force
two "import (streamed to a file)" cpscope import "$tmp/trace.json" -o "$tmp/trace.db" --force
two "import of the .gz" cpscope import "$tmp/trace.json.gz" -o "$tmp/trace.db" --force
go "summary of the imported file" cpscope summary "$tmp/trace.db" --span gpu --format csv
