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
[ -f "$inc/nvtx3/nvToolsExtPayload.h" ] || exit 0
echo "- collectives by NCCL's ranges and their payloads, where its profiler interface is not used"
. "$ROOT/tests/fake/cupti/build.sh" . > build.log 2>&1 || { cat build.log; exit 1; }
FAKE_NCCL_RANGES=1 cpscope record -o c.sqlite -- env NCCL_PROFILER_PLUGIN=none ./client nccl
sqlite3 c.sqlite "SELECT CASE e.kind WHEN 0 THEN 'kernel' WHEN 1 THEN 'comm' WHEN 6 THEN 'host' ELSE 'range' END AS what, s.value, coalesce(g.value, '-'),
    coalesce(f.value, '-'), coalesce(c.peer, '-'), coalesce(c.group_size, '-'), coalesce(c.message_bytes, '-'), coalesce(e.bytes, '-'), count(*)
    FROM event e JOIN string s ON s.id = e.name LEFT JOIN comm c ON c.event = e.id LEFT JOIN string g ON g.id = c.communicator
    LEFT JOIN string f ON f.id = c.function WHERE e.kind IN (0, 1, 6, 7) AND s.value LIKE '%nccl%' GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 7, 8"
cat > real.c <<'C'
#include <dlfcn.h>
#include <stddef.h>
int main(int argc, char **argv) /* the ranges come before the arguments are looked at: no device is needed */
{
    void *lib = dlopen(argv[argc - 1], RTLD_NOW);
    int (*send)(const void *, size_t, int, int, void *, void *), (*gather)(const void *, void *, size_t, int, void *, void *);
    *(void **)&send = dlsym(lib, "ncclSend");
    *(void **)&gather = dlsym(lib, "ncclAllGather");
    return send("", 512, 7, 3, NULL, NULL) != 4 || gather("", "", 100, 9, NULL, NULL) != 4;
}
C
real=$(ls "${CUDA:-/usr/local/cuda}"/lib*/libnccl.so.2 2> /dev/null | head -n 1)
if [ -n "$real" ] && ${CC:-cc} real.c -o real -ldl; then
    cpscope record -o r.sqlite -- ./real "$real" > /dev/null 2>&1
    got=$? rows=$(sqlite3 r.sqlite "SELECT s.value, e.bytes FROM event e JOIN string s ON s.id = e.name WHERE e.kind IN (6, 7) AND e.bytes > 0 ORDER BY 1" | paste -sd' ')
    [ "$got $rows" = "0 nccl send|2048 ncclAllGather|200 ncclSend|2048" ] || echo "the real libnccl: $got $rows"
fi
