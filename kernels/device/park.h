/* park.h - one thread sleeps until another says so, and the other pays for a system call only if it really sleeps.
 *
 *     sleeper                            waker
 *     park_begin(p)   "I may sleep"      publish (sequentially consistent)
 *     if (nothing published)             park_wake(p)
 *         park_sleep(p)
 *     park_end(p)
 *
 * Announcement and publication are both sequentially consistent, so one of the two sides always sees the other.
 */
#pragma once
#include <linux/futex.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word, int threads)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

struct park {
    _Atomic uint32_t asleep;
};

static inline void park_begin(struct park *p)
{
    atomic_store(&p->asleep, 1);
}

/* May return for no reason: look again. */
static inline void park_sleep(struct park *p)
{
    futex_wait(&p->asleep, 1);
}

static inline void park_end(struct park *p)
{
    atomic_store_explicit(&p->asleep, 0, memory_order_relaxed);
}

static inline void park_wake(struct park *p)
{
    if (atomic_load(&p->asleep) && atomic_exchange(&p->asleep, 0))
        futex_wake(&p->asleep, 1);
}

static inline void park_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}
