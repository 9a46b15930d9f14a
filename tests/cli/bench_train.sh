# cpbench train: modes agree, repeats are the same bits, what is wrong is said.
export OPENBLAS_NUM_THREADS=1
train() { cpbench train --config tiny --device cpu --log - "$@" 2> err | cut -d , -f 1-4,9,10; grep -v parameters err; }
echo "== every mode starts at the same loss"
for m in gdn.chunkwise gdn.headwise.fused gdn.ulysses gdn.state_p2p gdn.summary_allgather; do
    train --mode $m --cp 4 --steps 1 | awk -F, 'NR == 2 { printf "%.6f %.3f\n", $2, $3 }'
done | sort | uniq -c | sed 's/^ *//'
echo "== rows"
train --mode gdn.chunkwise --cp 2 --steps 3 > a
train --mode gdn.chunkwise --cp 2 --steps 3 > b
cmp a b && head -1 a && awk -F, 'NR > 1 { print $1, $4, $5, $2 < last || NR == 2 ? "lower" : "HIGHER"; last = $2 }' a
echo "== a log, saved, loaded, gone on with"
cpbench train --config tiny --device cpu --mode gdn.chunkwise --cp 2 --steps 2 --log log.csv --save half.ckpt 2> /dev/null
cpbench train --config tiny --device cpu --mode gdn.chunkwise --cp 2 --steps 1 --log rest.csv --load half.ckpt 2> /dev/null
[ "$(tail -1 rest.csv | cut -d , -f 1,2,10)" = "$(tail -1 a | cut -d , -f 1,2,6)" ] && echo "the third step is the same to the bit"
ls
echo "== on the sim device: times and MFU, no values"
cpbench train --config 9b --device sim --mode gdn.chunkwise --cp 4 --tp 2 --tokens 8192 --recompute full --steps 2 --log - | awk -F, '{ print $1, ($2 == "" ? "no loss" : $2), ($5 > 0), ($7 > 0.1 && $7 < 1) }'
echo "== tokens from a file"
printf '\001\000\000\000\002\000\000\000\003\000\000\000' > three.tok
train --mode gdn.chunkwise --cp 1 --steps 2 --data three.tok | awk -F, 'NR > 1 { print $1, $4 }'
printf '\001\000' > half.tok
echo "== mean losses over modes, recompute, length, dynamic cp and tp at equal tokens: how far apart, in units of 1e-4"
awk 'BEGIN { x = 1; for (i = 0; i < 600; i++) { x = (x * 1103515245 + 12345) % 2147483648; printf "%c%c%c%c", int(x / 65536) % 127 + 1, 0, 0, 0 } }' > ids
mean() { cpbench train --config tiny --device cpu --log - --data ids --steps 3 "$@" 2> /dev/null | awk -F, 'NR > 1 { s += $2; n += $4 } END { print s / 3, n }'; }
two="--microbatches 2 --tokens 256 --seqs 128,128"
{
    mean --mode gdn.chunkwise --cp 1 $two
    mean --mode gdn.headwise.per_seq --cp 2 $two --recompute full
    mean --mode gdn.replicated_allgather --cp 4 $two --recompute full
    mean --mode gdn.chunkwise --cp 2 --tokens 512 --seqs 128,128,128,128
    mean --mode gdn.chunkwise --cp 2 --dynamic-cp 1,2 --tokens 256 --seqs 128,128
    mean --mode gdn.chunkwise --cp 2 --tp 2 $two
} | awk 'NR == 1 { low = high = $1 } { low = $1 < low ? $1 : low; high = $1 > high ? $1 : high; n[$2] } END { for (k in n) print NR, "runs of", k, "tokens:", (high - low < 1e-4 ? "less than one" : 1e4 * (high - low)) }'
echo "== what is wrong"
wrong() { cpbench train --log - "$@"; echo "exit $?"; }
wrong
wrong --config nosuch
wrong --config tiny
wrong --config tiny --mode gdn.chunkwise --data half.tok
wrong --config tiny --mode gdn.chunkwise --data .
: > empty.tok
wrong --config tiny --mode gdn.chunkwise --data empty.tok
wrong --config tiny --mode gdn.chunkwise --vocab 3 --data three.tok
wrong --config tiny --mode gdn.chunkwise --load three.tok
wrong --config tiny --mode gdn.chunkwise --ffn 100 --tp 8
wrong --config tiny --mode gdn.chunkwise --rotary 3
wrong --config tiny --mode gdn.chunkwise --beta1 1
wrong --config tiny --mode gdn.chunkwise --device sim --save x
wrong --config tiny --mode gdn.chunkwise --save nowhere/x
wrong --config tiny --mode gdn.chunkwise --save .
printf 'layers = 4\nlayerz = 3\n' > typo
wrong --config typo
printf '[a]\n' > section
wrong --config section
printf 'mode = gdn.chunkwise\n' > own
wrong --config own
