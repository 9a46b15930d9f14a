#!/usr/bin/env bash
# lint.sh - include arrows, function size and complexity, file size, format. Prints what is wrong; exit 1 if anything is.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0
complain() { echo "lint: $*"; bad=1; }
mapfile -t files < <(git ls-files --cached --others --exclude-standard 'schemas/*.[ch]' 'collector/*.[ch]' 'kernels/*.[ch]' 'reports/*.[ch]' 'analyzer/*.[ch]')
mapfile -t tests < <(git ls-files --cached --others --exclude-standard 'tests/*.[ch]' 'tests/*.cc')

# Arrows of the design: who may include whom.
declare -A may=([schemas]="schemas" [collector]="schemas collector" [kernels]="schemas kernels" [reports]="schemas reports"
    [analyzer]="schemas reports analyzer")
for f in "${files[@]}"; do
    layer=${f%%/*}
    for inc in $(sed -n 's/^ *# *include "\([a-z]*\)\/.*/\1/p' "$f" | sort -u); do
        case " ${may[$layer]} " in *" $inc "*) ;; *) complain "$f includes $inc/ against the arrows" ;; esac
    done
done
for f in "${files[@]}" "${tests[@]}"; do
    lines=$(wc -l < "$f")
    [ "$lines" -le 450 ] || complain "$f has $lines lines (450 at most)"
done

# Functions: 60 lines, complexity 12. Unit tests are left out, whose macros are misread.
printf '%s\n' "${files[@]}" "${tests[@]}" | grep -v '^tests/unit/' | grep '\.cc*$' | xargs pmccabe 2>/dev/null | awk -F'\t' '
    { sub(/: .*/, "", $6) } $1 > 12 { print "lint: " $0 ": complexity over 12"; e = 1 } $5 > 60 { print "lint: " $0 ": longer than 60 lines"; e = 1 } END { exit e }' || bad=1

# One style.
fmt=$(command -v clang-format-14 || command -v clang-format) || { complain "clang-format is missing: make deps"; }
[ -z "$fmt" ] || "$fmt" --dry-run -Werror "${files[@]}" "${tests[@]}" 2>&1 | grep -E 'error:' | head -n 20 | { ! grep . ; } || bad=1

# Nothing of one machine in tracked files.
git grep -nIE '(^|[^A-Za-z0-9_.])/(work|root)/' -- . ':!tests/lint.sh' ':!tests/data' | { ! grep . ; } || complain "machine paths"
exit $bad
