#!/usr/bin/env bash
# run.sh - all tests; the last line is "N passed, N failed, N skipped". UPDATE=1 rewrites goldens, LONG=1 adds the long ones,
# UNITS_ONLY=1 leaves the goldens out, THREADS_ONLY=1 runs only the unit tests listed in tests/threads, ONLY=TEXT those whose
# name holds TEXT, JOBS=N so many units at a time.
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

# Runs a unit binary in an empty folder of its own; its output and status stay for judge().
unit() {
    mkdir "$tmp/unit-$1"
    (cd "$tmp/unit-$1" && timeout "${UNIT_TIMEOUT:-300}" "$BUILD/tests/$1" > "$tmp/$1.log" 2>&1)
    echo $? > "$tmp/$1.status"
    rm -rf "$tmp/unit-$1"
}
export -f unit
export tmp

# A unit binary prints TAP: every ok and not ok counts; a binary that dies without a verdict is a failure of its own.
judge() {
    local name=$1 log=$tmp/$1.log rc good wrong skips
    rc=$(cat "$tmp/$1.status")
    skips=$(grep -c '^not ok .*# SKIP' "$log") # as cmocka says it
    good=$(grep -c '^ok ' "$log")
    wrong=$(($(grep -c '^not ok ' "$log") - skips))
    grep '^not ok .*# SKIP' "$log" | sed 's/^not ok [0-9]* # SKIP //' | while read -r line; do echo "skip $name: $line"; done
    passed=$((passed + good)) skipped=$((skipped + skips))
    if [ "$wrong" -gt 0 ]; then
        failed=$((failed + wrong))
        echo "FAIL $name ($wrong)"; grep -v '^ok ' "$log" | sed 's/^/    /' | tail -n 40
    elif [ $rc -ne 0 ] || [ $((good + skips)) -eq 0 ]; then
        bad "$name (exit $rc)" "$log"
    fi
}

# A golden: the script runs in an empty folder of its own; stdout, stderr and what it prints of statuses are exact.
# Exit 77: skipped, the last line says why. A script NAME.sh without NAME.out prints its own verdict by its exit status.
golden() {
    local script=$1 name dir out
    name=$(basename "$script" .sh) dir=$tmp/cli-$name out=$tmp/$name.got
    mkdir -p "$dir"
    (cd "$dir" && timeout "${CLI_TIMEOUT:-300}" bash "$script" > "$out" 2>&1 < /dev/null)
    local rc=$?
    if [ $rc -eq 77 ]; then skip "cli/$name" "$(tail -n 1 "$out")"
    elif [ -f "${script%.sh}.out" ] || [ -n "${UPDATE:-}" ] && ! grep -q '^# verdict: exit status' "$script"; then
        [ -z "${UPDATE:-}" ] || cp "$out" "${script%.sh}.out"
        if diff -u "${script%.sh}.out" "$out" > "$tmp/diff"; then ok "cli/$name"; else bad "cli/$name" "$tmp/diff"; fi
    elif [ $rc -eq 0 ]; then ok "cli/$name"
    else bad "cli/$name (exit $rc)" "$out"; fi
    rm -rf "$dir"
}

units=()
for u in "$root"/tests/unit/test_*.c; do
    n=$(basename "$u" .c)
    [ -z "${THREADS_ONLY:-}" ] || grep -qx "$n" "$root/tests/threads" || continue
    case $n in *$only*) [ -f "$u" ] && [ -z "${UPDATE:-}" ] && units+=("$n") ;; esac
done
# As many at a time as there are cores, then in their order.
[ ${#units[@]} -eq 0 ] || printf '%s\n' "${units[@]}" | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'unit {}'
for n in "${units[@]}"; do judge "$n"; done
scripts=()
[ -n "${UNITS_ONLY:-}" ] || scripts+=("$root"/tests/cli/*.sh)
[ -z "${LONG:-}" ] || scripts+=("$root"/tests/long/*.sh)
for s in "${scripts[@]}"; do
    case $(basename "$s" .sh) in *$only*) [ -f "$s" ] && golden "$s" ;; esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
