# Forks, exec chains, names of files, and how a program ends.
${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/fake/emitter.c" "$ROOT/schemas/event.c" -o emitter -pthread -rdynamic || exit 1
r() { cpscope record "$@" 2>&1 | grep -v '^emitter:' | sed "s/\.[0-9][0-9]*\.sqlite/.PID.sqlite/g"; echo "status ${PIPESTATUS[0]}"; }
files() {
    for f in *.sqlite; do
        echo "$(echo "$f" | sed 's/\.[0-9][0-9]*\.sqlite/.PID.sqlite/')" $(sqlite3 "$f" "SELECT count(*) FROM event; SELECT value FROM meta WHERE key = 'clean_end'")
    done | sort
    rm -f *.sqlite*
}
echo "- exec chain, two programs"
r -o a.sqlite -- sh -c './emitter -n 100; exec ./emitter -n 200'
files
echo "- the child of a fork writes its own file"
r -o a.sqlite -- ./emitter -n 300 --end fork
files
echo "- ranks of a launcher"
r -o a.sqlite -- sh -c 'RANK=0 WORLD_SIZE=2 ./emitter -n 10; RANK=1 WORLD_SIZE=2 ./emitter -n 20'
ls *.sqlite
sqlite3 a.r1.sqlite "SELECT value FROM meta WHERE key IN ('rank', 'world') ORDER BY key; SELECT rank FROM process"
rm -f *.sqlite
r -o 'run-%r.sqlite' -- sh -c 'RANK=0 ./emitter -n 10; RANK=1 ./emitter -n 20'
files
echo "- _exit, abort and SIGTERM: every event is there"
for how in _exit abort kill; do
    r -o a.sqlite -- sh -c "ulimit -c 0; exec ./emitter -n 10000 --end $how"
    sqlite3 a.sqlite "SELECT count(*) FROM event; PRAGMA integrity_check;
        SELECT count(*) FROM meta WHERE key = 'clean_end'; SELECT value FROM meta WHERE key = 'backend'" | tr '\n' ' '
    echo
    rm -f a.sqlite*
done
echo "- errors of the file do not reach the program"
why() { sed -e 's/cpscope: .*a.sqlite: cannot write: .*;/cpscope: a.sqlite: cannot write: (why);/' -e '/a kill of the program loses its last events/d' | sort; }
mkdir locked
r -o locked/a.sqlite -- sh -c 'rm -r locked; ./emitter -n 100' | why
for blocks in 200 8000; do # of 512 bytes: not even the start of the file; some of it
    r -o a.sqlite -- sh -c "ulimit -f $blocks; ./emitter -n 600000 -r 300000" | why
    [ ! -e a.sqlite ] || sqlite3 a.sqlite "PRAGMA integrity_check; SELECT count(*) > 10000 FROM event; SELECT count(*) FROM meta WHERE key = 'clean_end'"
    rm -f a.sqlite*
done
echo "- a variable that is not set leaves a hidden file, and that is said"
r -o '%q{NOT_SET_ANYWHERE}.sqlite' -- ./emitter -n 10
echo "- a program that closes our descriptors, and opens files under their numbers, has them to itself"
${CC:-cc} -std=c11 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/fake/closes_all.c" -o closes_all -ldl || exit 1
for how in "" _exit; do
    rm -rf mine && mkdir mine
    # shellcheck disable=SC2086
    (cd mine && ulimit -n 4096 && cpscope record -q -o ../a.sqlite --control ../socket -- ../closes_all $how 2> err)
    echo "status $?, spoiled files: $(for i in $(seq 0 999); do [ "$(cat mine/mine.$i)" = "hello $i" ] || echo $i; done | wc -l)"
    sqlite3 a.sqlite "SELECT count(*) FROM event e JOIN string s ON s.id = e.name WHERE s.value = 'before'; SELECT count(*) FROM meta WHERE key = 'clean_end'" | tr '\n' ' '
    ls a.sqlite*
    rm -f a.sqlite* socket
done
