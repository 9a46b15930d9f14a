# What one step shows, from formulas: at the structure of seeds/000 (24 layers, 10 micro-batches, cp 4, full recompute) the
# op ledger of the naive route is 61,440 + 8,640 + 2,880, of the interval route 60; 2,880 collectives, 720 when replicated.
shape="--cp 4 --layers 24 --microbatches 10 --recompute full --tokens 1024 --seqs 512,256,192,64 --hidden 32 --kheads 4 --vheads 8 --dk 8 --dv 8"
for route in naive interval prebuilt; do
    echo "# chunkwise, $route, rank 0"
    cpbench expect --mode gdn.chunkwise --route $route $shape | grep -E '^what|,0,[0-9]+,[0-9]*$'
done
echo "# chunkwise, interval, boundaries per layer"
cpbench expect --mode gdn.chunkwise --boundaries per-layer $shape | grep -E '^(op|wait)_sync,resolve'
echo "# headwise, rank 3"
cpbench expect --mode gdn.headwise.per_seq $shape | grep -E '^what|,3,[0-9]+,[0-9]*$'
echo "# replicated, rank 3"
cpbench expect --mode gdn.replicated_allgather $shape | grep -E '^what|,3,[0-9]+,[0-9]*$'
echo "# one sequence over 4 ranks: the fractions of the rows that leave a rank are 1/2, 1, 1/2, 1"
cpbench expect --mode gdn.chunkwise --cp 4 --tokens 256 --seqs 256 | grep all_to_all_v
echo "# one rank exchanges nothing"
cpbench expect --mode gdn.chunkwise --cp 1 --route naive
