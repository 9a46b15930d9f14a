# Nothing of the environment is stored, and no secret of a command line: in the trace, in what a killed program leaves, in exports.
cat > user.c <<'C'
#include "collector/cpscope.h"
#include <signal.h>
#include <string.h>
int main(int argc, char **argv)
{
    cpscope_range_push("work");
    cpscope_range_pop();
    return strcmp(argv[argc - 1], "die") == 0 ? raise(SIGKILL) : 0;
}
C
${CC:-cc} -I"$ROOT" user.c -o user -ldl || exit 1
export HF_TOKEN=hf_from_env AWS_SECRET_ACCESS_KEY=aws_from_env HARMLESS=harmless_from_env
look() { # FILES...: those in which anything stands that should not
    for word in hf_from_env aws_from_env harmless_from_env s3cret hunter2 tok_in_url; do grep -alF "$word" "$@"; done
}
args="--api-key s3cret --password=hunter2 --url https://me:tok_in_url@host/x --lr 0.1"
cpscope record -q -o a.sqlite -- ./user $args fine
cpscope record -q -o s.sqlite -- sh -c "HF_TOKEN=s3cret ./user $args fine; true"
cpscope record -q -o k.sqlite -- ./user $args die
echo "status $?, left: $(ls k.sqlite*)"
look ./*.sqlite*
for t in a s k; do
    echo "$t: $(sqlite3 $t.sqlite "SELECT value FROM meta WHERE key = 'command'") | $(sqlite3 $t.sqlite "SELECT value FROM meta WHERE key = 'process_command'")"
    for to in chrome nsys csv; do cpscope export -q $t.sqlite --to $to -o $t.$to; done
    cpscope info $t.sqlite > $t.info
done
look ./*.chrome ./*.nsys ./*.csv ./*.info
# By hand, without record: the library reads the command line itself.
CPSCOPE_OUT=$PWD/h.sqlite LD_PRELOAD=$BUILD/lib/libcpscope.so ./user $args fine
sqlite3 h.sqlite "SELECT key, value FROM meta WHERE key LIKE '%command'"
look h.sqlite
