# A page of a million events: small, soon written, soon there. Costs are ratios within this run, never seconds.
cpscope record -o run.sqlite -- cpbench run --device cpu --mode gdn.chunkwise --cp 4 --layers 8 --microbatches 10 --recompute full --tokens 512 \
    --seqs 256,256 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8 --route naive > bench.csv 2> record.log || { cat record.log; exit 1; }
events=$(cpscope info run.sqlite --format csv | sed -n 's/^events,//p')
[ "$events" -gt 990000 ] || { echo "only $events events"; exit 1; }
TIMEFORMAT='%U'
cpu() { { time "$@" > out 2>&1; } 2>&1; }
one=$(cpu cpscope summary run.sqlite) page=$(cpu cpscope report run.sqlite -o page.html)
awk "BEGIN {exit !($page < 20 * $one)}" || { echo "the page costs $page s of CPU, one table $one s"; exit 1; }
[ "$(stat -c %s page.html)" -lt 2000000 ] || { echo "the page has $(stat -c %s page.html) bytes"; exit 1; }
echo "a million events: under 2 MB, for less than twenty tables"
BROWSER=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "written, not opened: no chromium here"; exit 77; }
DRIVER=$(command -v chromedriver) || { echo "written, not opened: no chromedriver here"; exit 77; }
export BROWSER DRIVER
for python in python3 /usr/bin/python3; do "$python" -c 'import selenium' 2> python.log && break; python=; done
[ "$python" ] || { echo "written, not opened: no selenium for python3 here"; exit 77; }
timeout 800 "$python" "$ROOT/tests/browser/browse.py" speed page.html 2> speed.log || cat speed.log
