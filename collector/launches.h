/* launches.h - which launch a kernel came from, and what NCCL said about it.
 *
 *   host thread    --NCCL: KernelLaunch start-- |cuLaunchKernelEx: id 17| --stop-- ... --NCCL: its operations, seq, peers--
 *                                                     |                                    |
 *                                              launch_note(17)            launch_put(17, operations)
 *   device         ..................................[ kernel, id 17 ] <--launch_take(17)--'
 *
 * The id is the driver's correlation id, known before the kernel can end; a kernel's record that comes earlier than NCCL's last
 * word waits (launch_take says so).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The latest launch of the calling thread. */
struct launched {
    uint64_t count; /* so far; 0: none yet */
    uint32_t id;
};
struct launched launch_last(void);
void launch_note(uint32_t id);

/* The launches of a thread in their order, while it listens; those after the first LAUNCHES_MOST are only counted. */
enum { LAUNCHES_MOST = 64 };
struct launch_list {
    size_t n;
    struct launch_item {
        uint32_t id;
        uint64_t node; /* of the graph that it was captured into; 0: it was not */
    } v[LAUNCHES_MOST];
};
void launch_listen(struct launch_list *l); /* the calling thread's; NULL: no more */
void launch_captured(uint64_t node);       /* the calling thread's latest launch became that node */

/* What one kernel carries: one operation of NCCL, or several fused into one. Texts are kept or static. */
struct nccl_work {
    int64_t start, end;    /* of the launch on the host */
    const char *group;     /* communicator */
    const char *function;  /* all_gather ...; "group" for several unlike ones; NULL: one or more of several, not known which */
    const char *dtype;     /* NULL: several, or not known */
    int64_t sequence;      /* of the function in its communicator; of send and recv per peer, counted here; -1 none, or several */
    int64_t sent;          /* bytes that this rank sends; -1: not said by NCCL */
    int64_t message_bytes; /* the larger side of all operations; -1 not known */
    int32_t peer, ranks;   /* -1: none, or several */
    int32_t operations;    /* fused into it */
    int32_t tid;           /* of the launch */
};

enum launch_state { LAUNCH_PLAIN, LAUNCH_PENDING, LAUNCH_KNOWN };

void launch_begin(uint32_t id); /* NCCL launched it; what it carries is still to come */
/* What it carries. false: nobody looks at kernels (launch_collect), or too many are waiting: the caller reports it itself. */
bool launch_put(uint32_t id, const struct nccl_work *w);
/* Of a kernel, once: LAUNCH_KNOWN fills *w and forgets it. */
enum launch_state launch_take(uint32_t id, struct nccl_work *w);

/* Ids that nested calls gave to what belongs to the call `outer`. */
void launch_alias(uint32_t inner, uint32_t outer);
uint32_t launch_outer(uint32_t id); /* the id itself when it has no alias */

void launch_collect(bool kernels); /* are kernels looked at in this process? At first: no */
bool launch_collecting(void);

/* Calls fn for each launch whose kernel was never seen, and forgets all; how many. */
size_t launch_rest(void (*fn)(void *ctx, const struct nccl_work *w), void *ctx);
void launch_forked(void);
