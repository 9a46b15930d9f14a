# The steps of a ring in a recording: what is in each, and that no exchange and no kernel of the ring is lost.
cpscope record -o ring.sqlite -- cpbench run --device cpu --mode attn.ring.zigzag --cp 4 --tokens 256 --seqs 256 --steps 1 > run.csv 2> err || cat err
cpscope cp ring.sqlite --rank 2 --ring-steps --format csv | awk -F, '$2 == 0 && $5 ~ /^ring#/ { print $4, $5, $6 }'
cpscope cp ring.sqlite --ring-steps --format csv | awk -F, '
    $5 == "ring" { sent[$1] += $6; time[$1] += $7 }
    $5 ~ /^ring#. exchange/ { sent[$1] -= $6; time[$1] -= $7 }
    END { for (r = 0; r < 4; r++) print "rank", r, "outside of ring steps:", sent[r] + 0, "exchanges,", time[r] + 0, "ns" }'
