#!/usr/bin/env bash
# run.sh - all tests; the last line is "N passed, N failed, N skipped". UPDATE=1 rewrites goldens, LONG=1 adds the long ones,
# UNITS_ONLY=1 leaves the goldens out, THREADS_ONLY=1 runs only the unit tests listed in tests/threads, ONLY=TEXT those whose
# name holds TEXT, JOBS=N so many tests at a time [as there are cores], CASES=K one of K random cases (unit.h), TIMES=1 the CPU
# time of each, longest first.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$root/build}
export BUILD ROOT=$root DATA=$root/tests/data PATH=$BUILD/bin:$PATH LC_ALL=C TZ=UTC
export OPENBLAS_NUM_THREADS=1
# cpscope record puts a plain library before the sanitizer's in an instrumented program: that is fine, and must not end it.
export ASAN_OPTIONS=${ASAN_OPTIONS:-verify_asan_link_order=0}
only=${ONLY:-}
passed=0 failed=0 skipped=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpscope-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT

ok() { passed=$((passed + 1)); [ -z "${VERBOSE:-}" ] || echo "ok $1"; }
bad() { failed=$((failed + 1)); echo "FAIL $1"; [ ! -f "$2" ] || sed 's/^/    /' "$2" | tail -n 40; }
skip() { skipped=$((skipped + 1)); echo "skip $1: $2"; }

# No test looks whether these are there: it would be skipped for a build that failed.
for f in bin/cpscope bin/cpbench lib/libcpscope.so; do [ -e "$BUILD/$f" ] || { echo "$BUILD/$f is not built (make tests)" > "$tmp/missing"; bad build "$tmp/missing"; }; done

# A test runs in an empty folder of its own; its output, status and CPU time stay for the verdict.
# run_test NAME COMMAND ARGUMENTS...
run_test() {
    local name=$1 TIMEFORMAT='%U %S'
    shift
    mkdir "$tmp/$name"
    { time (cd "$tmp/$name" && "$@" > "$tmp/$name.log" 2>&1 < /dev/null); } 2> "$tmp/$name.time"
    echo $? > "$tmp/$name.status"
    rm -rf "$tmp/$name"
}
unit() { run_test "$1" timeout "${UNIT_TIMEOUT:-900}" "$BUILD/tests/$1"; }
script() { run_test "${1//\//-}" timeout "${CLI_TIMEOUT:-900}" bash "$ROOT/tests/$1.sh"; }
export -f run_test unit script
export tmp

# at_once FUNCTION NAMES...: as many at a time as there are cores.
at_once() {
    local what=$1
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c "$what {}"
}

# A unit binary prints TAP: every ok and not ok counts; a binary that dies without a verdict is a failure of its own.
judge() {
    local name=$1 log=$tmp/$1.log rc good wrong skips
    rc=$(cat "$tmp/$1.status")
    skips=$(grep -c '^not ok .*# SKIP' "$log") # as cmocka says it
    good=$(grep -c '^ok ' "$log")
    wrong=$(($(grep -c '^not ok ' "$log") - skips))
    awk -v unit="$name" '/^# skipped: / { why = substr($0, 11) } /^not ok .*# SKIP / { sub(/.*# SKIP /, ""); print "skip " unit ": " $0 ":" why; why = "" }' "$log"
    passed=$((passed + good)) skipped=$((skipped + skips))
    if [ "$wrong" -gt 0 ]; then
        failed=$((failed + wrong))
        echo "FAIL $name ($wrong)"; grep -v '^ok ' "$log" | sed 's/^/    /' | tail -n 40
    elif [ $rc -ne 0 ] || [ $((good + skips)) -eq 0 ]; then
        bad "$name (exit $rc)" "$log"
    fi
}

# A golden: stdout, stderr and what the script prints of statuses are exact. Exit 77: skipped, the last line says why.
# A script NAME.sh without NAME.out gives its own verdict by its exit status.
golden() {
    local name=$1 script=$root/tests/$1.sh want=$root/tests/$1.out got=$tmp/${1//\//-}.log rc
    rc=$(cat "${got%.log}.status")
    if [ "$rc" -eq 77 ]; then skip "$name" "$(tail -n 1 "$got")"
    elif [ -f "$want" ] || [ -n "${UPDATE:-}" ] && ! grep -q '^# verdict: exit status' "$script"; then
        [ -z "${UPDATE:-}" ] || cp "$got" "$want"
        if diff -u "$want" "$got" > "$tmp/diff"; then ok "$name"; else bad "$name" "$tmp/diff"; fi
    elif [ "$rc" -eq 0 ]; then ok "$name"
    else bad "$name (exit $rc)" "$got"; fi
}

units=()
for u in "$root"/tests/unit/test_*.c; do
    n=$(basename "$u" .c)
    [ -z "${THREADS_ONLY:-}" ] || grep -qx "$n" "$root/tests/threads" || continue
    [[ $n == *$only* && -z ${UPDATE:-} ]] || continue
    if [[ $n == test_cuda_* && -n ${SAN:-} ]]; then skip "$n" "the stand-in for a GPU has no sanitizer in it"; else units+=("$n"); fi
done
folders=()
[ -n "${UNITS_ONLY:-}" ] || folders+=(cli)
[ -z "${LONG:-}" ] || folders+=(long)
goldens=()
for folder in "${folders[@]}"; do
    for s in "$root/tests/$folder"/*.sh; do
        case $(basename "$s" .sh) in *$only*) [ -f "$s" ] && goldens+=("$folder/$(basename "$s" .sh)") ;; esac
    done
done

at_once unit "${units[@]}"
for n in "${units[@]}"; do judge "$n"; done
at_once script "${goldens[@]}"
for n in "${goldens[@]}"; do golden "$n"; done
if [ -n "${TIMES:-}" ]; then
    (cd "$tmp" && for t in *.time; do echo "$(tail -n 1 "$t") ${t%.time}"; done) | awk '{ printf "%7.2f s  %s\n", $1 + $2, $3 }' | sort -rn
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
