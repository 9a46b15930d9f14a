# What the options of record leave out: by kind, by time, by range and step, by size, and while it is switched off.
${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" "$ROOT/tests/fake/emitter.c" "$ROOT/schemas/event.c" -o emitter -pthread -rdynamic || exit 1
cat > talk.c <<'C'
#include "collector/cpscope.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
/* Lines of standard input: "step N", "push NAME", "pop", "range NAME", "kill"; each is answered. */
int main(void)
{
    char line[200], name[200];
    int n;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "step %d", &n) == 1)
            cpscope_step(n);
        if (sscanf(line, "push %199s", name) == 1 || sscanf(line, "range %199s", name) == 1)
            cpscope_range_push(name);
        if (!strcmp(line, "kill\n"))
            raise(SIGKILL);
        if (!strcmp(line, "pop\n") || !strncmp(line, "range", 5))
            cpscope_range_pop();
        puts("done");
        fflush(stdout);
    }
}
C
${CC:-cc} -I"$ROOT" talk.c -o talk -ldl || exit 1
r() { rm -f a.sqlite*; cpscope record -o a.sqlite "$@" > out 2> err; echo "status $?"; grep -v -e '^emitter:' -e ': wrote a.sqlite' err; }
kinds() { sqlite3 a.sqlite "SELECT k.name, count(*), sum(y.event IS NOT NULL) FROM event e JOIN event_kind k ON k.id = e.kind
    LEFT JOIN sync y ON y.event = e.id GROUP BY 1 ORDER BY 1" | tr '\n' ' '; echo; }
names() { echo "ranges:" $(sqlite3 a.sqlite "SELECT s.value FROM event e JOIN string s ON s.id = e.name ORDER BY e.start, e.\"end\" DESC"); }
meta() { sqlite3 a.sqlite "SELECT value FROM meta WHERE key = '$1'"; }

echo "- kinds: of six events one is a kernel, a copy, a range, an op, a call, a call that waits"
r -- ./emitter -n 600; kinds
r --kinds kernel,range -- ./emitter -n 600; kinds; meta record_kinds
CPSCOPE_KINDS=op r -- ./emitter -n 600; kinds
CPSCOPE_KINDS=op r --kinds memcpy -- ./emitter -n 600; kinds
echo "- lite: what waits, ranges and ops"
r --lite -- ./emitter -n 600; kinds
CPSCOPE_LITE=1 r -- ./emitter -n 600; kinds
cpscope info a.sqlite | grep not_recorded
echo "- delay and duration"
r --delay 300ms --duration 400ms -- ./emitter -r 2000 -s 1.5
sqlite3 a.sqlite "SELECT count(*) > 0, min(\"end\") >= 300000000, max(start) <= 700000000 FROM event; SELECT count(*) FROM meta WHERE key = 'clean_end'"
echo "- duration, and a program that goes on"
r --duration 100ms -- ./emitter -r 2000 -s 3
sqlite3 a.sqlite "SELECT count(*) > 0, max(start) <= 100000000 FROM event"
meta record_stopped
echo "- steps and ranges"
lines() { for i in 0 1 2 3 4; do printf 'step %d\npush layer%d\nrange forward\nrange backward\npop\n' $i $i; done; }
lines > in
r --steps 1:2 -- ./talk < in; names
CPSCOPE_STEPS=3 r -- ./talk < in; names
r --range '^layer[34]$' -- ./talk < in; names
r --range back -- ./talk < in; names
r --range nothing -- ./talk < in
echo "- max-size"
within() { size=$(stat -c %s a.sqlite); [ "$size" -gt $(($1 - 131072)) ] && [ "$size" -le "$1" ] || echo "the file has $size bytes of $1"; }
(for i in {1..2000}; do printf 'range %0190d\n' $i; done) > in
r --max-size 512k -- ./talk < in
within 524288
r --max-size 1M -- ./emitter -n 3000000
within 1048576
meta record_stopped
sqlite3 a.sqlite "SELECT reason, count FROM loss; SELECT value FROM meta WHERE key = 'clean_end'; SELECT count(*) > 1000 FROM event"
tail -n 1 out
echo "- control"
mkfifo to from
rm -f a.sqlite*
cpscope record -o a.sqlite --control 'here.%q{TAG}' --paused -- ./talk < to > from 2> err &
exec 3> to 4< from
say() { echo "$1" >&3; read -r _ <&4; }
say "range no"
cpscope control here. status
say "range never"
cpscope control here. start
say "range first"
say "range second"
cpscope control here. stop
say "range lost"
cpscope control here. start
say "push third"
say "pop"
cpscope control here. go; echo "status $?"
exec 3>&-
wait $!
echo "status $?"
names
ls here.* 2> /dev/null
cpscope control here. status; echo "status $?"
printf 'range first\nkill\n' > in
r --control 'here.%p' -- ./talk < in
{ CPSCOPE_OUT="$PWD/b.sqlite" CPSCOPE_CONTROL="$PWD/here" LD_PRELOAD="$BUILD/lib/libcpscope.so" ./talk < in > out; } 2> /dev/null
ls here*
for i in 1 2; do cpscope control here status; echo "status $?"; done
rm b.sqlite*
echo "- refused"
no() { cpscope record "$@" -- true; echo "status $?"; }
no --steps x
no --steps 3:2
no --range '('
no --max-size 3X
no --max-size 511k
no --paused
no() { cpscope record "$@" -- true 2>&1 | sed "s,$PWD/,,"; echo "status ${PIPESTATUS[0]}"; }
no --control ''
no --control 'a%z'
no --control no/folder/at
no --control talk.c
no --control "$(printf 'x%.0s' {1..90})/../$(printf 'y%.0s' {1..30})" | sed 's/xx*/x.../'
cpscope record -q -o b.sqlite --control other -- ./talk < to > from & # its socket is not taken away from it
exec 3> to 4< from
say "range one"
no --control other
cpscope control other status
exec 3>&-
wait $!
# What cannot be told before the program runs is told in it, and a recording that nothing could start begins by itself.
printf 'range first\n' > in
r --control 'no/folder/%p' --paused -- ./talk < in 2>&1 | sed "s,$PWD/,,; s,/[0-9]*:,/PID:,"; names
CPSCOPE_DELAY=soon no
echo "- variables by hand, without record"
hand() { # VARIABLE=VALUE
    rm -f h.sqlite*
    env "$1" CPSCOPE_OUT="$PWD/h.sqlite" LD_PRELOAD="$BUILD/lib/libcpscope.so" ./emitter -n 600 2> err > out
    grep '^cpscope: ' err
    echo "$1: $(sqlite3 h.sqlite "SELECT count(*) FROM event") events, degraded: $(sqlite3 h.sqlite "SELECT value FROM meta WHERE key = 'degraded'")"
}
for v in DELAY=soon DELAY= STEPS= STEPS=:5 STEPS=3:2 MAX_SIZE=64k MAX_SIZE=3X KINDS=op,foo STACK_THRESHOLD=-1 'RANGE=('; do hand "CPSCOPE_$v"; done
