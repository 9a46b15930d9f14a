# What cannot be run is refused before anything starts: one line, the option, the value, the rule; status 2; no output.
no() { cpbench run --device cpu "$@"; echo "status $?"; }
chunk() { no --mode gdn.chunkwise "$@"; }
no
no --mode gdn.nosuch
no --mode gdn.chunkwize
chunk --cp 0
chunk --cp four
chunk --tp 3
chunk --layers 0
chunk --microbatches -3
chunk --steps 0
chunk --repeat 0
chunk --warmup -1
chunk --tokens 0
chunk --hidden 0
chunk --dk 0
chunk --dv -8
chunk --conv 0
chunk --conv 33
chunk --kheads 0
chunk --kheads 3
chunk --route sideways
chunk --boundaries sometimes
chunk --recompute half
chunk --dtype fp8
chunk --summary sometimes
chunk --device gpu
chunk --comm nccl
chunk --host-cost slow
chunk --host-cost -5
chunk --seqs x
chunk --seqs 512,-1
chunk --seqs 512,,1536
chunk --seqs ''
chunk --seqs 512,512
chunk --seqs 4096
chunk --seqs equal:3
chunk --seqs equal:0
chunk --seqs equal:x
chunk --seqs random:0
chunk --seqs random:500
chunk --seqs random:2/4
chunk --seqs random:6 --tokens 100
chunk --cp 4 --tokens 100 --seqs 60,40
chunk --cp 4 --tokens 512 --seqs 500,12
chunk --cp 3 --tokens 2046 --seqs 2046 --conv 4 --kheads 4 --vheads 6
chunk --cp 4 --tokens 2046 --seqs 2046
chunk --cp 8 --tokens 16 --seqs 16 --conv 4
no --mode gdn.headwise.per_seq --cp 4 --kheads 2 --vheads 4
no --mode gdn.replicated_allgather --cp 2
cpbench expect --mode gdn.replicated_allgather --cp 2 --recompute none
echo "status $?"
# cp sizes that change, heads over TP groups, padding, both operators.
chunk --dynamic-cp 3
chunk --cp 2 --dynamic-cp 4,1
chunk --dynamic-cp 2x0
chunk --dynamic-cp 1x20000
chunk --dynamic-cp 2 --seqs 768,1280
chunk --tp 0
chunk --dynamic-cp 1 --tokens 2 --seqs 2
chunk --tokens 2 --seqs 2
chunk --cp 1 --tp 8
chunk --kheads 8 --tp 8 --tokens 2080 --cp 8 --seqs 2080
no --mode gdn.headwise.fused --tp 2
no --mode attn.ulysses --tp 8
chunk --padding left
chunk --padding eod --tokens 2044 --seqs 2044
chunk --padding eod --seqs 1021,1025
chunk --attn-mode attn.none --layers 4
chunk --attn-mode attn.ulysses
chunk --attn-mode gdn.ulysses --layers 4
chunk --attn-mode attn.ring.contiguous --layers 4
chunk --machine nosuch
# Boundaries as frameworks give them, and what attention is not built for (seeds/003).
att() { no --mode attn.kvag.direct1 "$@"; }
att --seqs cu:8,16,2048
att --seqs cu:0,1024,512,2048
att --seqs cu:0,1024
att --seqs cu:0,x,2048
att --seqs cu:
att --seqs cu:0,1001,2048
att --qheads 6
att --cp 3 --seqs 2048
att --dqk 8 --dv-attn 16
att --dropout 0.1
att --dropout much
att --causal no
att --dtype bf16 --kv-dtype fp32
att --seqs 1024,1024 --kv-seqs 2048
no --mode attn.ulysses --cp 4 --qheads 6 --kvheads 2
no --mode attn.ulysses --cp 8 --qheads 8 --kvheads 3
cpbench run --device cpu --mode attn.kvag.direct1 --tokens 64 --seqs cu:0,16,16,64,64 > rows
echo "status $?"
ls
