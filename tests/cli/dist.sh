# The archive of make dist, unpacked anywhere, runs and records with nothing but the C library; the library in a recorded program
# gets along with glibc 2.28.
for tool in objdump strip readelf; do command -v $tool > /dev/null || { echo "no $tool"; exit 77; }; done
[ -z "${SAN:-}" ] || { echo "an instrumented program needs its runtime"; exit 77; }
echo "too new for glibc 2.28:" $(objdump -T "$BUILD/lib/libcpscope.so" | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | sed -n '/GLIBC_2\.28/,$p' | grep -v 'GLIBC_2\.28$')
flock "$BUILD/bin" make -s -C "$ROOT" BUILD="$BUILD" dist > log 2>&1 || { tail -n 5 log; exit 1; }
mkdir -p far/away && tar -xzf "$(tail -n 1 log)" -C far/away && mv far/away/cpscope-* far/away/tool || exit 1
find far -type f | grep -v /lib/cpscope/ | sort
bin=$PWD/far/away/tool/bin/cpscope
echo "from elsewhere:" $(env -i ldd "$bin" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | grep -v "^$PWD/far/" | sed 's/.*\///' | grep -vE '^(libc|libm|libdl|libpthread|librt|libresolv)\.so\.|^ld-linux')
${CC:-cc} -I"$PWD/far/away/tool/include" -x c - -o user -ldl <<'C' || exit 1
#include <cpscope.h>
int main(void)
{
    cpscope_range_push("here");
    cpscope_range_pop();
}
C
mkdir w && cd w
env -i "$bin" record -o t.sqlite -- ../user
env -i "$bin" ranges t.sqlite --span all --format csv | cut -d, -f2,3
ls
