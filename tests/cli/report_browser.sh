# The page in a real browser: sorts, filters, fits 375 px, dark and light, contrast, nothing loaded, no error.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "no chromium here"; exit 77; }
python3 "$ROOT/tests/cli/report_traces.py"
cpscope report many.json --baseline before.json -o page.html || exit 1
cp "$ROOT/tests/browser/probe.html" "$ROOT/tests/browser/probe.js" .
probe() {
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" --allow-file-access-from-files \
        --window-size=1400,1000 --virtual-time-budget=20000 "$@" --dump-dom "file://$PWD/probe.html" 2> browser.log |
        python3 -c '
import html, re, sys
m = re.search(r"<pre id=.out.>(.*?)</pre>", sys.stdin.read(), re.S)
print(html.unescape(m.group(1)) if m else "the browser gave no page")'
}
echo "--- light"
probe --blink-settings=preferredColorScheme=1
echo "--- dark"
probe --blink-settings=preferredColorScheme=0 | sed -n 1,3p
