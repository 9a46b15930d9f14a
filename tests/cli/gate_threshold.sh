# A program that is the same and only faster has the same waits at the same sites when all of them are asked for; a gate takes such
# recordings, and refuses those whose sites depend on how long a wait took.
[ -f "$BUILD/lib/libcpscope.so" ] || { echo "no libcpscope.so in this build"; exit 77; }
${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" -shared -fPIC "$ROOT/tests/fake/sync_lib.c" -o libwaits.so || exit 1
${CC:-cc} -std=c11 -O2 -rdynamic "$ROOT/tests/fake/waits.c" -o waits || exit 1
r() { LD_PRELOAD=$PWD/libwaits.so cpscope record --force "${@:2}" 2> err || cat err; }
sites() { cpscope syncs "$1" --span all --by stack --format csv | cut -d, -f2-5 | sed 's/^[^,]*waits:main/waits:main/'; }
say() { "$@"; echo "status $?"; }
r - --stack-threshold 0s -o slow.sqlite -- ./waits 60000
r - --stack-threshold 0s -o fast.sqlite -- ./waits 0
sites slow.sqlite > slow; sites fast.sqlite > fast
sort slow
sort slow > a; sort fast | diff a - && echo "the fast run has the same"
say cpscope gate fast.sqlite --baseline slow.sqlite --format csv | cut -d, -f1-2
say cpscope gate slow.sqlite --baseline fast.sqlite --format csv | cut -d, -f1-2
echo "- a threshold"
r - --stack-threshold 1h -o fast.sqlite -- ./waits 0
sites fast.sqlite | sort
say cpscope gate fast.sqlite --baseline slow.sqlite 2>&1
say cpscope gate slow.sqlite --baseline fast.sqlite 2>&1
echo "- record and judge in one"
LD_PRELOAD=$PWD/libwaits.so cpscope check --baseline slow.sqlite --format csv -- ./waits 0 2>&1 | cut -d, -f1-2
