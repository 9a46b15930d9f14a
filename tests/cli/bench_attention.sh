# Attention modes: what they declare (spec C.5, E), that every rank has the same work where the split is balanced, and
# what cannot be run: one line, the option, the value, the rule; status 2.
shape="--cp 4 --tokens 512 --seqs 256,128,128 --hidden 32 --qheads 8 --kvheads 4 --dqk 6 --dv-attn 4"
for mode in kvag.direct1 kvag.direct2 kvag.reorder2 kvag.contiguous ring.zigzag ring.contiguous ulysses usp double_ring; do
    echo "# attn.$mode: rank 1, and the work of all ranks"
    cpbench expect --mode attn.$mode $shape | grep -E ',1,[0-9]+,[0-9]*$'
    cpbench expect --mode attn.$mode $shape | grep '^work' | cut -d, -f4 | paste -sd' '
done
echo "# plans: once per micro-batch, or once per layer and forward"
for how in cached hoisted per-layer; do
    cpbench expect --mode attn.kvag.direct1 --metadata $how --layers 3 --microbatches 2 --recompute full $shape | grep 'kv_index_build,0'
done
echo "# one rank exchanges nothing"
cpbench expect --mode attn.usp $shape --cp 1
no() { cpbench run --device cpu "$@"; echo "status $?"; }
no --mode attn.ring.zigzag --cp 3 --tokens 512 --seqs 512
no --mode attn.kvag.direct1 --cp 4 --tokens 512 --seqs 500,12
no --mode attn.kvag.contiguous --cp 3 --tokens 512 --seqs 512
no --mode attn.kvag.direct1 --qheads 6 --kvheads 4
no --mode attn.kvag.direct1 --dqk 8 --dv-attn 16
no --mode attn.kvag.direct1 --metadata sometimes
no --mode attn.ulysses --cp 4 --qheads 6 --kvheads 3
no --mode attn.ulysses --cp 4 --qheads 12 --kvheads 6
no --mode attn.usp --cp 4 --ulysses 3
no --mode attn.double_ring --cp 4 --window 3
no --mode attn.kvag.direct1 --qheads 0
no --mode attn.kvag.direct1 --dropout 0.1
no --mode attn.hamilton
ls
