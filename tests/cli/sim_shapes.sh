# The shapes of the published tables on the modelled machine: who is faster, what the routes help, what grows with what.
export OPENBLAS_NUM_THREADS=1
step() { # step time in ms of the 9B model
    cpbench train --config 9b --device sim --machine h200x8-s0 --host-cost framework --cp 4 --tp 2 --steps 1 --log - "$@" 2> /dev/null | awk -F, 'NR == 2 { printf "%d\n", $5 / 1e6 }'
}
is() { awk "BEGIN { exit !($2) }" && echo "$1" || echo "NOT: $1 ($2)"; }
c="--mode gdn.chunkwise" h="--mode gdn.headwise.per_seq" g="--mode gdn.replicated_allgather" full="--recompute full"
s1="--microbatches 10 --tokens 29056" s3="--microbatches 3 --tokens 96928 --seqs random:21" s4="--dynamic-cp 1x2,2x21,4x7 --tokens 9696 --seqs random:1"
c1=$(step $c $s1 $full) h1=$(step $h $s1 $full) g1=$(step $g $s1 $full)
is "S1: chunkwise, all_gather, headwise" "$c1 < $g1 && $g1 < $h1"
flops=$(cpbench train --config 9b --device sim --machine h200x8-s0 --cp 4 --tp 2 --steps 1 --log - $c $s1 2> /dev/null | awk -F, 'NR == 2 { print $7 / $6 }') # of a token, over those of a second
off=$(printf '%s\n' "43397 .304" "29416 .205" "28483 .199" "54254 .381" "36185 .254" "46998 .329" "32306 .225" "23186 .162" "46671 .326" "38004 .267" |
    awk -v k=$flops '{ d = $1 * k / $2 - 1; d = d < 0 ? -d : d; most = d > most ? d : most } END { print most }')
is "the MFU column of the published tables follows from their tokens a second within 2 %" "$off < 0.02"
c2=$(step $c $s1) h2=$(step $h $s1)
is "S2: chunkwise before headwise, both faster than with recompute" "$c2 < $h2 && $c2 < $c1 && $h2 < $h1"
c3=$(step $c $s3 $full) h3=$(step $h $s3 $full)
is "S3: chunkwise before headwise" "$c3 < $h3"
c4=$(step $c $s4 $full) h4=$(step $h $s4 $full)
is "S4: changing cp sizes narrow the gap" "$c4 < $h4 && $h4 / $c4 < $h1 / $c1"
few="--layers 8" # the naive route's index kernels run for real: a quarter of them says as much
after=$(step $c $s1 $full $few) before=$(step $c $s1 $full $few --route naive)
hafter=$(step $h $s1 $full $few) hbefore=$(step $h $s1 $full $few --boundaries per-layer)
is "A/B: the routes help chunkwise" "$before > 1.3 * $after"
is "A/B: headwise stays within 2 %" "$hbefore < 1.02 * $hafter && $hafter < 1.02 * $hbefore"
is "chunkwise is behind headwise before and ahead after" "$before > $hbefore && $after < $hafter"
gshort=$(step $g --microbatches 10 --tokens 14528 $full) cshort=$(step $c --microbatches 10 --tokens 14528 $full)
is "all_gather falls behind as sequences grow" "$g1 / $c1 > $gshort / $cshort"
weak() { # time of one layer's micro-batch, 8K tokens a rank, scans as loops of small operators
    cpbench run --device sim --host-cost eager --dtype bf16 --hidden 2048 --kheads 16 --vheads 32 --dk 128 --dv 128 --mode $1 --cp $2 --tokens $(($2 * 8192)) --seqs $(($2 * 8192)) | awk -F, 'NR == 2 { print $13 }'
}
for m in gdn.state_p2p gdn.summary_allgather; do is "$m scales weakly" "$(weak $m 8) < 1.02 * $(weak $m 4)"; done
is "gdn.ulysses does not" "$(weak gdn.ulysses 8) > 1.9 * $(weak gdn.ulysses 4)"

# What a framework costs the host beyond its operators, constant by constant.
with() { # step time in ns of a small model on a machine with one constant changed
    sed "s/^$1 .*/$1 = $2/" "$ROOT/kernels/machines/h200x8" > machine
    shift 2
    cpbench train --config tiny --device sim --machine machine --host-cost framework --cp 2 --steps 1 --log - --mode gdn.chunkwise "$@" | awk -F, 'NR == 2 { print $5 }'
}
is "what lies between steps is added whole" "$(with framework_step_ns 2000000000) - $(with framework_step_ns 500000000) == 1500000000"
is "every layer's passes cost their Python" "$(with framework_layer_ns 20000000) - $(with framework_layer_ns 10000000) == 8 * 10000000"
is "a recompute costs it again" "$(with framework_layer_ns 20000000 $full) - $(with framework_layer_ns 10000000 $full) == 12 * 10000000"
plain=$(with framework_slowdown 1) slow=$(with framework_slowdown 2)
is "a profiler doubles what lies between steps, and ops, not what collectives cost beyond them" "$slow > $plain + 500000000 && $slow < 2 * $plain"
is "a forward before a recompute is cheaper" "$(with framework_nograd_share 0.5 $full) < $(with framework_nograd_share 1 $full)"
is "without a recompute there is none" "$(with framework_nograd_share 0.5) == $(with framework_nograd_share 1)"
is "hosts that are not equally fast wait for each other" "$(with host_skew 7) - 500000000 > 1.5 * ($(with host_skew 0) - 500000000)"
