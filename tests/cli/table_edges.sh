# What every command has in common at its edges: pipes given as traces, -q, -o onto an input, help onto a full disk.
f=$DATA/analyzer/two_devices.json
try() {
    timeout 600 cpscope "$@" > out 2> err
    echo "status $? stdout $(wc -c < out) $(sed "s|$DATA/analyzer/||g" err)"
    rm -f out err
}
mkfifo pipe
for c in summary info explain "export --to csv" "plot steps -o p.svg" "report -o p.html" gate "import -o t.db" "import $f -o t.db"; do
    # shellcheck disable=SC2086
    try $c pipe
done
try diff pipe "$f"
try recover pipe
try gate "$f" --baseline pipe
try report "$f" --baseline pipe -o p.html
cpscope gate "$f" --update-baseline baseline
cat baseline > pipe & # a writer that is there: no verdict without a baseline either
try gate "$f" --baseline pipe
cat pipe > /dev/null # the writer's other end
wait
rm pipe baseline

echo '-- -q'
head -c 2000 "$f" > cut.json
cp cut.json cut2.json
for c in summary info "explain --span all" "export --to csv" "gate --update-baseline b" "import --force -o t.db"; do
    # shellcheck disable=SC2086
    cpscope $c cut.json 2>&1 > /dev/null | grep -c warning
    # shellcheck disable=SC2086
    cpscope $c cut.json -q 2>&1 > /dev/null | grep -c warning
done
cpscope diff cut.json cut2.json 2>&1 > /dev/null | grep -c warning
cpscope diff cut.json cut2.json -q 2>&1 > /dev/null | grep -c warning
rm -f b t.db

echo '-- -o onto what is read'
cp "$f" trace.json
ln trace.json same.svg
mkdir job
cp "$DATA"/analyzer/rank?.json job
tar czf job.tar.gz job
for c in summary info explain "export --to csv --force" "report" "gate" "import --force"; do
    # shellcheck disable=SC2086
    try $c trace.json -o trace.json
done
try gate trace.json --update-baseline ./trace.json
try plot steps trace.json -o same.svg
try explain job -o job/rank0.json
try summary job.tar.gz -o job.tar.gz
try import job -o job/rank1.json --force
try export job --to chrome -o job/rank1.json --force
cmp "$f" trace.json && cmp "$DATA/analyzer/rank1.json" job/rank1.json && tar tzf job.tar.gz > /dev/null && echo 'all are whole'

echo '-- values'
try summary "$f" --rank -1
try summary "$f" --device -1
try summary "$f" --top -1
try diff "$f" trace.json --ledger bogus
try summary "$f" --format junit
for p in "cpscope summary" "cpscope gate" "cpscope check"; do
    $p --help | grep -c junit
done

echo '-- help that cannot be written'
for c in "cpscope --help" "cpscope summary --help" "cpscope help syncs" "cpscope record --usage" "cpscope import --version" "cpbench --help" "cpbench run --help" \
    "cpbench verify --version"; do
    $c > /dev/full
    echo "status $?"
done
cpbench run --version | sed 's/[0-9.]*$/N/'
cpscope import --version | sed 's/[0-9.]*$/N/'
rm -r same.svg job
find . | sort
