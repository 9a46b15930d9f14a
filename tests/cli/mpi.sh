# Ranks as processes: the same bits as ranks as threads; a trace a rank; jobs of the wrong size, ranks that die, a module
# that is missing.
. "$ROOT/tests/mpi_ranks.sh"
export OMPI_MCA_plm_rsh_agent=false OMPI_MCA_btl_vader_single_copy_mechanism=none
root=
[ "$(id -u)" != 0 ] || root=--allow-run-as-root
mpi() { timeout 600 mpirun $root --oversubscribe "$@"; }
said() { grep -E '^(cpbench|cpscope) ' "$1" | sed -e 's/^\(.*mpi: \).*\(comm_mpi.so\)/\1\2/' | sort -u; } # mpirun has its own to say

for mode in gdn.chunkwise gdn.headwise.per_seq "gdn.replicated_allgather --recompute full" gdn.state_p2p attn.kvag.reorder2; do
    for cp in 2 4; do
        o="$small --mode $mode --cp $cp"
        cpbench run $o | values > threads
        mpi -np $cp cpbench run $o --comm mpi 2> err | values > mpi
        echo "$mode cp $cp: $(wc -l < mpi) lines, status ${PIPESTATUS[0]}, $(cmp threads mpi && echo the same bits)"
        cat err
    done
done
# Buffers of several windows: gradients here, keys and values there; the last window is not full.
for o in "--mode gdn.chunkwise --cp 2 --hidden 320 --tokens 256 --seqs 128,128" "--mode attn.kvag.direct1 --cp 4 --hidden 32 --kvheads 8 --dqk 40 --tokens 4096 --seqs 1024,3072"; do
    cpbench run --device cpu --layers 2 $o | values > threads
    mpi -np "$(echo "$o" | sed 's/.*--cp \([0-9]*\).*/\1/')" cpbench run --device cpu --layers 2 $o --comm mpi | values | cmp - threads && echo "large: the same bits"
done
# Groups of some of the ranks, rows of 16 bits, documents with padding.
for o in "--mode gdn.chunkwise --cp 2 --dtype bf16" "--mode attn.kvag.direct1 --cp 4 --kvheads 4 --dtype fp16" "--mode attn.ring.zigzag --cp 2 --dtype bf16" \
    "--mode gdn.headwise.fused --cp 2 --tp 2" "--mode gdn.chunkwise --cp 4 --dynamic-cp 4,1,2 --seqs equal:4" \
    "--mode gdn.chunkwise --cp 2 --tp 2 --layers 4 --attn-mode attn.kvag.direct1 --dynamic-cp 1,2 --dtype fp16" \
    "--mode gdn.replicated_allgather --cp 4 --recompute full --padding eod --seqs 100,90 --dtype bf16"; do
    cpbench run $small $o 2> err | values > threads
    cpbench expect $small $o > expect
    n=$(($(tail -n 1 expect | cut -d , -f 3) + 1))
    mpi -np $n cpbench run $small $o --comm mpi 2> err | values | cmp - threads && echo "$o: $n processes, the same bits"
done
cpbench run $small --mode gdn.chunkwise --cp 1 | values > threads
mpi -np 1 cpbench run $small --mode gdn.chunkwise --cp 1 --comm mpi | values | cmp - threads && echo "one process: the same bits"

echo "- a trace a rank, and one has rank 0"
o="$small --mode gdn.chunkwise --comm mpi"
cpscope record -o 'a-%r.sqlite' -- mpirun $root --oversubscribe -np 2 cpbench run $o --cp 2 > rows 2> err
wc -l < rows
ls a-*.sqlite
mpi -np 2 cpscope record -o b.sqlite -- cpbench run $o --cp 2 > rows 2> err
wc -l < rows
ls b*.sqlite | wc -l
for f in a-0 a-1; do sqlite3 $f.sqlite "SELECT key, value FROM meta WHERE key IN ('rank', 'world', 'comm', 'backend') ORDER BY 1" | tr '\n' ' '; echo; done
for f in a-?.sqlite b*.sqlite; do cpscope summary $f --format csv | sed 1d | cut -d , -f 1,6,7; done | sort | uniq -c | sed 's/^ *//'

echo "- a job of another size"
for n in 1 2 6; do
    mpi -np $n cpbench run $o --cp 4 > rows 2> err
    echo "status $?, $(wc -l < rows) rows"
    said err
done
cpbench run $o --cp 4
echo "status $?"
mpi -np 1 cpbench run $o --cp 2 : -np 1 cpbench run $o --cp 1 > rows 2> err # rank 0 waits for a rank that does not come
echo "status $?, $(wc -l < rows) rows"
said err

echo "- a rank that is killed"
mpi -np 4 sh -c "echo \$\$ > pid.\$OMPI_COMM_WORLD_RANK; exec cpbench run $o --cp 4 --steps 200000" > rows 2> err &
kill_rank 2 $!

echo "- no module beside the program, or another's"
mkdir -p lone/bin
cp "$BUILD/bin/cpbench" lone/bin
lone/bin/cpbench run $o --cp 2 > rows 2> err
echo "status $?"
said err
lone/bin/cpbench run $small --mode gdn.chunkwise --cp 2 | wc -l
mkdir -p lone/lib/cpscope
echo text > lone/lib/cpscope/comm_mpi.so
lone/bin/cpbench run $o --cp 2 > rows 2> err
echo "status $?"
said err
