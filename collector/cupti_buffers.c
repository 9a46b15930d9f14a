/* cupti_buffers.c - see cupti_buffers.h. */
#include "collector/cupti_buffers.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { DISCARD_BYTES = 1 << 18, NONE = -1 };

static uint8_t *base;
static uint8_t discard[DISCARD_BYTES] __attribute__((aligned(8)));
static bool may_refuse;
static _Atomic bool taken[BUFFERS];
static _Atomic int64_t refused;

/* Completed ones: a stack that any thread pushes to; the parser takes it whole and turns it round. */
static struct {
    size_t valid;
    int next;
} links[BUFFERS];
static _Atomic int pushed = NONE;
static int ordered = NONE; /* of the parser: the oldest first */

bool buffers_open(bool none_ok)
{
    if (!base) {
        void *m = mmap(NULL, (size_t)BUFFER_BYTES * BUFFERS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        base = m == MAP_FAILED ? NULL : m;
    }
    may_refuse = none_ok;
    return base != NULL;
}

void buffers_request(uint8_t **buffer, size_t *size, size_t *records)
{
    *records = 0; /* as many as fit */
    for (int i = 0; i < BUFFERS; i++)
        if (!atomic_exchange(&taken[i], true)) {
            *buffer = base + (size_t)i * BUFFER_BYTES;
            *size = BUFFER_BYTES;
            return;
        }
    atomic_fetch_add(&refused, 1);
    *buffer = may_refuse ? NULL : discard;
    *size = may_refuse ? 0 : DISCARD_BYTES;
}

void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context, (void)stream, (void)size;
    if (buffer < base || buffer >= base + (size_t)BUFFERS * BUFFER_BYTES)
        return; /* the one that is not read */
    int i = (int)((size_t)(buffer - base) / BUFFER_BYTES), head = atomic_load(&pushed);
    links[i].valid = valid <= BUFFER_BYTES ? valid : BUFFER_BYTES;
    do
        links[i].next = head;
    while (!atomic_compare_exchange_weak(&pushed, &head, i));
}

bool buffers_next(struct cupti_full *f)
{
    if (ordered == NONE) {
        int i = atomic_exchange(&pushed, NONE);
        while (i != NONE) {
            int next = links[i].next;
            links[i].next = ordered;
            ordered = i;
            i = next;
        }
    }
    if (ordered == NONE)
        return false;
    *f = (struct cupti_full){base + (size_t)ordered * BUFFER_BYTES, links[ordered].valid};
    ordered = links[ordered].next;
    return true;
}

void buffers_give(const struct cupti_full *f)
{
    memset(f->data, 0, f->valid);
    atomic_store(&taken[(size_t)(f->data - base) / BUFFER_BYTES], false);
}

int64_t buffers_refused(void)
{
    return atomic_exchange(&refused, 0);
}
