/* replay.h - the trace as a graph of who waits for whom, which can be run again with something left out.
 *
 *   host thread   |call|...|call|......|== blocking call ==|...|call|
 *                    \         \       ^ ends when what it waits for has ended
 *                     v         v      |
 *   stream          |# kernel ##|# kernel #|        |# all_gather: moves when the last rank has come #|
 *
 * A task is an outermost API call that starts device work or blocks, or a row of device work. Its two instants follow
 * from those before them:
 *   call start     end of the thread's call before, plus the host time between (kept as it was measured)
 *   call end       its start; if it blocks, also the end of the work that it waits for
 *   work start     start of the call that launched it, end of the work before it in its stream, work behind a stream wait
 *   work end       its start plus its duration; of a matched collective: the last rank's arrival plus the transfer
 * Of the instants before one, the one that explains it best keeps the measured distance to it, the others their usual
 * distance (the median of that thread or stream) where that is shorter. So a replay of nothing changed gives the measured
 * times to the ns, whatever the graph does not know.
 *
 * Times are ns; ranks of other files are moved onto one clock by the ends of the collectives that they share.
 */
#pragma once
#include "analyzer/collectives.h"
#include "analyzer/sortkey.h"
#include "analyzer/waits.h"

#include <stddef.h>
#include <string.h>

enum { REPLAY_NONE = UINT32_MAX };

/* Kinds of work that launch latencies differ by. */
enum launched { LAUNCHED_COMPUTE, LAUNCHED_COMM, LAUNCHED_COPY, LAUNCHED_SET, LAUNCHED_KINDS };

struct replay_task {
    uint32_t row;                  /* number in its file's d.ev */
    uint32_t queue : 30, kind : 2; /* kind: of work, enum launched */
    uint32_t cause;                /* work: the call that launched it; a call: the other thread's call that came before; REPLAY_NONE */
    uint32_t tie;                  /* entry of replay.ties; 0: there is nothing more to it, as with most */
};

struct replay_tie {
    uint32_t deps;  /* what else the task waits for: replay.dep[deps ..] up to REPLAY_NONE; 0 nothing */
    uint32_t group; /* 1 + matched collective; 0 none */
    uint32_t wait;  /* 1 + entry of replay.waits; 0: does not block */
};

struct replay_brief { /* what stays of a row that was let go */
    int64_t start, end;
    uint32_t name;
};

/* A file's rows, each a struct event, or a struct replay_brief when they were let go. */
struct replay_rows {
    const char *v;
    size_t stride, name; /* name: where in a row its string id lies; a row begins with start and end */
};

struct replay_queue {    /* a host thread or a stream; its tasks are tasks[first .. first+n-1] in order */
    uint32_t file, rank; /* rank: entry of trace.ranks */
    uint32_t lane;       /* entry of trace.lanes; REPLAY_NONE: a host thread */
    uint32_t id;         /* of the thread or stream */
    uint32_t first, n;
    int64_t usual[2];                /* thread: a call that need not wait, waking up; stream: the gap behind work */
    int64_t latency[LAUNCHED_KINDS]; /* stream: from the launching call's start to the start of the work */
    int64_t offset;                  /* what brings its times onto the common clock */
    struct replay_rows rows;
};

struct replay_group { /* a matched collective; its members are replay.member[first .. first+n-1] */
    uint32_t first, n;
    int64_t join, transfer; /* arrival of the last member; the shortest duration */
};

struct replay {
    const struct trace *t;
    struct replay_task *tasks;
    size_t n, cap;
    struct replay_tie *ties; /* entry 0 is all 0 */
    size_t nties, ties_cap;
    struct replay_queue *queues;
    size_t nqueues, queues_cap;
    struct replay_group *groups;
    size_t ngroups;
    uint32_t *member, *dep;
    int64_t *drift; /* by member: what brings its times from its file's place on the common clock to the others' */
    size_t ndep, dep_cap;
    uint32_t *order; /* instants in an order in which each comes after what it follows from */
    size_t norder;
    struct replay_brief **brief; /* by file; NULL: no rows were let go */
    uint32_t *clock;             /* by entry of trace.ranks: the thread that its steps are told by; REPLAY_NONE */
    struct waits waits;
    size_t unmatched; /* collectives in the window that could not be matched over ranks */
    bool linked;      /* some device row has a launch */
    bool borrowed;    /* all but the arena is a shared graph's */
    bool handed;      /* threads of a rank were taken for one flow of control */
    struct arena arena;
};

static inline const struct replay_tie *replay_tie(const struct replay *r, uint32_t task)
{
    return &r->ties[r->tasks[task].tie];
}

/* As measured, on the common clock. */
static inline int64_t replay_time(const struct replay *r, uint32_t task, size_t at)
{
    const struct replay_queue *q = &r->queues[r->tasks[task].queue];
    int64_t t;
    memcpy(&t, q->rows.v + r->tasks[task].row * q->rows.stride + at, sizeof t);
    return t + q->offset;
}

static inline int64_t replay_start(const struct replay *r, uint32_t task)
{
    return replay_time(r, task, offsetof(struct event, start));
}

static inline int64_t replay_end(const struct replay *r, uint32_t task)
{
    return replay_time(r, task, offsetof(struct event, end));
}

uint32_t replay_name(const struct replay *r, uint32_t task); /* of its row: a string id of its file */

/* The last task of the queue that starts at or before t; REPLAY_NONE: none. */
uint32_t replay_last(const struct replay *r, const struct replay_queue *q, int64_t t);

