# NVTX ranges of a C program: domains, registered strings, threads, start/end, names that do not live long, what is left open.
inc=${CUDA:-/usr/local/cuda}/include
[ -f "$inc/nvtx3/nvToolsExt.h" ] || { echo "no NVTX headers"; exit 77; }
${CC:-cc} -std=c11 -D_GNU_SOURCE -isystem "$inc" "$ROOT/tests/fake/nvtx_ranges.c" -o nvtx_ranges -pthread -ldl || exit 1
cpscope record -o n.sqlite -- ./nvtx_ranges
echo "status $?"
sqlite3 n.sqlite "SELECT coalesce(d.value, '-'), CASE r.flavour WHEN 0 THEN 'push' WHEN 1 THEN 'start' ELSE 'mark' END, coalesce(x.value, '-'), count(*)
    FROM event e JOIN range r ON r.event = e.id LEFT JOIN string x ON x.id = e.name LEFT JOIN string d ON d.id = r.domain
    WHERE x.value NOT LIKE 'batch %' OR x.value IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
echo "short-lived names:" $(sqlite3 n.sqlite "SELECT value FROM string WHERE value LIKE 'batch %' ORDER BY 1")
echo "wrong nesting:" $(sqlite3 n.sqlite "WITH x AS (SELECT e.*, s.value FROM event e JOIN string s ON s.id = e.name)
    SELECT count(*) FROM x i WHERE i.value = 'inner' AND (SELECT count(*) FROM x o WHERE o.value = 'outer' AND o.thread = i.thread AND o.start <= i.start
    AND o.\"end\" >= i.\"end\") != 1")
echo "threads of 'on another thread', and of what main started there:" $(sqlite3 n.sqlite "SELECT group_concat(t.tid = t.pid, ' ') FROM event e
    JOIN thread t ON t.id = e.thread JOIN string s ON s.id = e.name WHERE s.value = 'ended elsewhere'") \
    $(sqlite3 n.sqlite "SELECT DISTINCT t.tid = t.pid FROM event e JOIN thread t ON t.id = e.thread JOIN string s ON s.id = e.name
    WHERE s.value = 'on another thread'")
sqlite3 n.sqlite "SELECT value FROM meta WHERE key IN ('degraded', 'backend', 'clean_end') ORDER BY key"
echo "- loaded by NVTX alone"
NVTX_INJECTION64_PATH=$BUILD/lib/libcpscope.so CPSCOPE_OUT=$PWD/late.sqlite ./nvtx_ranges > late.out 2>&1
count() { sqlite3 "$1" "SELECT count(*) FROM event WHERE kind = 7"; }
echo "as many ranges as before: $(($(count late.sqlite) == $(count n.sqlite)))"
