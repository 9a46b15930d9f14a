# A run prints a row a step; naive, interval and prebuilt routes compute the same bits, twice; the device chosen by
# itself is named on stderr; a full disk is a failure.
shape="--mode gdn.chunkwise --cp 4 --layers 2 --microbatches 2 --tokens 256 --seqs 128,64,64 --hidden 16 --recompute full"
cpbench run $shape --steps 3 --warmup 1 --repeat 2 > rows
echo "status $?"
head -n 1 rows
cut -d , -f 1,3 rows
values() { cpbench run --device cpu $shape --steps 2 "$@" | cut -d , -f 1,4,5,8-12; }
values --route interval > interval
values --route interval > again
values --route naive > naive
values --route prebuilt > prebuilt
cmp interval again && cmp interval naive && cmp interval prebuilt && echo "the same bits"
values --seed 5 > other
cmp -s interval other || echo "another seed, other values"
cpbench run --device cpu $shape > /dev/full
echo "status $?"
cpbench run $shape --help | head -n 3
