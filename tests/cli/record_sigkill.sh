# verdict: exit status. SIGKILL of the whole group at random times, on full cores; then of the merge as well: the file opens, holds
# every event that the program had reported, each once and none missing in between, and says that it was cut off.
emitter() { ${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/fake/emitter.c" "$ROOT/schemas/event.c" -o emitter -pthread -rdynamic; }
emitter || exit 1
kills=${KILLS:-5} bad=0 total=0 early=0
complain() { echo "kill $i: $*"; bad=1; }
for i in $(seq "$kills"); do
    rm -f k.sqlite* beat
    setsid cpscope record -o k.sqlite -- ./emitter -t 4 -r 300000 -s 30 --beat --spin > beat 2> /dev/null &
    group=$!
    sleep "$((RANDOM % 2 + ${BASE:-0})).$((RANDOM % 900 + 100))"
    kill -9 -- -$group
    wait $group 2> /dev/null
    for _ in $(seq 250); do kill -0 -- -$group 2> /dev/null || break; sleep 0.02; done
    kill -0 -- -$group 2> /dev/null && complain "somebody of the group is left"
    last=$(grep -c . beat) at=$(sed -n "$((last > 1 ? last - 1 : 1))p" beat) # the last line may be cut
    [ -e k.sqlite ] || { early=$((early + 1)); [ "$last" -eq 0 ] || complain "no file, but $last beats"; continue; }
    [ $((i % 2)) = 0 ] || timeout -s KILL "0.0$((RANDOM % 90 + 10))" cpscope recover k.sqlite > /dev/null 2>&1
    cpscope recover k.sqlite > said 2>&1 || complain "$(cat said)"
    [ ! -e k.sqlite-ring ] && [ ! -e k.sqlite-wal ] || complain "left: $(ls k.sqlite*)"
    # events are numbered by thread, and there are as many ranks as threads
    seen=$(sqlite3 k.sqlite "PRAGMA integrity_check; SELECT count(*) FROM meta WHERE key = 'clean_end'; SELECT coalesce(max(start), 0) FROM event;
        SELECT count(*) FROM (SELECT 1 FROM event GROUP BY rank HAVING count(*) != max(correlation) + 1 OR count(DISTINCT correlation) != count(*));
        SELECT count(*) FROM event WHERE name IS NULL; SELECT count(*) FROM loss; SELECT count(*) FROM event" 2>&1 | tr '\n' ' ')
    set -- $seen
    [ "$1 $2 $4 $5 $6" = "ok 0 0 0 0" ] || complain "integrity, clean ends, ranks with gaps or doubles, nameless, losses: $1 $2 $4 $5 $6"
    [ "${at:-0}" -le "${3:-0}" ] || complain "an event was reported at ${at:-0} ns, the last one there is at $3"
    total=$((total + ${7:-0}))
done
echo "$kills kills ($early before the first event), $total events, none missing"
exit $bad
