# The gate on the main job: one item too many in one layer is caught and named; longer runs, moved code and noise are not.
S="--mode gdn.chunkwise --cp 2 --layers 3 --recompute full --tokens 256 --seqs 128,128 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8 --device cpu"
run() { # NAME OPTIONS: a recording
    local name=$1; shift
    # shellcheck disable=SC2086
    cpscope record -o "$name.sqlite" -- cpbench run $S "$@" > run.csv 2> record.log || cat record.log
}
gate() { cpscope gate "$@" --format csv 2> err.log | sed -E 's/, [0-9.]+ ms//; s/(\.c),[0-9]+$/\1,LINE/; s#kernels/model/[a-z]+\.c(.?)#MODEL.c\1#g'; echo "status ${PIPESTATUS[0]}"; cat err.log; }
run good --route interval --microbatches 10 --steps 2
cpscope gate good.sqlite --update-baseline good.baseline
grep -v '^fact' good.baseline
echo "--- the same again, and the naive route"
run again --route interval --microbatches 10 --steps 2
gate again.sqlite --baseline good.baseline
run naive --route naive --microbatches 10 --steps 2
gate naive.sqlite --baseline good.baseline| cut -d, -f 1-4
echo "--- one item more in layer 1"
run extra --route interval --microbatches 10 --steps 2 --extra-item 1
gate extra.sqlite --baseline good.baseline
cpscope gate extra.sqlite --baseline good.baseline --format github | grep -c '^::error file=kernels/model/[a-z]*.c,line=[1-9][0-9]*,title='
echo "--- twenty micro-batches against ten, one step against two"
run longer --route interval --microbatches 20 --steps 1
gate longer.sqlite --baseline good.baseline
echo "--- and the item is found in the longer run, and in a third of it"
run both --route interval --microbatches 20 --steps 1 --extra-item 0
gate both.sqlite --baseline good.baseline| cut -d, -f 1-4
run short --route interval --microbatches 3 --steps 1 --extra-item 2
gate short.sqlite --baseline good.baseline| cut -d, -f 1-4
echo "--- code moved by 100 lines"
cp again.sqlite moved.sqlite
sqlite3 moved.sqlite 'UPDATE site SET line = line + 100'
sqlite3 moved.sqlite 'SELECT count(*) > 0 FROM site WHERE line > 100'
gate moved.sqlite --baseline good.baseline
echo "--- refused: another shape"
cpbench run $S --extra-item 3 2>&1; echo "status $?"
# Times: five runs a side out of one recording, each stretched by its own little noise (1 % either way) and by a factor.
variants() { # FOLDER FACTOR
    mkdir "$1"
    for k in 0 1 2 3 4; do
        cp again.sqlite "$1/$k.sqlite"
        f="$2 * (1 + 0.01 * ($k * 7 % 5 - 2) / 2)"
        sqlite3 "$1/$k.sqlite" "DELETE FROM meta WHERE key = 'oversubscribed';
            WITH m AS (SELECT min(start) AS t FROM event) UPDATE event SET
                start = (SELECT t FROM m) + CAST((start - (SELECT t FROM m)) * $f AS INTEGER),
                \"end\" = (SELECT t FROM m) + CAST((\"end\" - (SELECT t FROM m)) * $f AS INTEGER)"
    done
}
variants a 1.0; variants same 1.002; variants slow 1.1; variants fast 0.9
timing() { cpscope gate "$1" --baseline a --rules "$2" --format csv 2> err.log | sed -n 2p | cut -d, -f1,2; echo "status ${PIPESTATUS[0]}"; cat err.log; }
echo 'steps.duration_ns median <= baseline' > same.rules
echo 'steps.duration_ns median <= baseline * 1.05' > step.rules
for n in same slow fast; do echo "--- $n"; timing $n same.rules; timing $n step.rules; done
echo "--- one run a side tells nothing when it is slower"
timing slow/0.sqlite step.rules
echo "--- times of a run with more threads than cores are not judged"
sqlite3 slow/0.sqlite "INSERT INTO meta VALUES ('oversubscribed', '1')"
timing slow step.rules
