/* waits.c - a program with sync_lib.c in front of it that waits at a few places, each time as long as it is told: waits NS. */
#include <stdint.h>
#include <stdlib.h>

void wait_ns(int64_t ns) __attribute__((weak));

__attribute__((noinline)) static void item(int64_t ns)
{
    wait_ns(ns);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void layer(int64_t ns)
{
    for (int i = 0; i < 5; i++)
        item(ns);
    wait_ns(ns);
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    int64_t ns = argc > 1 ? atoll(argv[1]) : 0;
    for (int i = 0; i < 20; i++)
        layer(ns);
    wait_ns(ns);
    return 0;
}
