# Record and gate in one step: the verdict, the program's own failure first, nothing left behind.
export TMPDIR=$PWD/tmp; mkdir tmp
bench() { echo cpbench run --device cpu --mode gdn.chunkwise --cp 2 --layers "$1" --microbatches "$2" --recompute full --tokens 256 --seqs 128,128 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8 --route "$3" $4; }
cpscope record -o good.sqlite -- $(bench 2 2 interval) > /dev/null 2>&1
cpscope gate good.sqlite --update-baseline good.baseline; echo "status $?"
check() { cpscope check --baseline good.baseline --format csv "$@" 2> /dev/null | grep -v '^[0-9]\|^step,' | sed -E 's/, [0-9.]+ ms//; s/(\.c),[0-9]+$/\1,LINE/' ; echo "status ${PIPESTATUS[0]}"; }
check -- $(bench 2 2 interval)
check -- $(bench 2 4 interval)                            # more micro-batches of the same: compared by rate
check -- $(bench 2 2 naive)
check -- $(bench 2 2 interval "--boundaries per-layer")   # the same sites, more often
check -- $(bench 3 2 interval)                            # another shape is no answer
check -- sh -c 'exit 9'
check -- true
check --repeat 0 -- true
check -o kept.sqlite -- $(bench 2 2 interval)
cpscope check --repeat 3 -o runs.sqlite --rules "$ROOT/tests/data/gate_counts.rules" --baseline good.baseline --format csv -- $(bench 2 2 interval) 2> /dev/null | grep -v '^[0-9]\|^step,'
# in turns with the runs of another command
turns() { cpscope check --format csv "$@" 2> log | grep -v '^[0-9]\|^step,' | cut -d, -f 1-4; echo "status ${PIPESTATUS[0]}"; }
a="echo A >> order; $(bench 2 2 interval)" b="echo B >> order; $(bench 2 2 interval)" n="echo B >> order; $(bench 2 2 naive)"
turns --repeat 3 --before "$a" -- sh -c "$b"
tr -d '\n' < order; echo
cpscope check --repeat 2 --before "$a" -- sh -c "$b" 2> log | grep -o 'runs in turns, 2 times: echo A'
turns --before "$a" -- sh -c "$n"
turns --before 'exit 7' -- sh -c "$b"
turns --before true -- sh -c "$b"; tail -n 1 log
cpscope check --before true --baseline good.baseline -- true
rm order log
cpscope check --stack-threshold 1ms -- true 2>&1 | head -1
turns --rules <(echo 'op_syncs.count sum <= 23') -- $(bench 2 2 interval); rm log # a pipe is read once
# what is wrong with the question is said before the program starts
early() { cpscope check "$@" -- touch ran; echo "status $?"; }
early --baseline absent.baseline
early --rules absent.rules
echo 'syncs.cuont sum <= 1' > bad.rules
early --rules bad.rules --baseline good.baseline
early --baseline good.baseline --format xml
early --baseline good.baseline --git no-such-commit
ls . tmp
