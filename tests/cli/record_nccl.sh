# Collectives by the ranges and payloads that NCCL gives, where its profiler interface is not used: what each kernel carries, of groups
# and of graphs, against what a stand-in for NCCL launched (tests/fake/cupti). No number in here is one of a GPU.
inc=${CUDA:-/usr/local/cuda}/include
[ -f "$inc/nvtx3/nvToolsExtPayload.h" ] || { echo "no NVTX headers with payloads"; exit 77; }
. "$ROOT/tests/fake/cupti/build.sh" . > build.log 2>&1 || { cat build.log; exit 1; }
export FAKE_NCCL_RANGES=1

record() { # PROGRAM ARGS...
    rm -f c.sqlite* log
    FAKE_LOG=$PWD/log cpscope record -q -o c.sqlite -- "$@" > out || cat out
}
rows() {
    sqlite3 c.sqlite "SELECT CASE e.kind WHEN 0 THEN 'kernel' WHEN 1 THEN 'comm' ELSE 'host' END AS what, s.value, coalesce(g.value, '-'),
        coalesce(f.value, '-'), coalesce(c.peer, '-'), coalesce(c.group_size, '-'), coalesce(c.message_bytes, '-'), coalesce(e.bytes, '-'), count(*)
        FROM event e JOIN string s ON s.id = e.name LEFT JOIN comm c ON c.event = e.id LEFT JOIN string g ON g.id = c.communicator
        LEFT JOIN string f ON f.id = c.function WHERE e.kind IN (0, 1, 6) AND s.value LIKE '%nccl%' GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 7, 8;
        SELECT 'not certain', count FROM loss WHERE reason LIKE '%not certain%'; SELECT 'lost', reason, count FROM loss WHERE reason NOT LIKE '%not certain%'"
}
# What a row says of a launch is what the stand-in put into it: ranks times the count of a gather, bytes of an element, the peer.
true_rows() {
    sqlite3 -separator ' ' c.sqlite "SELECT e.correlation, coalesce(f.value, '-'), coalesce(c.message_bytes, '-'), coalesce(c.peer, '-'), c.group_size
        FROM comm c JOIN event e ON e.id = c.event LEFT JOIN string f ON f.id = c.function WHERE NOT EXISTS (SELECT 1 FROM event r JOIN string s ON
        s.id = r.name WHERE r.correlation = e.correlation AND r.kind = 5 AND s.value LIKE 'cudaGraphLaunch%')" > said
    awk 'FNR == NR { if ($1 == "task") { size = $4 == "ncclBfloat16" ? 2 : 4; n[$2]++; f[$2] = f[$2] " " $3; b[$2] += $5 * size * ($3 ~ /AllGather|ReduceScatter/ ? 4 : 1)
            peer[$2] = peer[$2] == "" || peer[$2] == $6 ? $6 : "-1" } next }
        { names = f[$1]; gsub(/([A-Z])/, "_&", names); names = tolower(names); gsub(/ _/, " ", names); k = split(names, v, " "); alike = 1
          for (i = 1; i <= k; i++) alike = alike && v[i] == v[1]
          ok = k > 0 && ($3 == "-" || $3 == b[$1]) && ($4 == "-" || $4 == peer[$1]) && ($2 == "-" || (alike && $2 == v[1]) || ($2 == "group" && !alike) ||
               ($2 == "send_recv" && names !~ /all|reduce/))
          right += ok; if (!ok) print "not so: " $0 " of" names }
        END { print "launches told of, as they were: " right + 0 }' log said
}

echo "- one call, one kernel"
record env NCCL_PROFILER_PLUGIN=none ./client nccl
rows
true_rows
for release in 22809 22500 0; do
    for how in together kernel_a_task split; do
        echo "- groups: release $release, $how"
        FAKE_NCCL_VERSION=$release FAKE_FAULT=$how record env NCCL_PROFILER_PLUGIN=none ./client groups
        rows > rows.$release.$how
        [ $release = 22500 ] && diff rows.22809.$how rows.22500.$how || cat rows.$release.$how
        true_rows
    done
done
echo "- in graphs: each launch, as it was captured"
graphs() {
    sqlite3 c.sqlite "SELECT g.value, f.value, c.group_size, c.message_bytes, coalesce(c.sequence, '-'), count(*) FROM comm c JOIN event e ON e.id = c.event
        JOIN string g ON g.id = c.communicator JOIN string f ON f.id = c.function JOIN event r ON r.correlation = e.correlation AND r.kind = 5
        JOIN string s ON s.id = r.name AND s.value LIKE 'cudaGraphLaunch%' GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2"
}
record env NCCL_PROFILER_PLUGIN=none ./client groups
graphs
for table in 2 4 5; do # the profiler up to table 4 says nothing of a capture: ranges do
    FAKE_NCCL_TABLE=$table record env NCCL_PROFILER_PLUGIN="$BUILD/lib/libcpscope.so" ./client groups
    echo "beside table $table:"
    graphs
    sqlite3 c.sqlite "SELECT 'launches with a sequence', count(*) FROM comm WHERE sequence IS NOT NULL; SELECT * FROM loss"
done
echo "- less of it"
for option in --lite "--kinds op,range" --yield; do
    rm -f c.sqlite*
    cpscope record -q $option -o c.sqlite -- env NCCL_PROFILER_PLUGIN=none ./client groups > out 2> err || cat out
    echo "$option:"
    rows
done
cat > real.c <<'C'
#include <dlfcn.h>
#include <stddef.h>
int main(int argc, char **argv) /* the ranges come before the arguments are looked at: no device is needed */
{
    void *lib = dlopen(argv[argc - 1], RTLD_NOW);
    int (*send)(const void *, size_t, int, int, void *, void *), (*gather)(const void *, void *, size_t, int, void *, void *), (*start)(void), (*end)(void);
    *(void **)&send = dlsym(lib, "ncclSend");
    *(void **)&gather = dlsym(lib, "ncclAllGather");
    *(void **)&start = dlsym(lib, "ncclGroupStart");
    *(void **)&end = dlsym(lib, "ncclGroupEnd");
    int refused = send("", 512, 7, 3, NULL, NULL) == 4 && gather("", "", 100, 9, NULL, NULL) == 4;
    start();
    send("", 64, 7, 1, NULL, NULL);
    send("", 32, 7, 1, NULL, NULL);
    gather("", "", 30, 9, NULL, NULL);
    end();
    return !refused;
}
C
real=$(ls "${CUDA:-/usr/local/cuda}"/lib*/libnccl.so.2 2> /dev/null | head -n 1)
if [ -n "$real" ] && ${CC:-cc} real.c -o real -ldl; then # a group's operations of one communicator are one row, for all that is known without a launch
    cpscope record -o r.sqlite -- ./real "$real" > /dev/null 2>&1
    got=$? rows=$(sqlite3 r.sqlite "SELECT s.value, e.bytes FROM event e JOIN string s ON s.id = e.name WHERE e.kind IN (6, 7) AND e.bytes > 0 ORDER BY 1, 2" | paste -sd' ')
    [ "$got $rows" = "0 nccl send|2048 ncclAllGather|60 ncclAllGather|200 ncclSend|128 ncclSend|256 ncclSend|2048" ] || echo "the real libnccl: $got $rows"
fi
