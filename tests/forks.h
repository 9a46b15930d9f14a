/* forks.h - what a sanitizer cannot see in the children of a program with threads. */
#pragma once
#include "unit.h"

static inline void needs_threads_in_children(void)
{
#ifdef __SANITIZE_THREAD__
    skip_because("the thread sanitizer lets no thread start in the child of a program with threads");
#endif
}

/* While the writer's thread allocates. */
static inline void needs_forks_of_threads(void)
{
    needs_threads_in_children();
#ifdef __SANITIZE_ADDRESS__
    skip_because("the address sanitizer's allocator stays locked in the child when another thread was in it; glibc's does not");
#endif
}
