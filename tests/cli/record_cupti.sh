# Rows of a recording against what a stand-in for CUDA, CUPTI and NCCL delivered (tests/fake/cupti): equal, row by row, whatever
# the order of the records, their buffers, their length and whose id they bear. No number in here is one of a GPU.
. "$ROOT/tests/fake/cupti/build.sh" . > build.log 2>&1 || { cat build.log; exit 1; }
. "$ROOT/tests/fake/cupti/rows.sh"
export NCCL_PROFILER_PLUGIN=$BUILD/lib/libcpscope.so

compare() { # PROGRAM ARGS...; a line per program, and the rows that differ
    rm -f t.sqlite log
    FAKE_LOG=$PWD/log cpscope record -o t.sqlite -- "$@" > out 2> err
    status=$?
    echo "$* $(env | grep -E '^FAKE_(FAULT|FAIL|RECORDS|CUPTI)' | sort | tr '\n' ' '): status $status, rows missing $(($(grep -cv '^task ' log) - $(trace_rows t.sqlite | wc -l)))"
    rows_differ t.sqlite log
}

echo "== as it should be"
compare ./client all
cat out
compare ./client threads 16
compare ./client nccl
echo "== one record a buffer, backwards, with the driver's ids, of a longer kind"
FAKE_RECORDS_PER_BUFFER=1 compare ./client all
FAKE_FAULT=reversed_order compare ./client all
FAKE_FAULT=reversed_order FAKE_RECORDS_PER_BUFFER=2 compare ./client nccl
FAKE_FAULT=inner_ids compare ./client all
FAKE_FAULT=long_records compare ./client all
echo "== a CUPTI older, and one newer, than any that is known"
FAKE_CUPTI_VERSION=18 compare ./client all
FAKE_CUPTI_VERSION=990000 FAKE_FAULT=long_records compare ./client all

echo "== what each kernel of NCCL carries"
for table in 1 2 3 4 5 6; do
    FAKE_NCCL_TABLE=$table compare ./client nccl > diff.$table
    cat diff.$table
    sqlite3 t.sqlite "SELECT f.value, replace(g.value, '0xc0ffee00', 'dp'), t.value, c.peer, c.group_size, c.sequence, c.message_bytes, e.bytes FROM comm c
        JOIN event e ON e.id = c.event JOIN string f ON f.id = c.function JOIN string g ON g.id = c.communicator LEFT JOIN string t ON t.id = c.dtype
        ORDER BY e.start" > comm.$table
done
cat comm.5
for table in 1 2 3 4 6; do # tables 1 to 3 do not say how many ranks there are; those up to 4 nothing of a capture
    diff comm.5 comm.$table > comm.diff && echo "table $table: the same" || { echo "table $table:"; grep '^[<>]' comm.diff; }
done
echo "into a graph:"
FAKE_FAULT=captured cpscope record -o c.sqlite -- ./client nccl 2> err
sqlite3 c.sqlite "SELECT f.value, g.value, c.sequence, c.message_bytes, count(*) FROM comm c JOIN string f ON f.id = c.function
    JOIN string g ON g.id = c.communicator GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
echo "kernels of graphs, by the range of their capture:"
cpscope record --force --stack-threshold 0s -o w.sqlite -- ./client all > out 2> err
sqlite3 w.sqlite "SELECT s.value, e.correlation, count(k.id), min(k.start) = e.start, max(k.\"end\") = e.\"end\" FROM event e
    JOIN string s ON s.id = e.name JOIN event k ON k.kind = 0 AND k.correlation = e.correlation AND k.start >= e.start AND k.\"end\" <= e.\"end\" WHERE e.kind = 9 GROUP BY e.id"
echo "copies that wait:" $(cpscope syncs --format csv --span all w.sqlite 2>&1 | cut -d, -f3-5 | sort | tr '\n' ' ')

echo "== options"
kinds() { sqlite3 -separator ' ' "$1" "SELECT k.name, count(*) FROM event e JOIN event_kind k ON k.id = e.kind GROUP BY 1 ORDER BY 1" | tr '\n' ';'; }
for option in --lite --yield "--kinds kernel" "--kinds runtime,sync"; do
    cpscope record --force $option -o o.sqlite -- ./client all > out 2> err
    echo "$option: status $?, $(kinds o.sqlite) $(grep '^cpscope: ' err)"
done
cpscope record --force --lite -o o.sqlite -- ./client nccl > out 2> err
sqlite3 o.sqlite "SELECT s.value, e.bytes, count(*) FROM event e JOIN string s ON s.id = e.name WHERE e.kind = 6 GROUP BY 1, 2 ORDER BY 1, 2"
echo "calls that wait, in every way to record:" $(for option in "--stack-threshold 0s" "--stack-threshold 1h" "--lite --stack-threshold 0s"; do
    cpscope record --force $option -o o.sqlite -- ./client all > out 2> err
    cpscope syncs --format csv --span all o.sqlite | cut -d, -f3-5 | sort | md5sum | cut -c1-8
done | uniq -c)
sqlite3 o.sqlite "SELECT 'stacks without frames:', count(*) FROM sync y WHERE y.stack IS NOT NULL AND NOT EXISTS (SELECT 1 FROM frame f WHERE f.stack = y.stack)"
echo "by one door each, without record:"
for doors in CUDA_INJECTION64_PATH NCCL_PROFILER_PLUGIN "CUDA_INJECTION64_PATH NCCL_PROFILER_PLUGIN" LD_PRELOAD; do
    rm -f d.sqlite
    (unset NCCL_PROFILER_PLUGIN; for d in $doors; do export $d="$BUILD/lib/libcpscope.so"; done; CPSCOPE_OUT=$PWD/d.sqlite ./client nccl > out 2> err)
    echo "$doors: status $?, $([ -e d.sqlite ] && kinds d.sqlite || echo no file) $(grep '^cpscope: ' err)"
done
readelf -d "$BUILD/lib/libcpscope.so" | grep -o NODELETE
echo "exported for Nsight:" $(cpscope record --force -o o.sqlite -- ./client all > out 2> err; cpscope export o.sqlite --to nsys -o n.nsys.sqlite > /dev/null
    for t in CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_MEMCPY CUPTI_ACTIVITY_KIND_MEMSET CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_SYNCHRONIZATION; do
        [ "$(sqlite3 o.sqlite "SELECT count(*), sum(start), sum(end) FROM $t")" = "$(sqlite3 n.nsys.sqlite "SELECT count(*), sum(start), sum(end) FROM $t")" ] && echo $t $(sqlite3 n.nsys.sqlite "SELECT count(*) FROM $t")
    done)
if command -v nsys > /dev/null; then nsys stats --report cuda_gpu_kern_sum n.nsys.sqlite > nsys.out 2>&1 || cat nsys.out; fi
