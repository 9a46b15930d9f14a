#!/usr/bin/env bash
# gpu_check.sh - what can only be checked on a GPU: every kernel and every mode on it against the CPU, then rates. Without a GPU
# it says so and is skipped. Under 8 minutes; every part has a limit of its own, and a part that is cut is a failure.
#
#   part                     1 GPU                            2 and more
#   kernels                  every launch of every mode against the CPU's, same arguments
#   modes by threads         cp 1 to 8, the ranks share the GPU (each its own where there are enough)
#   modes by NCCL            cp 1                             cp up to the number of GPUs, at most 8
#   counts                   a recording's op counts and collectives against `cpbench expect`, where CUPTI can record
#   rates                    per family, share of cuBLAS's rate in the same run
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$root/build}
bench=$BUILD/bin/cpbench
export LC_ALL=C OPENBLAS_NUM_THREADS=1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-gpu.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0

small="--tokens 256 --seqs 160,96 --hidden 32"
if ! "$bench" run --mode gdn.chunkwise --device cuda --cp 1 $small > "$tmp/out" 2> "$tmp/why"; then
    grep -q 'is not there\|no driver\|no device\|cannot open shared' "$tmp/why" && { echo "gpu-check: skipped: $(cat "$tmp/why")"; exit 0; }
    echo "gpu-check: FAIL: $(cat "$tmp/why")"
    exit 1
fi
gpus=${GPUS:-$(nvidia-smi -L 2> /dev/null | grep -c '^GPU')}
[ "$gpus" -gt 0 ] || gpus=1
most=1
while [ $((most * 2)) -le "$gpus" ] && [ $most -lt 8 ]; do most=$((most * 2)); done
echo "gpu-check: $gpus GPU(s): $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2> /dev/null | head -n 1)"

# part NAME SECONDS COMMAND...: rows go to $tmp/NAME; the last column is ok.
part() {
    local name=$1 limit=$2 begun=$SECONDS rc bad rows
    shift 2
    timeout "$limit" "$@" > "$tmp/$name" 2> "$tmp/err"
    rc=$?
    rows=$(($(wc -l < "$tmp/$name") - 1))
    bad=$(awk -F, 'NR > 1 && $NF != 1' "$tmp/$name" | wc -l)
    if [ $rc -eq 0 ] && [ "$rows" -gt 0 ]; then
        echo "ok   $name: $rows rows ($((SECONDS - begun)) s)"
    else
        failed=1
        echo "FAIL $name: exit $rc, $bad of $rows rows not ok ($((SECONDS - begun)) s)"
        cat "$tmp/err"
        awk -F, 'NR > 1 && $NF != 1' "$tmp/$name" | head -n 20
    fi
}
part kernels 120 "$bench" kernels --small
part modes-threads 150 "$bench" verify --quick --device cuda
part modes-nccl 90 "$bench" verify --quick --device cuda --comm nccl --max-cp $most

