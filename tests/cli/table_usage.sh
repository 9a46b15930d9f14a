# A wrong command line: one line that names the option, what is wrong and the cure; status 2, nothing on stdout. Of every command.
f=$DATA/analyzer/two_devices.json
cp "$f" t.json
try() {
    cpscope "$@" > out 2> err
    echo "$* -> $? stdout $(wc -c < out) $(cat err)"
}
try summary --nosuch
try summary --formt csv t.json
try summary --formt=csv t.json
try summary --ra 0 t.json
try summary -x t.json
try summary -qx t.json
try summary -q -x t.json
try summary -q=1 t.json
try summary --quiet=1 t.json
try summary --help=1
try summary t.json --rank
try summary -o
try summary -qo
try summary t.json -f
try summary --rank x t.json
try summary --from 12 t.json
try summary
try summary -q
try summary -- --nosuch
try syncs --bye line t.json
try diff t.json
try diff t.json t.json t.json
try record -x -- true
try record --forse -- true
try record
try check --repeat
try export t.json --too chrome
cpbench run --nosuch 1; echo "status $?"
cpbench run --mode; echo "status $?"
cpbench run --mod; echo "status $?"
cpbench run --cp=2 --stepz 3; echo "status $?"
# short forms of long names, values of both kinds, letters in one word
cpscope summary t.json --span=gpu --form csv --top 1 -qf csv | wc -l
# every command and every table: status 2 and one line; help and version: status 0, nothing on stderr
one_line() {
    "$@" > out 2> err < /dev/null
    rc=$?
    [ $rc -eq 2 ] && [ ! -s out ] && [ "$(wc -l < err)" -eq 1 ] || echo "$*: status $rc: $(cat err)"
}
told() {
    "$@" > out 2> err < /dev/null
    rc=$?
    [ $rc -eq 0 ] && [ -s out ] && [ ! -s err ] || echo "$*: status $rc: $(cat err)"
}
n=0
for c in $(cpscope --help | awk '/^  [a-z]/ {print "cpscope:" $1}') $(cpbench --help | awk '/^  [a-z]/ {print "cpbench:" $1}'); do
    n=$((n + 1))
    one_line "${c%:*}" "${c#*:}" --no-such-option
    told "${c%:*}" "${c#*:}" --help
    told "${c%:*}" "${c#*:}" --version
done
[ $n -gt 30 ] && echo "all commands" || echo "only $n commands"
