/* nccl_abi.h - the tables by which NCCL calls a profiler plug-in, versions 1 to 6, in our own words.
 *
 * Source: NCCL's profiler interface of releases 2.23 (1), 2.24 (2), 2.26 (3), 2.27 (4), 2.28 (5) and 2.29 (6). Only what we
 * read is named; a descriptor of the real thing may be longer. NCCL asks for the newest table that a plug-in exports.
 *
 *         version   1        2 3        4           5 6
 *   type            8 bit    8 bit      8 bit       64 bit
 *   names           numbers  text       text        text
 *   communicator    in each event       in init     in init
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nccl_event_bit {
    NCCL_GROUP = 1 << 0,
    NCCL_COLL = 1 << 1,
    NCCL_P2P = 1 << 2,
    NCCL_PROXY_OP = 1 << 3,
    NCCL_PROXY_STEP = 1 << 4,
    NCCL_PROXY_CTRL = 1 << 5,
    NCCL_KERNEL_CH = 1 << 6,
    NCCL_NET_PLUGIN = 1 << 7,
    NCCL_GROUP_API = 1 << 8,
    NCCL_COLL_API = 1 << 9,
    NCCL_P2P_API = 1 << 10,
    NCCL_KERNEL_LAUNCH = 1 << 11,
    NCCL_CE_COLL = 1 << 12,
    NCCL_CE_SYNC = 1 << 13,
    NCCL_CE_BATCH = 1 << 14,
};

enum { NCCL_OK = 0 }; /* ncclSuccess: what a plug-in always says, or NCCL goes on without one */

/* ---- descriptors: what starts ---- */

struct nccl_event_v1 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            const char *name;
            uint64_t comm_hash, sequence;
            uint8_t func;
            const void *send;
            void *recv;
            size_t count;
            int root;
            uint8_t datatype;
        } coll;
        struct {
            const char *name;
            uint64_t comm_hash;
            uint8_t func;
            void *buffer;
            uint8_t datatype;
            size_t count;
            int peer;
        } p2p;
    };
};

struct nccl_event_v2 { /* and 3: equal as far as this goes */
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            const char *name;
            uint64_t comm_hash, sequence;
            const char *func;
            const void *send;
            void *recv;
            size_t count;
            int root;
            const char *datatype;
        } coll;
        struct {
            const char *name;
            uint64_t comm_hash;
            const char *func;
            void *buffer;
            const char *datatype;
            size_t count;
            int peer;
        } p2p;
    };
};

struct nccl_coll {
    uint64_t sequence;
    const char *func;
    const void *send;
    void *recv;
    size_t count;
    int root;
    const char *datatype;
};

struct nccl_p2p {
    const char *func;
    void *buffer;
    const char *datatype;
    size_t count;
    int peer;
};

struct nccl_event_v4 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct nccl_coll coll;
        struct nccl_p2p p2p;
    };
};

struct nccl_event_v5 { /* and 6 */
    uint64_t type;
    void *parent;
    int rank;
    union {
        struct {
            bool captured;
            int depth;
        } group_api;
        struct {
            const char *func;
            size_t count;
            const char *datatype;
            int root;
            void *stream;
            bool captured;
        } coll_api;
        struct {
            const char *func;
            size_t count;
            const char *datatype;
            void *stream;
            bool captured;
        } p2p_api;
        struct {
            void *stream;
        } kernel_launch;
        struct nccl_coll coll; /* also of a collective by copy engines (6) */
        struct nccl_p2p p2p;
    };
};

/* ---- tables ---- */

typedef void nccl_log_fn(int level, unsigned long flags, const char *file, int line, const char *format, ...);
typedef int nccl_stop_fn(void *event);
typedef int nccl_record_fn(void *event, int state, void *args);
typedef int nccl_finalize_fn(void *context);

#define NCCL_TABLE(n, event, ...)                                                                                                                    \
    struct nccl_profiler_v##n {                                                                                                                      \
        const char *name;                                                                                                                            \
        int (*init)(void **context, __VA_ARGS__);                                                                                                    \
        int (*start)(void *context, void **handle, struct event *e);                                                                                 \
        nccl_stop_fn *stop;                                                                                                                          \
        nccl_record_fn *record;                                                                                                                      \
        nccl_finalize_fn *finalize;                                                                                                                  \
    }
NCCL_TABLE(1, nccl_event_v1, int *mask);
NCCL_TABLE(2, nccl_event_v2, int *mask);
NCCL_TABLE(3, nccl_event_v2, int *mask);
NCCL_TABLE(4, nccl_event_v4, int *mask, const char *name, uint64_t hash, int nodes, int ranks, int rank, nccl_log_fn *log);
NCCL_TABLE(5, nccl_event_v5, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank, nccl_log_fn *log);
NCCL_TABLE(6, nccl_event_v5, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank, nccl_log_fn *log);
