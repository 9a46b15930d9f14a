#!/usr/bin/env bash
# dist.sh - one archive with cpscope and its library that runs from any folder, without root: BUILD/cpscope-VERSION-MACHINE.tar.gz.
# What cpscope needs beyond the C library comes along in lib/cpscope, where it looks first.
set -eu
build=$1 root=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/.*CPSCOPE_VERSION "\(.*\)"/\1/p' "$root/schemas/version.h")
name=cpscope-$version-$(uname -m) stage=$build/dist
rm -rf "$stage"
mkdir -p "$stage/$name/bin" "$stage/$name/lib/cpscope" "$stage/$name/include" "$stage/$name/share/cpscope"
cd "$stage/$name"
install -m755 -s "$build/bin/cpscope" bin
install -m755 "$build/lib/libcpscope.so" lib
strip --strip-debug lib/libcpscope.so
install -m644 "$root/collector/cpscope.h" include
install -m644 "$root/reports/default.rules" "$root/README.md" "$root/LICENSE" share/cpscope
# The C library and what belongs to it stay the system's: they must fit one another.
ldd bin/cpscope | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r lib; do
    case $(basename "$lib") in
        libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) ;;
        *) install -m644 "$lib" lib/cpscope/ ;;
    esac
done
newest() { objdump -T "$@" 2> /dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1 | sed s/GLIBC_//; }
{
    echo "Unpack anywhere; bin/cpscope finds the rest beside it."
    echo "cpscope needs glibc $(newest bin/cpscope lib/cpscope/*), the library in a recorded program glibc $(newest lib/libcpscope.so)."
} > README
cd ..
tar -czf "$build/$name.tar.gz" --owner=0 --group=0 --sort=name "$name"
rm -rf "$stage"
echo "$build/$name.tar.gz"
