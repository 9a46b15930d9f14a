#!/usr/bin/env bash
# kernel_names.sh COMPILER FLAGS... - the name of every struct kernel in kernels/, one a line. By the compiler, as names are put
# together by macros: what the preprocessor gives is searched for definitions.
set -euo pipefail
cd "$(dirname "$0")/.."
grep -rlE 'struct kernel |OP_DEFINE|OP_KERNEL|[A-Z]_OP\(|ELEMENTWISE\(|BODY\(' --include='*.c' kernels | sort | while read -r f; do "$@" -std=c11 -E -P "$f"; done |
    tr '\n' ' ' | grep -oE 'const struct kernel [A-Za-z0-9_]+(\[\])? *= *\{[^;]*;' | sed 's/" *"//g' | grep -oE '\{ *"[^"]*"' | sed 's/.*"\(.*\)"/\1/' | sort -u
