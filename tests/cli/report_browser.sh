# The page in a real browser: sorts, filters, zooms, by pointer and by keys; narrow, dark, on paper, spoken; nothing is loaded.
BROWSER=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "no chromium here"; exit 77; }
DRIVER=$(command -v chromedriver) || { echo "no chromedriver here"; exit 77; }
export BROWSER DRIVER
for python in python3 /usr/bin/python3; do "$python" -c 'import selenium' 2> python.log && break; python=; done
[ "$python" ] || { echo "no selenium for python3 here"; exit 77; }
browse() { timeout 800 "$python" "$ROOT/tests/browser/browse.py" "$@" 2> browse.log || { echo "the browser failed"; tail -n 3 browse.log; }; }
python3 "$ROOT/tests/cli/report_traces.py"
cpscope report many.json --baseline before.json --source https://example.org/r/blob/c -o page.html || exit 1
browse read page.html
echo "--- hostile names"
cpscope report evil.json -o evil.html && browse inert evil.html
