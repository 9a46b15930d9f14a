# verdict: exit status
# What the replay says of a run without something, against a modelled run that truly lacks it: within 2 %.
# From naive recordings the routes are taken out (range thd_route); the runs with the interval route, packed alike (--pack
# blocks), are the truth. They still derive two routes a micro-batch: without those, both replays agree to the ns.
judge='
function rel(a, b) { return b ? 100 * (a / b - 1) : 0 }
function say(name, p, t, err) { printf "  %-15s predicted %11.0f  truth %11.0f  error %+.2f\n", name, p, t, err }
FNR == 1 { file++; next }
file == 1 { pred[$1 "," $3] = $5; next }
{
    err = $3 == "busy_pct" ? pred[$1 "," $3] - $4 : rel(pred[$1 "," $3], $4)
    worst[$3] = err * err > worst[$3] * worst[$3] ? err : worst[$3]
    if ($1 == 0 && $3 == "step_ns") say("step_ns", pred[$1 "," $3], $4, err)
}
END {
    printf "  worst rank: busy %+.2f points, comm %+.2f %%, compute %+.2f %%\n", worst["busy_pct"], worst["comm_sum_ns"], worst["compute_sum_ns"]
    if (limit) print worst["step_ns"] ^ 2 <= limit ^ 2 ? "  step within " limit " %" : "  NOT within " limit " %"
    exit limit && worst["step_ns"] ^ 2 > limit ^ 2
}'
bad=0
run() { cpscope record --force -o "$1" -- cpbench run --device sim "${@:2}" > /dev/null 2> err || cat err; }
compare() { # LIMIT BEFORE AFTER WHATIF-OPTIONS
    cpscope whatif "$2" "${@:4}" --format csv > predicted.csv && cpscope whatif "$3" --format csv > truth.csv &&
        awk -F, -v limit="$1" "$judge" predicted.csv truth.csv || bad=1
}
routes() { # OPTIONS
    run naive.db --mode gdn.chunkwise "$@" --route naive --boundaries cached
    run blocks.db --mode gdn.chunkwise "$@" --route interval --pack blocks
    compare 2 naive.db blocks.db --drop-range thd_route
    for f in naive blocks; do cpscope whatif $f.db --drop-range thd_route --format csv | cut -d, -f1-3,5 > $f.csv; done
    if cmp naive.csv blocks.csv; then echo "  the same, to the ns, when the interval route's own work is taken out, too"; else bad=1; fi
}
width="--dtype bf16 --hidden 4096 --kheads 16 --vheads 32 --dk 128 --dv 128 --tokens 16384"
echo "tiny"
routes --cp 2 --layers 24 --recompute full
echo "tiny, several steps and micro-batches"
routes --cp 2 --layers 16 --microbatches 2 --steps 3 --recompute full --seqs 1024,512,512
echo "cp 4, attention every fourth layer"
routes --cp 4 --layers 24 --attn-mode attn.kvag.direct1 --recompute full
echo "a framework's host"
routes --cp 2 --layers 8 --host-cost framework --recompute full
echo "per-layer boundaries on both sides"
run naive.db --mode gdn.chunkwise --cp 2 --layers 16 --route naive
run blocks.db --mode gdn.chunkwise --cp 2 --layers 16 --route interval --pack blocks --boundaries per-layer
compare 2 naive.db blocks.db --drop-range thd_route
echo "full width"
routes --cp 2 --layers 4 $width
echo "for information: the same against the interval route as it packs (one gather, one scatter: fewer kernels outside thd_route)"
run interval.db --mode gdn.chunkwise --cp 2 --layers 4 $width --route interval
compare "" naive.db interval.db --drop-range thd_route
echo "for information: a short step of few layers and many micro-batches, each with two routes of the interval kind to derive"
short="--cp 2 --layers 8 --microbatches 4 --recompute full --tokens 2048 --seqs 1024,512,512 --hidden 128 --kheads 2 --vheads 4 --dk 32 --dv 32"
run naive.db --mode gdn.chunkwise $short --route naive --boundaries cached
run blocks.db --mode gdn.chunkwise $short --route interval --pack blocks
compare "" naive.db blocks.db --drop-range thd_route
echo "the waits of a route that is decoded at every use"
run encoded.db --mode gdn.chunkwise --cp 2 --layers 4 $width --route encoded
compare 2 encoded.db interval.db --drop-syncs route_decode
machine() { sed "$2" "$ROOT/kernels/machines/h200x8" > "$1.machine" && run "$1.db" --mode gdn.chunkwise --cp 2 --layers 4 $width --machine "$1.machine"; }
echo "scans of half the time: a machine that scans twice as fast"
machine fast 's/^scan_share.*/scan_share = 0.24/'
compare 2 interval.db fast.db --scale 'gdn_(scan|summary)=0.5'
echo "collectives that move at once and still wait for each other: a machine with such links"
machine near 's/^nvlink_gbps.*/nvlink_gbps = 1000000/; s/^\(nvlink_[a-z]*_ns\).*/\1 = 0/'
compare 2 interval.db near.db --scale '^(cp|grad)_(all|reduce|send)=0'
for words in "--route naive --pack joined" "--pack both"; do
    cpbench run --mode gdn.chunkwise --device sim $words
    [ $? = 2 ] || bad=1
done
exit $bad
