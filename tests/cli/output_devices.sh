# -o onto a device or a pipe writes there and leaves it what it is; onto the trace that is read, or onto a folder, it is refused.
f=$DATA/analyzer/two_devices.json
try() {
    timeout 600 cpscope "$@" > out 2> err
    echo "status $? stdout $(wc -c < out) $(sed "s|$DATA/analyzer/||g" err)"
    rm -f out err
}
mkfifo pipe
cat pipe > got &
try summary "$f" --format csv -o pipe
wait
[ -p pipe ] && head -c 20 got && echo
ln -s /dev/full full # renaming a file onto the link would leave a file here, and a full disk unseen
try summary "$f" -o full
try report "$f" -o full
try gate "$f" --update-baseline full
try import "$f" --force -o pipe
[ -L full ] && [ -p pipe ] && echo 'both are still what they were'
cp "$f" trace.json
try summary trace.json -o trace.json
try diff "$f" trace.json -o trace.json
try report "$f" --baseline trace.json -o ./trace.json
ln trace.json plot.svg
try plot breakdown trace.json -o plot.svg
cmp "$f" trace.json && echo 'the trace is whole'
mkdir folder
try summary "$f" -o folder
try summary pipe
rm -f got pipe full plot.svg
find . | sort
