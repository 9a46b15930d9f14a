# The CI examples, run as the shell that their jobs run: green on the good program, red on the one with new syncs.
export TMPDIR=$PWD GITHUB_STEP_SUMMARY=$PWD/summary.md GITHUB_SERVER_URL=https://example.org GITHUB_REPOSITORY=o/r GITHUB_SHA=abc
export CI_PROJECT_URL=https://example.com/o/r CI_COMMIT_SHA=def
bench="cpbench run --device cpu --mode gdn.chunkwise --cp 2 --tokens 256 --seqs 256 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8 --route"
cpscope record -o good.sqlite --stack-threshold 0s -- $bench interval > /dev/null 2>&1
cpscope gate good.sqlite --update-baseline sync.baseline
github() { python3 - "$1" <<'PY'
import sys
text = open(sys.argv[1]).read().split('\n')
out, indent = [], None
for l in text:
    if l.strip() == 'run: |':
        indent = len(l) - len(l.lstrip()) + 2
    elif indent is not None and l.strip() and len(l) - len(l.lstrip()) >= indent:
        out.append(l.strip())
    elif l.strip():
        indent = None
print('\n'.join(out[:int(sys.argv[2])] if len(sys.argv) > 2 else out))
PY
}
gitlab() { sed -nE "/^  $2:/,/^  [a-z]/"'s/^    - (.*)/\1/p' "$1"; }
verdict() { grep -o '<p class="word">[^<]*' report.html; grep -q "href=\"$1/kernels/layout/[a-z_]*.c#L[0-9]*\"" report.html && echo "places lead to the source"; rm report.html; }
for route in interval naive; do
    export PROGRAM="$bench $route"
    github "$ROOT/reports/ci/github.yml" > job.sh
    bash -e <(head -n 1 job.sh) > annotations 2> /dev/null; echo "github $route: status $?"
    grep -c '^::error file=kernels/layout/' annotations
    bash -e <(tail -n +2 job.sh) 2> /dev/null; echo "summary: status $?"
    grep -c '^|' summary.md > /dev/null && verdict https://example.org/o/r/blob/abc
    rm -f run.sqlite summary.md
    gitlab "$ROOT/reports/ci/gitlab.yml" script > job.sh
    bash -e job.sh > /dev/null 2>&1; echo "gitlab $route: status $?"
    gitlab "$ROOT/reports/ci/gitlab.yml" after_script > job.sh
    bash -e job.sh 2> /dev/null && verdict https://example.com/o/r/-/blob/def
    python3 -c "import xml.etree.ElementTree as E; print(len(list(E.parse('gate.xml').getroot().iter('failure'))), 'failures')"
    rm -f run.sqlite
done
