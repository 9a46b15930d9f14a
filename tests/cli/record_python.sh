# Waits of a Python program come out with the lines that made them; for every Python that is here and can be read.
${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$ROOT" -shared -fPIC "$ROOT/tests/fake/sync_lib.c" -o libwaits.so || exit 1
cp "$ROOT/tests/fake/python_waits.py" waits.py
readable() { "$1" -c 'import sys, ctypes; sys.exit(not (3, 11) <= sys.version_info < (3, 14) or "free-threading" in sys.version)' 2> /dev/null; }
lines() {
    rm -f p.sqlite*
    LD_PRELOAD=$PWD/libwaits.so cpscope record -o p.sqlite "$@" 2>&1
    for by in function line; do cpscope syncs p.sqlite --span all --by $by --format csv | cut -d, -f2,4,5 | sed 's/^cli-[^/]*\///; s/^[^,]*\/waits.py/waits.py/' | LC_ALL=C sort; done
}
tried=0
for p in python3 python3.11 python3.12 python3.13 ~/.pyenv/versions/3.1[123].*/bin/python3; do
    readable "$p" || continue
    lines -- "$p" waits.py > got
    if [ $tried = 0 ]; then mv got first; else cmp -s got first || { echo "$p differs:"; diff first got; }; fi
    tried=$((tried + 1))
done
[ $tried -gt 0 ] || { echo "no Python 3.11, 3.12 or 3.13"; exit 77; }
cat first
echo "- the depth of the deepest stack, frames of Python"
sqlite3 p.sqlite "SELECT max(n) FROM (SELECT count(*) AS n FROM frame f JOIN site s ON s.id = f.site WHERE s.line > 0 GROUP BY stack)"
echo "- by hand: a threshold for all, one for none, no lines"
lines --stack-threshold 0s -- python3 waits.py | grep '<module>'
lines --stack-threshold 1s -- python3 waits.py | grep stream
lines --no-python -- python3 waits.py | grep -c waits.py
echo "- the view that Nsight has"
rm -f p.sqlite*
LD_PRELOAD=$PWD/libwaits.so cpscope record -o p.sqlite -- python3 waits.py
sqlite3 p.sqlite "SELECT x.value, m.value, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUDA_CALLCHAINS c ON c.id = r.callchainId
    JOIN StringIds x ON x.id = c.symbol JOIN StringIds m ON m.id = c.module WHERE c.stackDepth = 0 GROUP BY 1, 2"
