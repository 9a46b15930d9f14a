# Recordings that the gate does not believe: rows lost, sites that depend on a stack threshold. A fail stays one.
S="--device cpu --mode gdn.chunkwise --cp 2 --layers 2 --microbatches 2 --tokens 128 --seqs 64,64 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8"
for r in interval naive; do
    # shellcheck disable=SC2086
    cpscope record --stack-threshold 20us -o $r.sqlite -- cpbench run $S --route $r > run.csv 2> record.log || { cat record.log; exit 1; }
done
cpscope info interval.sqlite --format csv | grep stack_threshold
gate() { cpscope gate "$@" --format csv | cut -d, -f 1,2,5- | cut -c 1-190; echo "status ${PIPESTATUS[0]}"; }
with() { cp interval.sqlite x.sqlite; sqlite3 x.sqlite "$1"; }
cpscope gate interval.sqlite --update-baseline good.baseline
echo "--- sites that came with the events depend on nothing"
gate interval.sqlite --baseline good.baseline
echo "--- sites from stacks do"
with 'UPDATE event SET site = NULL WHERE id = (SELECT min(event) FROM sync WHERE class > 0)'
gate x.sqlite --baseline good.baseline
gate interval.sqlite --baseline x.sqlite
cpscope gate x.sqlite --update-baseline bad.baseline; echo "status $?"
sqlite3 x.sqlite "UPDATE meta SET value = '0' WHERE key = 'stack_threshold_ns'"
gate x.sqlite --baseline good.baseline | grep -c threshold
with "UPDATE event SET site = NULL; INSERT OR REPLACE INTO meta VALUES ('oversubscribed', '0')"
echo 'summary.busy_pct min >= 0 %' > time.rules
gate x.sqlite --rules time.rules
echo "--- rows lost in the step, before it, and a number unknown"
dropped="events dropped: the writer could not keep up and the memory for waiting events was full"
step="(SELECT min(start) FROM event WHERE kind = 7 AND name = (SELECT id FROM string WHERE value = 'step' OR value = 'step#0'))"
with "INSERT INTO loss SELECT '$dropped', 7, $step + 1000, $step + 2000"
gate x.sqlite --baseline good.baseline
with "INSERT INTO loss VALUES ('$dropped', 7, 0, 1)"
gate x.sqlite --baseline good.baseline | tail -n 1
copies="copies without a record: whether their calls wait for the device is not known"
with "INSERT INTO loss SELECT '$copies', 1, $step + 1000, $step + 2000"
gate x.sqlite --baseline good.baseline | tail -n 2
with "INSERT INTO loss SELECT 'device records without an end: still running when recording ended', 1, $step + 1000, $step + 2000" # their rows are there
gate x.sqlite --baseline good.baseline | tail -n 1
with "INSERT INTO loss VALUES ('the program was cut off', NULL, NULL, NULL)"
gate x.sqlite --baseline good.baseline
cpscope gate x.sqlite --update-baseline bad.baseline; echo "status $?"
cp naive.sqlite x.sqlite; sqlite3 x.sqlite "INSERT INTO loss VALUES ('the program was cut off', NULL, NULL, NULL)"
gate x.sqlite --baseline good.baseline | cut -d, -f 2 | sort | uniq -c
cpscope report x.sqlite --baseline interval.sqlite -o page.html && python3 "$ROOT/tests/browser/read_page.py" page.html | sed -n 1,2p
ls ./*.baseline
