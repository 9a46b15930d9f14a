#!/usr/bin/env bash
# run.sh - every benchmark of this folder (ONLY=name picks some). Figures are for reading: nothing here can fail a build,
# and ratios within one run say more than times, for machines are noisy.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export ROOT=${here%/tests/bench} BUILD=${BUILD:-${here%/tests/bench}/build} LC_ALL=C OPENBLAS_NUM_THREADS=1
export PATH=$BUILD/bin:$PATH
for b in "$here"/*.sh; do
    name=$(basename "$b" .sh)
    [ "$name" != run ] || continue
    case $name in *${ONLY:-}*) echo "== $name"; bash "$b" || echo "($name did not finish)" ;; esac
done
