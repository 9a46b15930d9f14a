# SQL as people write it for Nsight Systems exports, on exports of recordings: of our own run, and of a program on the stand-in for
# CUDA. Counts are exact; what has a time in it is compared with the recording's own rows.
[ -f "$BUILD/lib/libcpscope.so" ] || { echo "no libcpscope.so in this build"; exit 77; }
. "$ROOT/tests/fake/cupti/build.sh" . > build.log 2>&1 || { cat build.log; exit 1; }
q() { sqlite3 -separator ' ' x.nsys "$1" | sed 's/^/    /'; }
own() { sqlite3 t.sqlite "$1"; }
same() { [ "$(sqlite3 x.nsys "$2")" = "$(own "$3")" ] && echo "    $1: as recorded" || echo "    $1: $(sqlite3 x.nsys "$2"), not $(own "$3")"; }
queries() { # of t.sqlite
    cpscope export t.sqlite --to nsys -o x.nsys --force || return
    echo "  kernels by name"
    q "SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName GROUP BY 1 ORDER BY 2 DESC, 1"
    same "their time" "SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL" 'SELECT sum("end" - start) FROM event WHERE kind IN (0, 1)'
    echo "  launches"
    q "SELECT s.value, count(*), min(k.start >= r.start), min(g.globalPid / 0x1000000 = r.globalTid / 0x1000000) FROM CUPTI_ACTIVITY_KIND_KERNEL k
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId JOIN StringIds s ON s.id = r.nameId
        JOIN (SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL) g GROUP BY 1 ORDER BY 1"
    echo "  grids"
    q "SELECT gridX, blockX, registersPerThread, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    echo "  copies and fills"
    q "SELECT o.label, srcKind, dstKind, count(*), sum(m.bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    q "SELECT 'fills', count(*), sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMSET"
    same "bandwidth" "SELECT sum(bytes) * 1000 / sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY" \
        'SELECT sum(bytes) * 1000 / sum("end" - start) FROM event WHERE kind = 2'
    echo "  waits: API, and CUPTI's"
    q "SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE '%Synchronize%' GROUP BY 1 ORDER BY 1"
    q "SELECT syncType, count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION GROUP BY 1 ORDER BY 1"
    same "time of the calls" "SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME" 'SELECT sum("end" - start) FROM event WHERE kind = 5'
    echo "  ranges, and kernels launched inside them"
    q "SELECT coalesce(n.text, s.value), count(*) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId WHERE n.eventType IN (59, 60) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5"
    q "SELECT coalesce(n.text, s.value), count(*) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = n.globalTid AND r.start >= n.start AND r.end <= n.end
        JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId AND k.globalPid / 0x1000000 = r.globalTid / 0x1000000
        WHERE n.eventType = 59 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5"
    echo "  threads and the session"
    q "SELECT count(DISTINCT globalTid), count(DISTINCT globalTid / 0x1000000) FROM CUPTI_ACTIVITY_KIND_RUNTIME"
    q "SELECT utcEpochNs > 1700000000000000000 FROM TARGET_INFO_SESSION_START_TIME"
}
echo "our own run"
cpscope record -o t.sqlite -- cpbench run --device cpu --mode gdn.chunkwise --route naive --cp 2 --tokens 256 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8 > run.csv 2> err || cat err
queries
echo "a program on the stand-in"
cpscope record --force -o t.sqlite -- ./client all > out 2> err
queries | c++filt | tee first
if [ -x client.cu ]; then
    cpscope record --force -o t.sqlite -- ./client.cu all > out 2> err
    queries | c++filt | diff first - # the same by nvcc
fi
