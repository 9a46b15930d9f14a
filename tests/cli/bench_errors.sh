# What cannot be run is refused before anything starts: one line, the option, the value, the rule; status 2; no output.
no() { cpbench run --device cpu "$@"; echo "status $?"; }
chunk() { no --mode gdn.chunkwise "$@"; }
no
no --mode gdn.nosuch
no --mode gdn.chunkwize
chunk --cp 0
chunk --cp four
chunk --tp 2
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
# Options of modes that are not built are unknown, not ignored.
for option in --attn-mode --dynamic-cp --machine; do
    cpbench run --mode gdn.chunkwise $option 2 2>&1 | head -n 1
done
ls
