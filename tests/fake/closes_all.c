/* closes_all.c - a program that closes every descriptor that it did not open, ours as well, and opens files of its own under their numbers.
 * `closes_all _exit`: and ends without its handlers. */
#include "collector/cpscope.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { FILES = 1000, RANGES = 1000 };

static void ranges(const char *name)
{
    for (int i = 0; i < RANGES; i++) {
        cpscope_range_push(name);
        cpscope_range_pop();
    }
    usleep(300000); /* the writer looks ten times a second */
}

int main(int argc, char **argv)
{
    (void)argv;
    ranges("before");
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
    for (int i = 0; i < FILES; i++) {
        char name[40];
        snprintf(name, sizeof name, "mine.%d", i);
        int fd = open(name, O_CREAT | O_RDWR, 0666);
        dprintf(fd, "hello %d\n", i);
    }
    ranges("after");
    if (argc > 1)
        _exit(5);
    return 5;
}
