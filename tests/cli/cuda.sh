# The cuda device where there is no GPU: what is said; and every mode on the stand-in of tests/fake/cuda, its kernels run for
# real on the CPU, against the cpu device, by threads and by NCCL.
program=$BUILD/standin/bin/cpbench
[ -z "$SAN" ] && [ -x "$program" ] || { echo "the stand-in for a GPU is part of plain builds only"; exit 77; }
shape="--tokens 96 --seqs 56,40 --hidden 16 --kheads 2 --vheads 4 --dk 8 --dv 8 --qheads 4 --kvheads 2 --dqk 8 --dv-attn 8 --recompute full"

say() { sed "s|$PWD|.|g" "$1"; }
mkdir -p lone/bin && cp "$program" lone/bin
for device in cuda auto; do
    lone/bin/cpbench run --mode gdn.chunkwise --device $device --cp 2 $shape > out 2> err
    echo "no module, $device: status $? rows $(grep -c '^0,' out)"; say err
done
mkdir -p lone/lib/cpscope && echo text > lone/lib/cpscope/device_cuda.so
lone/bin/cpbench run --mode gdn.chunkwise --device cuda > out 2> err
echo "no shared object: status $?"; say err
STANDIN_DEVICES=0 "$program" run --mode gdn.chunkwise --device cuda
echo "no device: status $?"
STANDIN_DEVICES=0 "$program" kernels
echo "kernels, no device: status $?"
STANDIN_FAIL=9 "$program" run --mode gdn.chunkwise --device cuda --cp 1 $shape 2>&1 | sed 's/, [0-9]* bytes wanted and [0-9]* in use/, N bytes wanted and N in use/'
echo "out of memory: status ${PIPESTATUS[0]}"
"$program" run --mode gdn.chunkwise --device cuda --comm nccl --cp 2
echo "status $?"
"$program" run --mode gdn.chunkwise --device cuda --comm mpi --cp 2
echo "status $?"

for mode in attn.ring.zigzag gdn.state_logscan; do
    "$program" kernels --small --mode $mode > kernels
    echo "kernels of $mode against the CPU's: status $? rows $(grep -c ',1$' kernels)"
done

# step,step_ns,tokens,loss,grad_norm: equal to six digits
numbers() { awk -F, '/^[0-9]/ { printf "%.6g %.5g\n", $4, $5 }' "$1"; }
for mode in $(cpbench list | awk -F, 'NR > 1 { print $1 }'); do
    cp=2
    case $mode in *usp* | *double_ring*) cp=4 ;; esac
    same= guard=
    case $mode in attn.kvag.direct1 | gdn.chunkwise | gdn.headwise.per_seq) guard=STANDIN_GUARD=1 ;; esac
    cpbench run --mode "$mode" --device cpu --cp $cp $shape > want 2> err || sed "s/^/$mode cpu: /" err
    env $guard "$program" run --mode "$mode" --device cuda --cp $cp $shape > threads 2> err || sed "s/^/$mode threads: /" err
    STANDIN_DEVICES=$cp STANDIN_ORDER=reverse "$program" run --mode "$mode" --device cuda --comm nccl --cp $cp $shape > nccl 2> err ||
        sed "s/^/$mode nccl: /" err
    for got in threads nccl; do
        [ "$(numbers want)" = "$(numbers $got)" ] && same="$same $got" || { echo "$mode $got: $(numbers $got), not $(numbers want)"; }
    done
    echo "$mode cp $cp:$same"
done
for route in naive encoded prebuilt; do
    cpbench run --mode gdn.chunkwise --route $route --device cpu --cp 4 $shape > want
    "$program" run --mode gdn.chunkwise --route $route --device cuda --cp 4 $shape > got
    [ "$(numbers want)" = "$(numbers got)" ] && echo "route $route: equal" || echo "route $route: $(numbers got), not $(numbers want)"
done
