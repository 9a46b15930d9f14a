#!/usr/bin/env bash
# deps.sh - installs the Debian packages that are missing; says nothing when all are there.
set -u
packages="gcc g++ make libc6-dev libsqlite3-dev sqlite3 libyajl-dev zlib1g-dev libzstd-dev libarchive-dev libxxhash-dev libopenblas-dev libopenmpi-dev openmpi-bin iproute2
    gnuplot-nox libcmocka-dev pmccabe help2man clang-format-14 clang-14 libclang-rt-14-dev python3 time
    libxml2-utils chromium chromium-driver python3-selenium"
missing=
for p in $packages; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing" >&2
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
{ $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends $missing; } > /dev/null ||
    { echo "could not install:$missing" >&2; exit 1; }
