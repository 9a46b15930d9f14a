#!/usr/bin/env bash
# repro.sh - the main job: the chunkwise before/after at the seed's structure, run, recorded, analyzed and reported.
#
#   unrecorded runs -> times          recorded runs -> counts, shares, kernels, the page
#
# Writes build/repro/{*.sqlite,*.csv,report.html} and prints the tables of seeds/000 sections 1, 3.1 and 3.2 with the
# seed's figures beside ours. Counts are exact and comparable; times are this machine's, on the cpu backend, and are not.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-$PWD/build}
out=$BUILD/repro
mkdir -p "$out"
rm -f "$out"/*.sqlite* "$out"/*.csv
export OPENBLAS_NUM_THREADS=1 LC_ALL=C
started=$SECONDS

# 24 GDN layers, CP4, 10 micro-batches, full recompute, packed unequal sequences: the seed's. Widths and tokens: what fits here.
tokens=${TOKENS:-1024} hidden=${HIDDEN:-256}
shape=(--cp 4 --layers 24 --microbatches 10 --recompute full --tokens "$tokens" --seqs random:6 --hidden "$hidden" --kheads 4 --vheads 8 --dk 64 --dv 64)
names=(headwise before routes after replicated)
declare -A args=(
    [headwise]="--mode gdn.headwise.per_seq"
    [before]="--mode gdn.chunkwise --route naive --boundaries per-layer"
    [routes]="--mode gdn.chunkwise --route interval --boundaries per-layer"
    [after]="--mode gdn.chunkwise --route interval --boundaries cached"
    [replicated]="--mode gdn.replicated_allgather")
declare -A label=(
    [headwise]="headwise (per sequence)" [before]="chunkwise before" [routes]="chunkwise, routes only" [after]="chunkwise after"
    [replicated]="all_gather (replicated)")
declare -A seed=(
    [headwise]="21.45  75.0%  15.66  10.27  5.40" [before]="22.73  56.2%  12.13   5.76  6.37"
    [after]="13.36  85.1%  10.94   6.06  4.88" [replicated]="12.66  88.3%  10.56   2.65  7.92")

say() { [ ! -t 2 ] || printf '\r\033[K%s' "$*" >&2; }
for n in "${names[@]}"; do
    read -ra mode <<< "${args[$n]}"
    say "running ${label[$n]} ..."
    "$BUILD/bin/cpbench" run --device cpu "${mode[@]}" "${shape[@]}" > "$out/$n.run.csv"
    say "recording ${label[$n]} ..."
    "$BUILD/bin/cpscope" record -o "$out/$n.sqlite" -- "$BUILD/bin/cpbench" run --device cpu "${mode[@]}" "${shape[@]}" > "$out/$n.recorded.csv"
done
tab() { "$BUILD/bin/cpscope" "$@" -q --rank 0 --format csv; }
for n in "${names[@]}"; do
    say "analyzing ${label[$n]} ..."
    tab summary "$out/$n.sqlite" > "$out/$n.summary.csv"
    tab syncs "$out/$n.sqlite" --ledger op > "$out/$n.op.csv"
    tab syncs "$out/$n.sqlite" --ledger wait > "$out/$n.wait.csv"
    tab kernels "$out/$n.sqlite" --by class > "$out/$n.class.csv"
    tab kernels "$out/$n.sqlite" > "$out/$n.kernels.csv"
    "$BUILD/bin/cpscope" info "$out/$n.sqlite" --format csv > "$out/$n.info.csv"
done
say "writing the page ..."
"$BUILD/bin/cpscope" report -q "$out/after.sqlite" --baseline "$out/before.sqlite" -o "$out/report.html"
say ""

# ---- reading the csv files ----
# field FILE COLUMN [KEYCOLUMN REGEX [KEYCOLUMN REGEX]]: the sum of a column over the rows that match; "-" when no row has it
field() {
    awk -F, -v col="$2" -v k1="${3:-}" -v r1="${4:-.}" -v k2="${5:-}" -v r2="${6:-.}" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        (k1 == "" || $at[k1] ~ r1) && (k2 == "" || $at[k2] ~ r2) && $at[col] != "" { sum += $at[col]; any = 1 }
        END { if (any) printf "%.4f\n", sum; else print "-" }' "$1"
}
count() { # as a whole number with thousands separators, 0 when there is no row
    field "$@" | awk '{ n = $1 == "-" ? 0 : int($1 + 0.5); s = ""; for (; n >= 1000; n = int(n / 1000)) s = sprintf(",%03d", n % 1000) s; print n s }'
}
shown() { awk -v v="$1" -v by="$2" -v fmt="$3" 'BEGIN { if (v == "-") print "-"; else printf fmt "\n", v / by }'; }
ms() { shown "$(field "$@" | sed "s,^-\$,0,")" 1e6 %.1f; }
sec() { shown "$(field "$@")" 1e9 %.2f; }
pct() { shown "$(field "$@")" 1 %.1f%%; }
change() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "-" || b == "-" || a == 0) print "-"; else printf "%+.1f%%\n", 100 * (b - a) / a }'; }
info() { awk -F, -v k="$2" '$1 == k { print $2 }' "$out/$1.info.csv"; }

cat <<TEXT
cpscope: the chunkwise before/after of seeds/000, at its structure
  24 GDN layers, CP4, 10 micro-batches, full recompute, packed unequal sequences; hidden $hidden, $tokens tokens a micro-batch
  (the seed: hidden 4,096, 32,768 tokens, 8 GPUs). Rank 0 of 4. Measured on the cpu backend of this machine; nothing is modelled.

COUNTS: exact, per rank and step

3.1 Sync hotspots, op ledger {item, is_nonzero, nonzero}
TEXT
line() { printf '  %-62s %9s %12s %13s %9s %11s\n' "$@"; }
line "" before "seed before" "routes only" after "seed after"
row() { # text, site regex, api regex, seed before, seed after
    line "$1" "$(count "$out/before.op.csv" count site "$2" api "$3")" "$4" "$(count "$out/routes.op.csv" count site "$2" api "$3")" \
        "$(count "$out/after.op.csv" count site "$2" api "$3")" "$5"
}
row "thd_rank_indices (get_thd_context_parallel_rank_indices)" rank_indices . 61,440 0
row "zigzag_contiguous_swap, explicit nonzero (bare Tensor.nonzero)" contiguous_swap '^nonzero$' 3,840 0
row "zigzag_contiguous_swap, boolean index" contiguous_swap '^index$' "not listed" ""
row "zigzag_contiguous_swap, scalar read" contiguous_swap '^item$' "not listed" ""
row "resolve_cu_seqlens (_resolve_cu_seqlens)" resolve . 2,880 60
row "all of ours (72,960 and 60 follow from the seed's totals)" . . 72,960 60
line "the rest of the seed's training step: not ours, not shown" "" 811 "" "" 811
line "the seed's total" "" 73,771 "" "" 871
echo
echo "  Wait ledger (calls that block the host)"
wline() { printf '  %-62s %9s %26s %9s\n' "$@"; }
for s in thd_rank_indices zigzag_contiguous_swap resolve_cu_seqlens route_build; do
    wline "$s" "$(count "$out/before.wait.csv" count site "$s")" "$(count "$out/routes.wait.csv" count site "$s")" "$(count "$out/after.wait.csv" count site "$s")"
done
cat <<TEXT

THIS MACHINE, CPU BACKEND (CPU shares are not GPU shares; the seed's times are of 8 x H200)
  $(nproc) cores for 4 ranks: their threads compete, so times are oversubscribed and say little beyond their order.

  Step time, from unrecorded runs, with the recorded ones beside them
                                  unrecorded s   recorded s   recording costs   tokens/s (unrecorded)
TEXT
for n in "${names[@]}"; do
    u=$(field "$out/$n.run.csv" step_ns) r=$(field "$out/$n.recorded.csv" step_ns) t=$(field "$out/$n.run.csv" tokens)
    printf '  %-30s %13s %12s %17s %23s\n' "${label[$n]}" "$(shown "$u" 1e9 %.2f)" "$(shown "$r" 1e9 %.2f)" "$(change "$u" "$r")" "$(awk "BEGIN { printf \"%.0f\", $t / ($u / 1e9) }")"
done
cat <<TEXT

3.1 Time in those calls (recorded, op ledger, self time)            before   seed before   routes only     after  seed after
TEXT
tline() { # text, site regex, api regex, seed before, seed after
    printf '  %-58s %9s ms %10s %10s ms %6s ms %10s\n' "$1" "$(ms "$out/before.op.csv" blocked_ns site "$2" api "$3")" "$4" \
        "$(ms "$out/routes.op.csv" blocked_ns site "$2" api "$3")" "$(ms "$out/after.op.csv" blocked_ns site "$2" api "$3")" "$5"
}
tline "thd_rank_indices" rank_indices . "2,417.6 ms" "0"
tline "zigzag_contiguous_swap, explicit nonzero" contiguous_swap '^nonzero$' "267.4 ms" "0"
tline "resolve_cu_seqlens" resolve . "943.5 ms" "1.5 ms"
echo "  A read waits for all that its stream still has to do: what the route no longer waits for, the next read (resolve) does."
cat <<TEXT

1. Where the step goes (recorded; kernel figures are sums over kernels, busy is of the span)
                                   span s   busy  kernels s  comm s  non-comm s      the seed: span  busy  kernels  NCCL  non-NCCL
TEXT
for n in headwise before replicated after; do
    f=$out/$n.summary.csv
    printf '  %-30s %8s %6s %10s %7s %11s                %s\n' "${label[$n]}" "$(sec "$f" span_ns)" "$(pct "$f" busy_pct)" "$(sec "$f" kernel_sum_ns)" "$(sec "$f" comm_sum_ns)" "$(sec "$f" compute_sum_ns)" "${seed[$n]}"
done
cat <<TEXT

3.2 Whole step (recorded)             before        after       change      the seed: before    after   change
TEXT
metric() { # text, column, the seed's three
    local b=$out/before.summary.csv a=$out/after.summary.csv
    printf '  %-24s %9s ms %9s ms %12s      %s\n' "$1" "$(ms "$b" "$2")" "$(ms "$a" "$2")" "$(change "$(field "$b" "$2")" "$(field "$a" "$2")")" "$3"
}
metric "step" span_ns "         22.73 s  13.36 s  -41.2%"
printf '  %-24s %12s %12s %12s      %s\n' "GPU busy (of the step)" "$(pct "$out/before.summary.csv" busy_pct)" "$(pct "$out/after.summary.csv" busy_pct)" \
    "$(awk "BEGIN { printf \"%+.1f pt\", $(field "$out/after.summary.csv" busy_pct) - $(field "$out/before.summary.csv" busy_pct) }")" "         56.2%    85.1%    +28.9 pt"
metric "kernel sum" kernel_sum_ns "         12.13 s  10.94 s  -9.8%"
metric "  non-comm compute" compute_sum_ns "         6.37 s   4.88 s   -23.4%"
metric "memset" memset_ns "         47.0 ms  5.2 ms   -89%"
metric "comm (NCCL)" comm_sum_ns "         5.76 s   6.06 s   +5%"

echo
echo "Kernels by class                  calls before   calls after     ms before      ms after"
for c in gemm attention scan conv norm index concat elementwise copy comm other; do
    [ "$(field "$out/before.class.csv" calls name "^$c\$")$(field "$out/after.class.csv" calls name "^$c\$")" = "--" ] ||
        printf '  %-30s %13s %13s %13s %13s\n' "$c" "$(count "$out/before.class.csv" calls name "^$c\$")" "$(count "$out/after.class.csv" calls name "^$c\$")" \
            "$(ms "$out/before.class.csv" total_ns name "^$c\$")" "$(ms "$out/after.class.csv" total_ns name "^$c\$")"
done
echo
echo "The GEMMs: the same kernels before and after (their time changes with what else runs on the cores)"
for g in $(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["name"] ~ /^gemm/ { print $at["name"] }' "$out/before.kernels.csv" | sort -u); do
    b=$(count "$out/before.kernels.csv" calls name "^$g\$") a=$(count "$out/after.kernels.csv" calls name "^$g\$")
    [ "$b" = "$a" ] && same="same calls" || same="CALLS DIFFER"
    printf '  %-30s %13s %13s %13s %13s  %s\n' "$g" "$b" "$a" "$(ms "$out/before.kernels.csv" total_ns name "^$g\$")" "$(ms "$out/after.kernels.csv" total_ns name "^$g\$")" "$same"
done
echo
for n in before after; do
    echo "Recording ${label[$n]}: $(info $n events) events, $(info $n record_cost_ns_per_event) ns each on the emitting thread, $(info $n recording_cost_pct) % of it; losses: $(info $n losses)"
done
echo "$((SECONDS - started)) s in all. The page: $out/report.html"