/* Instants: 2 * task its start, 2 * task + 1 its end, 2 * ntasks + group the arrival of the last rank. */
struct replay_edge {
    uint32_t instant;
    int64_t usual;
};
/* The k-th instant that one follows from; false: no more. */
bool replay_edge(const struct replay *r, uint32_t instant, size_t k, struct replay_edge *x);

static inline int64_t replay_measured(const struct replay *r, uint32_t instant)
{
    if (instant >= 2 * r->n)
        return r->groups[instant - 2 * r->n].join;
    return instant & 1 ? replay_end(r, instant / 2) : replay_start(r, instant / 2);
}

/* The one instant that this follows from, when that can be told at a glance, as with most: the end of plain work or of a
 * call that does not block, the start of a call behind another one. REPLAY_NONE: ask replay_edges(). */
static inline uint32_t replay_sole(const struct replay *r, uint32_t instant)
{
    const struct replay_task *t = &r->tasks[instant / 2];
    if (instant >= 2 * r->n || t->tie)
        return REPLAY_NONE;
    if (instant & 1)
        return instant - 1;
    const struct replay_queue *q = &r->queues[t->queue];
    return t->cause == REPLAY_NONE && q->lane == REPLAY_NONE && instant / 2 > q->first ? instant - 1 : REPLAY_NONE;
}

/* All of them at once, when they are at most two, as with most: how many. -1: ask replay_edge(). */
int replay_edges(const struct replay *r, uint32_t instant, struct replay_edge x[2]);

void replay_build(const struct trace *t, enum site_by by, struct replay *r); /* by: how places that wait are told apart */
void replay_graph(const struct trace *t, enum site_by by, struct replay *r); /* the same, and `order` may be missing */
void replay_order(struct replay *r);                                         /* which replay_run() needs; nothing when it is there */
/* Of the trace's rows only what a replay goes by stays, if they are here for one table alone. Nobody may look at the others
 * any more: neither scenario_make() nor shortest_comms(). */
void replay_let_go(struct replay *r);
void replay_free(struct replay *r);

/* For trace.replay: from now on replay_build() and replay_graph() of `t` build one graph, by SITE_FUNCTION, and give it to
 * all who ask, on any thread; replay_free() lets go of what is theirs alone. */
struct replay_shared *replay_share(const struct trace *t);
void replay_unshare(struct replay_shared *s); /* when nobody has it any more; NULL is fine */

/* ---- the same with a change ---- */

enum change { KEEP, DROP, NO_WAIT, SCALE }; /* NO_WAIT: a blocking call that returns at once */

struct scenario {
    const uint8_t *task;         /* by task: enum change; NULL: nothing */
    const struct ivlset *gone;   /* by queue: host time of the thread that goes; NULL: none */
    const struct ivlset *scaled; /* by queue: host time that is scaled; NULL: none */
    int64_t ppm;                 /* what SCALE multiplies by, in millionths */
    const int64_t *shortest;     /* by task: durations that unmatched collectives take; NULL: the measured ones */
};

struct replay_net;

struct replayed {
    int64_t *at;                  /* by instant; NULL: of a shrunk graph, by node */
    const struct replay_net *net; /* replay_net.h; NULL, too: nothing changes, all is as measured */
    const int64_t *late;
};
int64_t replayed_at(const struct replay *r, const struct replayed *p, uint32_t instant);
/* Memory in `a`; linear in tasks and edges. */
struct replayed replay_run(const struct replay *r, const struct scenario *s, struct arena *a);

/* The time to which a host instant of the rank moves: t and the result on the rank's own clock. */
int64_t replay_host_time(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t rank, int64_t t);
/* The window of a lane (lane REPLAY_NONE: of the rank's host rows) as the replay has it; lives in `a`. */
struct ivlset replay_window(const struct replay *r, const struct scenario *s, const struct replayed *p, uint32_t rank, uint32_t lane,
                            struct arena *a);
/* Host time from `from` to `to` of a thread with the scenario's changes. */
int64_t replay_host_span(const struct replay *r, const struct scenario *s, uint32_t queue, int64_t from, int64_t to);

/* ---- parts of replay_build, for replay*.c only ---- */
void replay_make(const struct trace *t, enum site_by by, struct replay *r);        /* as replay_graph(), never a shared one */
bool replay_from_shared(const struct trace *t, enum site_by by, struct replay *r); /* false: nothing is shared */

struct stretch {
    uint32_t first, end;
};

struct replay_build {
    struct stretch *of_rank, *of_file; /* the streams of a rank, of a file, among the queues */
    struct replay *r;
    uint32_t **task_of;    /* by file, row: 1 + its task, of an outermost call also for the rows inside it; 0 none; in `scratch` */
    struct arena scratch;  /* until the deps */
    struct sortkey *pairs; /* key: task, at: what it also waits for; sorted into dep[] at the end */
    size_t npairs, pairs_cap;
};
struct replay_tie *replay_tied(struct replay *r, uint32_t task); /* the task's own, made when it has none */
void replay_tasks(struct replay_build *b);
void replay_deps(struct replay_build *b);
void replay_join(struct replay_build *b); /* collectives and clocks: after the tasks, before the deps */
void replay_usual(struct replay *r);
/* Every instant once, after those that it follows from; where a circle closes, the one that closes it comes too early to
 * know its cause. done() gets each, and its answer is kept in mark[], by instant: 0 not seen, REPLAY_NONE causes are being
 * looked at, else known. */
void replay_visit(const struct replay *r, uint32_t *mark, uint32_t (*done)(void *ctx, uint32_t instant), void *ctx);
