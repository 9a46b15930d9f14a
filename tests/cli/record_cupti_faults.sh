# Everything that a stand-in for CUPTI can do wrong: the program's output and exit status stay, the trace opens, and it says what
# is missing. Also programs that end in every way at every phase.
. "$ROOT/tests/fake/cupti/build.sh" . > build.log 2>&1 || { cat build.log; exit 1; }
. "$ROOT/tests/fake/cupti/rows.sh"
./client all > plain 2> plain.err
plain=$?

missing() { # of t.sqlite
    cpscope info --format csv t.sqlite > info.csv || echo "  does not open"
    sed -n 's,/[^ ]*/libm,libm,; s/^degraded,"\{0,1\}\(.*[^"]\)"\{0,1\}$/  degraded: \1/p' info.csv | grep -v 'degraded: no$'
    sqlite3 -separator ': ' t.sqlite "SELECT '  lost: ' || reason, count FROM loss" | sed 's/\(read to their end\|not asked for\): [0-9]*/\1/' # those depend on how many buffers there were
}

fault() { # what the environment asks for is done to `client all`
    rm -f t.sqlite*
    cpscope record --stack-threshold 0s -o t.sqlite -- ./client all > out 2> err
    local status=$?
    [ $status -eq $plain ] || echo "  status $status, not $plain"
    cmp out plain
}

echo "== each call fails, with each of four errors"
for call in cuptiSubscribe cuptiActivityRegisterCallbacks cuptiActivityRegisterTimestampCallback cuptiActivityEnable cuptiActivityEnable:10 \
    cuptiActivityEnable:38 cuptiEnableCallback cuptiActivitySetAttribute cuptiGetTimestamp cuptiActivityFlushAll cuptiActivityGetNumDroppedRecords \
    cuptiUnsubscribe; do
    for code in 15 35 39 999; do
        FAKE_FAIL=$call=$code fault
        echo "$call=$code: said $(grep -c '^cpscope: ' err) times, $(trace_rows t.sqlite | cut -d' ' -f1 | sort | uniq -c | awk '{printf "%s %s ", $2, $1}')"
        [ $code != 39 ] || missing
    done
done

echo "== the calls that it could do without, and an error that nobody knows"
for fail in cuptiSetThreadIdType=8 cuptiActivityEnableAllSyncRecords=8 cuptiGetStreamIdEx=8 cuptiGetGraphNodeId=8 cuptiGetCallbackName:1=8 cuptiGetCallbackName=8 \
    cuptiActivityGetNextRecord=8 cuptiSubscribe=8; do
    FAKE_FAIL=$fail fault
    echo "$fail: $(trace_rows t.sqlite | cut -d' ' -f1 | sort | uniq -c | awk '{printf "%s %s ", $2, $1}')"
    missing
done

echo "== no CUPTI, one that is none, no driver"
for lib in /nonexistent/libcupti.so.13 libm.so.6; do
    CPSCOPE_CUPTI=$lib fault
    missing
done
FAKE_FAULT=no_driver cpscope record -o n.sqlite -- ./client end exit
echo "status $?"

echo "== wrong records"
for what in zero_times reversed_times early_times late_times negative_times endless another_clock short_records unknown_kind bad_kind drops late_callback keeps_calling fatal hangs_at_the_end; do
    FAKE_FAULT=$what fault
    echo "$what: $(trace_rows t.sqlite | cut -d' ' -f1 | sort | uniq -c | awk '{printf "%s %s ", $2, $1}')"
    missing
done
echo "a clock of its own:"
FAKE_FAIL=cuptiActivityRegisterTimestampCallback=14 fault
sqlite3 t.sqlite "SELECT 'kernels outside their launch and the last wait:', count(*) FROM event k WHERE k.kind = 0 AND NOT EXISTS (SELECT 1 FROM event c
    WHERE c.kind = 5 AND c.correlation = k.correlation AND c.start - 1000000 <= k.start)"

echo "== buffers"
cpscope record --stack-threshold 0s -o t.sqlite --force -- ./client end running > out 2> err
echo "a kernel that still runs: status $?"
missing

echo "== ends"
ends() { # HOW PHASE, options of record
    rm -f t*.sqlite*
    bash -c "./client end $1 $2 > plain.end; exit \$?" 2> /dev/null
    want=$?
    cpscope record --stack-threshold 0s -o t.sqlite "${@:3}" -- ./client end $1 $2 > out 2> err < /dev/null
    got=$?
    cmp out plain.end
    [ $got -eq $want ] || echo "  status $got, not $want"
    for f in t*.sqlite; do cpscope info --format csv $f > info.csv || echo "  $f does not open"; done
    files="status $got, files $(ls t*.sqlite | wc -l), of the child $(for f in t*.sqlite; do sqlite3 $f "SELECT s.value FROM event e JOIN string s ON s.id = e.name"; done | grep -c 'in the child')"
    clean="clean end $(cpscope info --format csv t.sqlite | sed -n 's/^clean_end,//p')"
}
for how in exit _exit abort kill fork dlclose return; do
    for phase in before during after; do
        ends $how $phase
        echo "$how $phase: $files, rows of the host $(sqlite3 t.sqlite "SELECT count(*) FROM event WHERE kind IN (5, 7)"), $clean"
    done
done
said() { sqlite3 t.sqlite "SELECT reason FROM loss UNION SELECT value FROM meta WHERE key = 'degraded'" | paste -sd';'; }
for how in _exit kill fork dlclose; do
    for phase in first init ranges threads; do
        # one that ends without an event leaves no file
        case $how$phase in killfirst | killinit | _exitfirst | _exitinit) continue ;; esac
        ends $how $phase
        echo "$how $phase: $files, $clean; $(said)"
    done
    FAKE_FAULT=slow_flush ends $how flush
    echo "$how flush: $files, $clean; $(said)"
    ends $how stopped --max-size 512k
    echo "$how stopped: $files, $clean; $(said)"
done
