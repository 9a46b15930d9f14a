# verdict: exit status. SIGKILL of the whole group at random times, on full cores: the file opens and lacks less than a second.
emitter() { ${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/fake/emitter.c" "$ROOT/schemas/event.c" -o emitter -pthread -rdynamic; }
emitter || { echo "no C compiler"; exit 77; }
[ -f "$BUILD/lib/libcpscope.so" ] || { echo "no libcpscope.so in this build"; exit 77; }
kills=${KILLS:-5} bad=0 worst=0
for i in $(seq "$kills"); do
    rm -f k.sqlite k.sqlite-wal k.sqlite-shm beat
    setsid cpscope record -o k.sqlite -- ./emitter -t "${THREADS:-10}" -r 300000 -s 30 --beat --spin > beat 2> /dev/null &
    group=$!
    sleep "$((RANDOM % 2 + ${BASE:-0})).$((RANDOM % 900 + 100))"
    running=$(cut -d' ' -f4 /proc/loadavg) running=${running%/*} # the emitter's 10, its writer, us: more are strangers
    kill -9 -- -$group
    wait $group 2> /dev/null
    for _ in $(seq 100); do kill -0 -- -$group 2> /dev/null || break; sleep 0.02; done
    if kill -0 -- -$group 2> /dev/null; then echo "kill $i: somebody of the group is left"; bad=1; fi
    last=$(grep -c . beat) at=$(sed -n "$((last > 1 ? last - 1 : 1))p" beat) # the last line may be cut
    if [ -e k.sqlite ]; then
        seen=$(sqlite3 k.sqlite "PRAGMA integrity_check; SELECT coalesce(max(start), 0) FROM event;
            SELECT count(*) FROM meta WHERE key = 'clean_end'" 2>&1 | tr '\n' ' ')
    else
        seen="ok 0 0" # killed before the first commit
    fi
    set -- $seen
    if [ "$1" != ok ] || [ "$3" != 0 ]; then echo "kill $i: $seen"; bad=1; continue; fi
    behind=$((${at:-0} - $2))
    [ $behind -le $worst ] || worst=$behind
    limit=1000000000
    [ $running -le 13 ] || limit=1500000000 # the writer has to wait for strangers
    [ $behind -lt $limit ] || { echo "kill $i: the last $behind ns are missing ($running threads want the cores)"; bad=1; }
done
echo "$kills kills, at most $worst ns missing"
exit $bad
