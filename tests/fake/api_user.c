/* api_user.c - a program that uses cpscope.h; it does the same whether it is recorded or not. */
#include "collector/cpscope.h"

#include <stdio.h>

int main(void)
{
    char name[32];
    for (int n = 0; n < 5; n++) {
        cpscope_step(n);
        cpscope_mark("cpscope.batch tokens=64 sequences=2");
        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "layer#%d", i);
            cpscope_range_push(name);
            cpscope_range_push("forward");
            cpscope_range_pop();
            cpscope_range_pop();
        }
    }
    cpscope_step_end();
    puts(*cpscope_version() ? "recorded" : "not recorded");
    return 0;
}