# Collectives and syncs of a recorded run, rank by rank, against what the mode declares; and no call twice.
counts() {
    local mode=$1 dir=$tmp/$1
    mkdir -p "$dir"
    "$BUILD/bin/cpscope" record -o "$dir/t.sqlite" -- "$bench" run --mode "$mode" --device cuda --cp 2 $small > /dev/null 2> "$dir/err" || return 2
    "$BUILD/bin/cpscope" comm "$dir/t.sqlite" --format csv 2> /dev/null | awk -F, 'NR > 1 && $3 == "cp" { print "comm", $1, $4, $5 }' | sort > "$dir/got"
    [ -s "$dir/got" ] || return 2
    "$bench" expect --mode "$mode" --cp 2 $small > "$dir/expect"
    awk -F, '$1 == "comm" { print $1, $3, $2, $4 }' "$dir/expect" | sort > "$dir/want"
    for ledger in op wait; do # waits of the training loop around the mode are not declared
        awk -F, -v what=${ledger}_sync '$1 == what && $4 > 0 { print $1, $3, $2, $4 }' "$dir/expect" | sort > "$dir/declared"
        cat "$dir/declared" >> "$dir/want"
        "$BUILD/bin/cpscope" syncs "$dir/t.sqlite" --ledger $ledger --by function --format csv 2> /dev/null |
            awk -F, -v what=${ledger}_sync 'NR > 1 { sub(/.*:/, "", $2); n[$1 " " $2] += $5 } END { for (k in n) print what, k, n[k] }' | sort |
            awk -v all=$ledger 'FILENAME == ARGV[1] { declared[$3]; next } all == "op" || $3 in declared' "$dir/declared" - >> "$dir/got"
    done
    command -v sqlite3 > /dev/null && sqlite3 "$dir/t.sqlite" "SELECT count(*) || ' CUDA calls are rows inside a row of the device' FROM event a
        JOIN event b ON b.thread = a.thread AND b.kind = 5 AND b.id <> a.id AND b.start >= a.start AND b.\"end\" <= a.\"end\"
        WHERE a.kind = 5 AND a.rank IS NOT NULL HAVING count(*) > 0" >> "$dir/got"
    diff "$dir/want" "$dir/got" > "$dir/diff"
}
for mode in gdn.chunkwise attn.kvag.direct1 gdn.state_p2p; do
    counts $mode
    case $? in
    0) echo "ok   counts: $mode: as declared" ;;
    1) failed=1; echo "FAIL counts: $mode"; cat "$tmp/$mode/diff" ;;
    *) echo "     counts: $mode: not tested: the recording has no collectives: $(tail -n 1 "$tmp/$mode/err")" ;;
    esac
done

timeout 90 "$bench" kernels --time > "$tmp/rates" 2> "$tmp/err" || { failed=1; echo "FAIL rates: $(cat "$tmp/err")"; }
echo
echo "rates at the large shape, one rank, fp32; % of cuBLAS = share of the rate of the matrix products in this run (cuDNN is not measured)"
awk -F, 'function family(k) { if (k ~ /^gemm/) return "gemm"; if (k ~ /^attention/) return "attention"; if (k ~ /^gdn/) return "gdn"; if (k ~ /^conv1d/) return "conv"
    if (k ~ /norm/) return "norm"; if (k ~ /^index|^nonzero/) return "index"; if (k ~ /^rows|^concat/) return "rows"; return "elementwise" }
    NR > 1 { f = family($1); ns[f] += $3; flops[f] += $4; bytes[f] += $5 }
    END { printf "%-12s %12s %10s %10s %12s\n", "family", "time ms", "TFLOP/s", "GB/s", "% of cuBLAS"
        gemm = ns["gemm"] > 0 ? flops["gemm"] / ns["gemm"] : 0
        for (f in ns) if (ns[f] > 0) printf "%-12s %12.3f %10.3f %10.1f %12s\n", f, ns[f] / 1e6, flops[f] / ns[f] / 1e3, bytes[f] / ns[f],
            gemm > 0 && f != "index" && f != "rows" ? sprintf("%.1f", 100 * flops[f] / ns[f] / gemm) : "-" }' "$tmp/rates" | { read -r head; echo "$head"; sort; }

echo
echo "not tested here:"
[ "$most" -ge 2 ] || echo "  modes by NCCL at cp 2 and more: $gpus GPU"
[ "$most" -ge 8 ] || [ "$most" -lt 2 ] || echo "  modes by NCCL at cp over $most: $gpus GPUs"
echo "  NCCL between hosts; by MPI and by CPBENCH_NCCL_FILE"
[ ! -f "$BUILD/gen/kernel_names" ] || awk -F, 'NR == FNR { seen[$1]; next } !($1 in seen) { printf "%s%s", n++ ? " " : "  kernels that no mode launches: ", $1 } END { if (n) print "" }' "$tmp/kernels" "$BUILD/gen/kernel_names"
[ $failed -eq 0 ] && echo "gpu-check: ok ($SECONDS s)" || echo "gpu-check: FAILED ($SECONDS s)"
exit $failed
