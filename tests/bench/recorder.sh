#!/usr/bin/env bash
# recorder.sh - what recording costs: the emitting thread, the writer, the sustained rate, NVTX, a whole run of cpbench.
# Figures of this machine, now; nothing else should run on it.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}
PATH=$BUILD/bin:$PATH
export OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$root" "$root/tests/fake/emitter.c" "$root/schemas/event.c" -o emitter -pthread -rdynamic || exit 1
meta() { sqlite3 "$1" "SELECT value FROM meta WHERE key = '$2'"; }

echo "recorder: $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the start"
echo
echo "rate asked    emitted/s    lost    ns on the emitting thread (median, one clock reading in it)    writer's CPU, ns an event    bytes an event"
for rate in 100000 200000 500000 1000000; do
    rm -f r.sqlite*
    cpscope record -o r.sqlite -- ./emitter -t 2 -r $rate -s 5 > out 2> err
    events=$(meta r.sqlite record_events)
    line=$(grep '^emitter:' err)
    set -- $line
    printf '%10d %12s %7s %20s %60s %20s\n' $rate "$2" "$(meta r.sqlite record_lost)" "$4" \
        $(($(meta r.sqlite record_writer_cpu_ns) / events)) $(($(stat -c %s r.sqlite) / events))
done
./emitter -t 2 -r 200000 -s 2 2>&1 > /dev/null | sed -n 's/^emitter:.*s, \([0-9.]*\) ns.*/without the recorder: \1 ns (the clock reading alone)/p'


# How much longer a program takes that is busy and reports 200,000 events a second; by its own clock, and its thread's CPU.
taken() { "$@" ./emitter -n $((200000 * 2)) -w $work 2>&1 > /dev/null | sed -n 's/^emitter:.*; \([0-9]*\) us, \([0-9]*\) us of CPU/\1 \2/p'; }
work=10000
set -- $(./emitter -n 2000 -w $work 2>&1 > /dev/null | sed -n 's/^emitter:.*; \([0-9]*\) us, .*/\1/p')
work=$((work * 5 * 2000 / $1))
echo
for i in 1 2 3 4 5 6 7; do
    rm -f w.sqlite*
    echo "$(taken env) $(taken cpscope record -o w.sqlite --)"
done > pairs.txt
median() { awk "{printf \"%.2f\n\", $1}" pairs.txt | sort -n | sed -n 4p; }
echo "a busy program that reports $(median '4e11 / $1' | cut -d. -f1) events a second takes $(median '100 * $3 / $1 - 100') % longer recorded," \
    "its thread $(median '100 * $4 / $2 - 100') % more CPU (goal: under 3; medians of 7 pairs)"
echo "events lost: $(meta w.sqlite record_lost)"

inc=${CUDA:-/usr/local/cuda}/include
if [ -f "$inc/nvtx3/nvToolsExt.h" ]; then
    cat > pairs.c <<'C'
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <time.h>
int main(void)
{
    enum { N = 1000000 };
    struct timespec a, b;
    for (int turn = 0; turn < 2; turn++) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        for (int i = 0; i < N; i++) {
            nvtxRangePushA("forward");
            nvtxRangePop();
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    }
    printf("%.1f\n", ((b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / N);
}
C
    ${CC:-cc} -O2 -isystem "$inc" pairs.c -o pairs -ldl && rm -f p.sqlite* &&
        echo "NVTX push/pop pair, CPU of the thread: $(./pairs) ns without, $(cpscope record -o p.sqlite -- ./pairs 2> /dev/null) ns with the recorder"
else
    echo "NVTX push/pop pair, CPU of the thread: no NVTX headers here"
fi

# CPU of the whole group of processes, user and system, in ms; the events' share of it.
group() { local TIMEFORMAT='%U %S'; { time "$@" > out 2> err; } 2>&1 | awk '{printf "%d", 1000 * ($1 + $2)}'; }
run() { cpbench run --device cpu --mode gdn.chunkwise --route naive --cp 4 --layers 24 --microbatches 10 --recompute full --tokens 1024 \
    --seqs 512,256,192,64 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8; }
step_ms() { sed -n '2s/^[^,]*,\([0-9]*\)[0-9]\{6\},.*/\1/p' out; }
if command -v cpbench > /dev/null; then
    export -f run
    echo
    for i in 1 2 3; do
        rm -f b.sqlite*
        plain=$(group bash -c run) plain_step=$(step_ms)
        taped=$(group cpscope record -o b.sqlite -- bash -c run) step=$(step_ms) events=$(meta b.sqlite record_events)
        echo "naive run at the seed's structure, $i: step $plain_step ms without, $step ms recorded, $events" \
            "events, $(meta b.sqlite record_lost) lost, $(($(stat -c %s b.sqlite) >> 20)) MiB, writer $(($(meta b.sqlite record_writer_cpu_ns) / 1000000)) ms CPU;" \
            "CPU of all $plain ms without, $taped ms recorded: $(((taped - plain) * 1000000 / events)) ns an event"
    done | tee runs
    sed 's/.*: \(-*[0-9]*\) ns an event/\1/' runs | sort -n | sed -n '2s/.*/the median: & ns of CPU an event on full cores (goal: under 1000)/p'
fi
