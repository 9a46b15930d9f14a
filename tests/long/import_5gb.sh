# verdict: exit status. A text of 5 GB becomes a trace file within 2 GB of address space; SIZE=MB [5000].
set -u
[ -z "${SAN:-}" ] || { echo "a sanitizer needs terabytes of address space"; exit 77; }
size=${SIZE:-5000}
if [ "$(df -Pm . | awk 'NR == 2 { print $4 }')" -lt $((size + size / 4)) ]; then
    echo "not enough room here for a text of $size MB"
    exit 77
fi
"${CC:-cc}" -O2 -D_GNU_SOURCE "$ROOT/tests/bench/import_measure.c" -o measure && ./measure generate "$size" trace.json || exit 1
(ulimit -v 2097152 && exec cpscope import trace.json -o trace.sqlite) || exit 1
events=$(sqlite3 trace.sqlite 'SELECT count(*) FROM event')
lines=$(grep -c '"ph": "X"' trace.json)
echo "$events events of $lines"
[ "$events" -eq "$lines" ] && [ "$(cpscope info trace.sqlite --format csv | sed -n 's/^events,//p')" = "$lines" ]
