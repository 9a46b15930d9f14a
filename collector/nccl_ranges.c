/* nccl_ranges.c - see nccl_ranges.h. The operations of a thread since its last launch add up as those of the profiler do. */
#include "collector/nccl_ranges.h"
#include "collector/nccl_names.h"
#include "collector/nccl_parts.h"
#include "collector/text.h"
#include "schemas/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEEPEST = 32, COMMS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the communicators, by id modulo their number */
static struct {
    int64_t id, ranks;
} comms[COMMS];

static __thread struct {
    struct nccl_work w; /* of the operations that have no launch yet */
    uint64_t launches;  /* launch_last().count before the first of them */
    uint32_t ends;      /* bit k: the range at depth k is a group's end */
    int depth, groups;
    bool several; /* communicators */
} mine __attribute__((tls_model("initial-exec")));

static const char *communicator(int64_t id)
{
    char text[32];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)id);
    return text_keep(text);
}

void nccl_range_ranks(int64_t id, int64_t ranks)
{
    pthread_mutex_lock(&lock);
    comms[(uint64_t)id % COMMS].id = id;
    comms[(uint64_t)id % COMMS].ranks = ranks;
    pthread_mutex_unlock(&lock);
}

/* 0: not known. */
static int ranks_of(int64_t id)
{
    pthread_mutex_lock(&lock);
    int64_t n = comms[(uint64_t)id % COMMS].id == id ? comms[(uint64_t)id % COMMS].ranks : 0;
    pthread_mutex_unlock(&lock);
    return n > 0 && n <= INT32_MAX ? (int)n : 0;
}

void nccl_ranges_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(&mine, 0, sizeof mine);
}

static void begin(int64_t now)
{
    mine.launches = launch_last().count;
    mine.several = false;
    mine.w = (struct nccl_work){.start = now, .end = now, .sequence = -1, .sent = -1, .message_bytes = -1, .peer = -1, .ranks = -1};
    mine.w.tid = (int32_t)syscall(SYS_gettid);
}

static void add(const char *name, const struct nccl_said *said)
{
    const char *group = said->id ? communicator(said->communicator) : NULL, *function = nccl_function(name, -1);
    int ranks = said->id ? ranks_of(said->communicator) : 0;
    int64_t message = nccl_message(function, "int8", said->bytes, ranks);
    if (!mine.w.operations)
        begin(clock_now());
    struct launch l = {.w = mine.w};
    mine.several |= mine.w.operations && mine.w.group != group;
    launch_add(&l, &(struct op){.function = function, .message = message, .sequence = -1, .peer = (int)said->peer});
    mine.w = l.w;
    mine.w.group = mine.several ? NULL : group;
    mine.w.ranks = ranks ? ranks : -1;
}

static bool is(const char *name, const char *what)
{
    return strncmp(name, "nccl", 4) == 0 && strcmp(name + 4, what) == 0;
}

void nccl_range_push(const char *name, const struct nccl_said *said)
{
    bool end = name && is(name, "GroupEnd");
    uint32_t bit = mine.depth < DEEPEST ? UINT32_C(1) << mine.depth : 0;
    mine.ends = end ? mine.ends | bit : mine.ends & ~bit;
    mine.depth++;
    if (name && is(name, "GroupStart"))
        mine.groups++;
    if (name && said && said->bytes >= 0 && strncmp(name, "nccl", 4) == 0 && !nccl_told())
        add(name + 4, said);
}

void nccl_range_pop(struct recorder *r)
{
    if (!mine.depth)
        return;
    mine.depth--;
    bool end = mine.depth < DEEPEST && mine.ends >> mine.depth & 1;
    mine.groups -= end && mine.groups;
    if (mine.groups || !mine.w.operations)
        return;
    struct launched last = launch_last();
    struct nccl_work w = mine.w;
    mine.w.operations = 0;
    w.end = clock_now();
    if (last.count != mine.launches + 1 || mine.several || !launch_put(last.id, &w))
        launch_host_row(r, &w);
}
