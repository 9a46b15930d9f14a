# Looking at a recording that still runs, and at its end, does not disturb it: every event is there afterwards.
cat > busy.c <<'C'
#define _GNU_SOURCE
#include "collector/cpscope.h"
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 200; i++, usleep(10000))
        for (int k = 0; k < 1000; k++) {
            cpscope_range_push("work");
            cpscope_range_pop();
        }
}
C
${CC:-cc} -I"$ROOT" busy.c -o busy -ldl || exit 1
cpscope record -o run.sqlite -- ./busy 2> note &
while kill -0 $! 2> /dev/null; do
    [ ! -e run.sqlite ] || cpscope info run.sqlite > seen 2> err || { echo "refused: $(cat err)"; break; }
done
wait $!
echo "status $?"
cat note
cpscope info run.sqlite --format csv | grep -E '^(events|losses|clean_end),'
ls run.sqlite*
