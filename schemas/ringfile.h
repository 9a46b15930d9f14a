/* ringfile.h - TRACE-ring: what a recorded process has said and its writer has not yet put into TRACE.
 *
 *   | head | chunk 0 | chunk 1 | ...     64 KB each; the file is mapped by the process, so a kill takes nothing from it
 *
 * A chunk belongs to a ring (the events of one thread after another) or to nobody. A ring is a stream of bytes; each of its
 * chunks says at which byte of the stream it begins. The trace file says, in the same transaction as the events themselves,
 * up to which byte each ring was read (table `ring`): what stands behind that byte is what is left. Ring DEFINITIONS is the
 * stream of struct def: addresses in slots mean nothing after the end of the process, so before an event is put, what its
 * pointers point at is defined.
 *
 * Numbers are those of the machine; the file never leaves it but by a copy to another one of its kind.
 */
#pragma once
#include "schemas/packed.h"

#include <stdatomic.h>

enum { CHUNK_BYTES = 1 << 16, RINGFILE_LAYOUT = 2, RING_FREE_CHUNK = 0, RING_DEFINITIONS = 1, RING_FIRST = 2 };

enum { STACK_DEEPEST = 192, STACKS_MAX = 1 << 20 }; /* frames of a stack; stacks */

#define RINGFILE_MAGIC "cpscring"
#define RINGFILE_SUFFIX "-ring"

struct chunk {
    _Atomic(struct chunk *) next; /* in its ring, for the process; set once, after the last write to `used` */
    _Atomic uint32_t used;        /* bytes of data[] that are whole; written by the emitting thread alone */
    _Atomic uint32_t next_free;   /* in the free list: number + 1 of the next one, 0 none */
    _Atomic uint32_t ring;        /* RING_FREE_CHUNK: nobody's */
    uint32_t number;
    int64_t base; /* bytes of the ring before this chunk */
    char pad[24];
    char data[]; /* CHUNK_ROOM bytes */
};

enum { CHUNK_ROOM = CHUNK_BYTES - sizeof(struct chunk) };

/* Facts that the trace needs and that only the process knows; in its first CHUNK_BYTES. */
struct ring_head {
    char magic[8]; /* written last */
    uint32_t layout, slot_bytes;
    int64_t pid, started; /* started: of /proc/PID/stat, in ticks since the boot */
    int64_t t0, realtime[3];
    int64_t stack_threshold; /* ns, -1 not given */
    int32_t rank, local_rank, world;
    uint32_t kinds;
    char boot[40], release[24], host[256]; /* boot: id of the kernel's start */
    int64_t namespace;                     /* in which pid is a number */
    char command[4096];                    /* masked */
    _Atomic int64_t lost;                  /* events dropped so far, by all threads */
};

enum def_kind { DEF_TEXT = 1, DEF_SITE, DEF_META, DEF_DEGRADED, DEF_THREAD, DEF_FRAME, DEF_STACK, DEF_MODULE };

/* kind     key              a          b       behind it
 * TEXT     its address                         text
 * SITE     its address      line               function, file
 * META                                         key, value
 * DEGRADED                                     reason
 * THREAD   tid                                 name
 * FRAME    number           line               function, file        a frame of Python
 * FRAME    number           address    1                             a native one
 * STACK    number           frames             uint32_t numbers of frames, the innermost first
 * MODULE   first address    the last   bias    path                  what is mapped there; bias: address - byte of the file */
struct def {
    uint32_t bytes; /* with what stands behind it, a multiple of 8 */
    uint32_t kind;
    uint64_t key;
    int64_t a, b;
};

/* PATH of the ring file of a trace. false: longer than `size`. */
bool ringfile_path(const char *trace, char *out, size_t size);

/* Who we are: pid, started, boot, namespace, host, rank and so on, release. */
void ringfile_self(struct ring_head *h);

/* When a process was started, as head.started, and its state; -1 and 'X': there is no such process. */
int64_t ringfile_started(int64_t pid, char *state);

#define RINGFILE_DROPPED "events dropped: the writer could not keep up and the memory for waiting events was full"

/* Does the ring file at `ring` say whose it is? Before that nothing can have been put into it. */
bool ringfile_has_head(const char *ring);

/* The facts of the head as meta and clocks of *d, but for the backend: "cpu" unless it is there already. */
void ringfile_facts(const struct ring_head *h, struct tracedata *d);
