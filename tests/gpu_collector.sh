#!/usr/bin/env bash
# gpu_collector.sh - the collector on a real GPU: what only a device can tell, as one table "step | result | verdict". Part of
# `make gpu-check`; also by itself: BUILD=... bash tests/gpu_collector.sh. Each step is under half a minute. Exit 1 when a verdict
# is "wrong"; where there is no GPU or no nvcc: a line that says so, exit 77. Recordings stay in $BUILD/gpu-check.
set -u
ROOT=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$ROOT/build}
CUDA=${CUDA:-/usr/local/cuda}
PATH=$BUILD/bin:$CUDA/bin:$PATH
export LD_LIBRARY_PATH=$CUDA/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
command -v nvcc > /dev/null || { echo "gpu_collector: no nvcc"; exit 77; }
out=$BUILD/gpu-check
mkdir -p "$out" && cd "$out" || exit 1
rm -f ./*.sqlite*

arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -n 1 | tr -d .)
flags=()
[ ! -f "$CUDA/include/nccl.h" ] || flags+=(-DWITH_NCCL -lnccl)
[ ! -f "$CUDA/include/cupti.h" ] || flags+=(-DWITH_CUPTI -lcupti)
nvcc -cudart shared -arch="sm_${arch:-90}" "$ROOT/tests/gpu/collector.cu" -o gpu -L"$CUDA/lib64" "${flags[@]}" || exit 1
./gpu launches 1 > /dev/null || { echo "gpu_collector: no GPU here"; exit 77; }

wrong=0
row() { printf '%-34s | %-90s | %s\n' "$1" "$2" "$3"; [ "$3" != wrong ] || wrong=1; }
judge() { if [ "$1" -eq "$2" ]; then echo ok; else echo wrong; fi; }
sql() { sqlite3 -separator ' ' "$1" "$2" | tr '\n' ' '; }
record() { # FILE MODE...: in $said what the program printed, in $status its exit status
    local file=$1; shift
    said=$(timeout 60 cpscope record --force ${options:-} -o "$file" -- ./gpu "$@" 2> err)
    status=$?
}
calls="e.kind = 5 AND s.value LIKE"
from="FROM event e JOIN string s ON s.id = e.name"

row step result verdict
record a.sqlite launches 1000
row "1 start" "$(sql a.sqlite "SELECT value FROM meta WHERE key IN ('device0', 'driver_version', 'cupti_api_version', 'cupti_clock') ORDER BY key")" "$(judge $status 0)"
row "  degraded" "$(sql a.sqlite "SELECT coalesce((SELECT value FROM meta WHERE key = 'degraded'), 'no')")" ""
row "  1,001 kernels with their launch" "$(sql a.sqlite "SELECT count(*) FROM event k WHERE k.kind = 0 AND EXISTS (SELECT 1 FROM event c WHERE c.kind = 5 AND c.correlation = k.correlation)")" \
    "$(judge "$(sqlite3 a.sqlite "SELECT count(*) FROM event k WHERE k.kind = 0 AND EXISTS (SELECT 1 FROM event c WHERE c.kind = 5 AND c.correlation = k.correlation)")" 1001)"

record s.sqlite syncs
for api in cudaEventSynchronize cudaStreamSynchronize cudaDeviceSynchronize cudaMalloc cudaFree; do
    row "3 $api" "$(sql s.sqlite "SELECT 'calls', count(*), 'with a record of the wait', count(y.id), 'of them with an event', count(d.wait_event), 'blocked ns', sum(e.\"end\" - e.start)
        $from LEFT JOIN event y ON y.kind = 4 AND y.correlation = e.correlation LEFT JOIN sync d ON d.event = y.id WHERE $calls '$api%'")" \
        "$(judge "$(sqlite3 s.sqlite "SELECT min(count(*), 10) $from WHERE $calls '$api%'")" 10)"
done
row "  polls" "$(sql s.sqlite "SELECT count(*) $from WHERE $calls '%EventQuery%'")" "$(judge "$(sqlite3 s.sqlite "SELECT count(*) $from WHERE $calls '%EventQuery%'")" 0)"

record c.sqlite copies
row "4 copies: API" "kind src dst bytes: call ends before the copy does = does not block" ""
sqlite3 -separator ' ' c.sqlite "SELECT substr(s.value, 1, 15), k.kind, k.src, k.dst, m.bytes, CASE WHEN e.\"end\" >= m.\"end\" THEN 'blocks' ELSE 'does not' END
    $from JOIN event m ON m.kind = 2 AND m.correlation = e.correlation JOIN copy k ON k.event = m.id WHERE $calls 'cudaMemcpy%' ORDER BY 1, 2, 3, 4, 5" > copies.txt
sort copies.txt | uniq -c | awk '{print "   ", $0}'
row "  copies joined to their call" "$(wc -l < copies.txt)" "$( [ "$(wc -l < copies.txt)" -ge 96 ] && echo ok || echo wrong)"

record k.sqlite launches 100000
row "5 kernels outside launch .. wait" "$(sql k.sqlite "SELECT count(*) FROM event k JOIN event c ON c.kind = 5 AND c.correlation = k.correlation WHERE k.kind = 0 AND k.start < c.start")before their launch" \
    "$(judge "$(sqlite3 k.sqlite "SELECT count(*) FROM event k JOIN event c ON c.kind = 5 AND c.correlation = k.correlation WHERE k.kind = 0 AND k.start < c.start")" 0)"
row "  clock pairs" "$(sql k.sqlite "SELECT clock, count(*), 'drift ns', max(other - before) - min(other - before) FROM clock GROUP BY clock")" ""
row "  lost" "$(sql k.sqlite "SELECT coalesce(group_concat(reason || ': ' || count), 'nothing') FROM loss")" ""

plain=$(./gpu launches 1000000)
record l.sqlite launches 1000000
with=$said lost=$(sql l.sqlite "SELECT coalesce(sum(count), 0) FROM loss")
options="--stack-threshold 0s" record t.sqlite launches 1000000
options=--lite record u.sqlite launches 1000000
row "6 ns a launch" "plain $plain, recorded $with, with stacks $(sed -n 1p <<< "$said"), lost $lost" ""
rm -f l.sqlite t.sqlite u.sqlite

record r.sqlite long 2000
row "7 _exit during a kernel of 2 s" "status $status, $(sql r.sqlite "SELECT count(*), 'rows' FROM event")$(sql r.sqlite "SELECT group_concat(reason) FROM loss")" "$(judge $status 0)"
timeout -s KILL 3 cpscope record --force -o q.sqlite -- ./gpu launches 100000000 > /dev/null 2>&1
row "  SIGKILL" "$(cpscope info --format csv q.sqlite 2>&1 | grep -E '^(events|losses|clean_end)' | tr '\n' ' ')" "$(cpscope info q.sqlite > /dev/null 2>&1 && echo ok || echo wrong)"

record g.sqlite graph 1000 100
row "8 graph, 1,000 nodes 100 times" "$(sql g.sqlite "SELECT count(*), 'kernels,', count(DISTINCT graph_node), 'nodes,', count(DISTINCT correlation), 'launches' FROM event e JOIN kernel k ON k.event = e.id WHERE e.kind = 0 AND k.graph > 0")" \
    "$(judge "$(sqlite3 g.sqlite "SELECT count(*) FROM event e JOIN kernel k ON k.event = e.id WHERE e.kind = 0 AND k.graph > 0")" 100000)"

record n.sqlite nccl
[ $status -eq 77 ] && row "9 NCCL" "$said" skipped || {
    row "9 NCCL, one rank" "$(sql n.sqlite "SELECT f.value, count(*), min(c.sequence), max(c.sequence), max(c.message_bytes) FROM comm c JOIN string f ON f.id = c.function GROUP BY 1")" ""
    row "  operations without a kernel" "$(sql n.sqlite "SELECT s.value, count(*) $from WHERE e.kind = 6 AND s.value LIKE 'nccl %' GROUP BY 1")" ""
}
carried() { sqlite3 "$1" "SELECT group_concat(x, ' ') FROM (SELECT coalesce(f.value, '-') || ':' || coalesce(c.message_bytes, '-') AS x FROM comm c
    JOIN event e ON e.id = c.event LEFT JOIN string f ON f.id = c.function ORDER BY e.start)"; }
record g1.sqlite groups
[ $status -eq 77 ] || {
    with=$(carried g1.sqlite)
    (NCCL_PROFILER_PLUGIN=none record g2.sqlite groups)
    row "  groups and graphs, by the profiler" "$with" "$(judge "$(wc -w <<< "$with")" 12)"
    row "  the same by ranges" "$(carried g2.sqlite) $(sql g2.sqlite "SELECT reason, count FROM loss")" "$([ "$with" = "$(carried g2.sqlite)" ] && echo ok || echo wrong)"
}
record x.sqlite taken
row "11 another subscriber first" "status $status: $(grep -c '^cpscope: ' err) line: $(grep -m 1 '^cpscope: ' err | cut -c1-70)" "$(judge $status 0)"
record f.sqlite child
row "12 fork and exec" "status $status, files $(ls f*.sqlite | wc -l)" "$(judge "$(ls f*.sqlite | wc -l)" 2)"
record h.sqlite threads 64
row "  64 threads, 12,800 kernels" "$(sql h.sqlite "SELECT count(*), count(DISTINCT stream) FROM event WHERE kind = 0")" "$(judge "$(sqlite3 h.sqlite "SELECT count(*) FROM event WHERE kind = 0")" 12800)"
exit $wrong
