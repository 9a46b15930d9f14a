# A program that reports as our devices on CUDA do, on a stand-in for CUDA, CUPTI and NCCL (tests/fake/cupti/device.c): each call is
# one row, with the device's site, each collective one, with its group; work has its row's rank. No number in here is one of a GPU.
. "$ROOT/tests/fake/cupti/build.sh" . > build.log 2>&1 || { cat build.log; exit 1; }

query() { sqlite3 -separator ' ' t.sqlite "$1"; }
record() { # OPTIONS -- PROGRAM; how many rows of each kind
    rm -f log
    FAKE_LOG=$PWD/log cpscope record --force -o t.sqlite "$@" > out 2> err
    echo "status $?: $(cat out)"
    grep '^cpscope: ' err
    query "SELECT k.name, count(*) FROM event e JOIN event_kind k ON k.id = e.kind GROUP BY k.id ORDER BY k.id" | tr '\n' ';'
    echo
    query "SELECT 'lost:', count, reason FROM loss ORDER BY reason"
}
waits() { # of the ledger: each call once
    query "SELECT coalesce('rank ' || e.rank, 'no rank'), n.value, coalesce(f.value, 'no site'), y.class, y.did_block, count(*) FROM event e
        JOIN sync y ON y.event = e.id JOIN string n ON n.id = e.name LEFT JOIN site s ON s.id = e.site LEFT JOIN string f ON f.id = s.function
        WHERE e.kind = 5 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 4, 2"
}
collectives() {
    query "SELECT 'rank ' || e.rank, c.sequence, n.value, g.value, f.value, e.bytes, c.group_size, coalesce(t.value, '-'), c.message_bytes,
        CASE WHEN e.start = e.\"end\" THEN 'no length' ELSE 'timed' END, 'calls with its id', (SELECT count(*) FROM event r
        WHERE r.kind = 5 AND r.correlation = e.correlation AND r.rank = e.rank AND r.start <= e.start) FROM comm c JOIN event e ON e.id = c.event
        JOIN string n ON n.id = e.name JOIN string g ON g.id = c.communicator JOIN string f ON f.id = c.function
        LEFT JOIN string t ON t.id = c.dtype ORDER BY 1, 2"
}
# From the start of its first copy to the end of its sum, as delivered: exact times.
pieces() {
    query "SELECT e.start + t.value, e.\"end\" + t.value FROM event e JOIN string n ON n.id = e.name, (SELECT value FROM meta WHERE key = 't0_ns') t
        WHERE e.kind = 1 AND n.value = 'cp_reduce_scatter'" > got
    awk 'NR == FNR { if ($1 == "memcpy" && $5 == 320) start[$6] = 1; if ($1 == "kernel" && $2 ~ /scale/ && $8 == "3,1,1") end[$4] = 1; next }
        { n += start[$1] && end[$2] } END { print "sums over ranks:", n " with the times of their pieces" }' log got
}
answers() { (waits; collectives; pieces) | sed 's/bfloat16 4000/- -1/'; }

echo "== with NCCL's own word"
NCCL_PROFILER_PLUGIN=$BUILD/lib/libcpscope.so record -- ./device 2
collectives | head -n 4
cpscope comm t.sqlite --format csv | cut -d, -f1-6 | sort
waits
pieces
query "SELECT 'work of rank', rank, (SELECT name FROM event_kind k WHERE k.id = e.kind), count(*), count(DISTINCT stream), sum(EXISTS
    (SELECT 1 FROM event r WHERE r.kind = 5 AND r.correlation = e.correlation AND r.rank = e.rank)) FROM event e WHERE kind IN (0, 2, 3, 4) GROUP BY 2, 3"
query "SELECT 'ids of several calls:', count(*) FROM (SELECT 1 FROM event WHERE kind = 5 AND correlation IS NOT NULL GROUP BY correlation HAVING count(*) > 1)"
query "SELECT 'CUDA calls that are rows inside a row of the device:', count(*) FROM event a JOIN event b ON b.thread = a.thread AND b.kind = 5
    AND b.id <> a.id AND b.start >= a.start AND b.\"end\" <= a.\"end\" WHERE a.kind = 5 AND a.rank IS NOT NULL"
query "SELECT 'waits for a stream that has work:', count(*) FROM event e JOIN sync y ON y.event = e.id WHERE e.kind = 5 AND y.wait_stream >= 0
    AND EXISTS (SELECT 1 FROM event w JOIN stream s ON s.id = w.stream WHERE w.kind = 0 AND w.rank = e.rank AND s.native = y.wait_stream)"
answers > want

echo "== the same by other ways of delivery"
for how in FAKE_RECORDS_PER_BUFFER=7 FAKE_FAULT=reversed_order FAKE_FAULT=inner_ids FAKE_FAULT=reversed_order,inner_ids; do
    echo "$how"
    (export "$how"; record -- ./device 2 | tail -n +2)
    answers | diff want -
done

echo "== less of it"
for option in "--kinds comm" "--kinds runtime,comm" --lite; do
    echo "$option"
    record $option -- ./device 1
    collectives | head -n 2
done

echo "== without CUPTI: what the device says is there all the same"
FAKE_FAIL=cuptiSubscribe=39 record -- ./device 2
waits
query "SELECT k.name, n.value, count(*), min(e.\"end\" > e.start) FROM event e JOIN event_kind k ON k.id = e.kind JOIN string n ON n.id = e.name WHERE e.kind = 6 GROUP BY 2"
record --yield -- ./device 1
