/* comm_mpi.c - ranks are processes, one each: loads the module that knows MPI, and runs its transfers on the streams.
 *
 * The program runs where MPI is not installed.
 *
 * A rank that fails stops calling MPI and ends the process without MPI_Finalize, with a status: then the launcher ends
 * all others and says which rank it was, as it does for a rank that was killed.
 */
#include "kernels/comm/mpi_module.h"
#include "kernels/device/modules.h"

#include <stdlib.h>

struct job { /* comm_world.impl */
    const struct mpi_module *module;
    struct mpi_handle *all; /* for what the host exchanges */
};

/* Open MPI's own plugins look for its symbols: they are made global. */
static const struct mpi_module *load(struct err *e)
{
    return module_load(&(struct module_want){.who = "communicator mpi",
                                             .file = "comm_mpi.so",
                                             .symbol = MPI_MODULE_SYMBOL,
                                             .not_there = "build where mpicc is (libopenmpi-dev), or use --comm threads",
                                             .not_loaded = "install Open MPI, or use --comm threads",
                                             .global = true},
                       e);
}

/* A job of another size is left as by a rank that fails: MPI_Finalize would wait for ranks that may not come. */
static bool start(struct comm_world *w, const struct mpi_module *m, struct err *e)
{
    int size = 0;
    const char *wrong = m->start(&w->first, &size);
    if (wrong)
        return fail(e, ERR_FAIL, "communicator mpi: %s", wrong);
    w->local = 1;
    if (size == w->size)
        return true;
    return fail(e, ERR_USAGE, "the run has %d rank%s (--cp x --tp), the job %d process%s; start as many as ranks: mpirun -np %d", w->size,
                w->size == 1 ? "" : "s", size, size == 1 ? "" : "es", w->size);
}

static bool world_open(struct comm_world *w, struct err *e)
{
    const struct mpi_module *m = load(e);
    if (!m || !start(w, m, e))
        return false;
    struct job *j = malloc(sizeof *j);
    if (!j)
        return fail(e, ERR_FAIL, "communicator mpi: out of memory");
    *j = (struct job){m, m->open(&w->broken, (struct comm_part){0, 1, w->size})};
    w->impl = j;
    if (j->all)
        return true;
    free(j);
    return fail(e, ERR_FAIL, "communicator mpi: out of memory");
}

static void world_close(struct comm_world *w)
{
    struct job *j = w->impl;
    if (!comm_world_broken(w))
        j->module->stop();
    free(j);
}

/* The waits look at w->broken, which is set by now. */
static void world_abort(struct comm_world *w)
{
    (void)w;
}

static bool world_share(struct comm_world *w, void *rows, size_t bytes)
{
    const struct job *j = w->impl;
    const unsigned char *own = (const unsigned char *)rows + (size_t)w->first * bytes;
    return j->module->transfer(j->all, &(struct collective){COMM_ALL_GATHER, COMM_BYTE, own, rows, (int64_t)bytes, NULL});
}

static bool open_member(struct comm *c, struct err *e)
{
    const struct job *j = c->world->impl;
    c->impl = j->module->open(&c->world->broken, c->part);
    return c->impl || fail(e, ERR_FAIL, "communicator %s: out of memory, or another rank has failed", c->group);
}

static void close_member(struct comm *c)
{
    c->impl = NULL; /* lives as long as the world: what is enqueued still runs */
}

struct task {
    const struct mpi_module *module;
    struct mpi_handle *handle;
    int size;
    struct collective x;
};
_Static_assert(sizeof(struct task) <= COMM_ARGS_MAX, "a task fits into the arguments of a collective");

static void run(void *args)
{
    struct task *t = args;
    if (!t->module->transfer(t->handle, &t->x))
        collective_clear(&t->x, t->size);
    free(t->x.splits);
}

static void enqueue(struct comm *c, struct stream *s, const struct activity *a, const struct collective *x)
{
    const struct job *j = c->world->impl;
    dev_enqueue_comm(s, a, run, &(struct task){j->module, c->impl, c->part.size, *x}, sizeof(struct task));
}

static void barrier(struct comm *c)
{
    const struct job *j = c->world->impl;
    j->module->barrier(c->impl);
}

static const struct comm_ops ops = {
    .world_open = world_open,
    .world_close = world_close,
    .world_abort = world_abort,
    .world_share = world_share,
    .open = open_member,
    .close = close_member,
    .enqueue = enqueue,
    .barrier = barrier,
    .parts = true,
};

const struct comm_backend comm_mpi = {
    .name = "mpi",
    .what = "ranks are processes, started by mpirun, on one host or many",
    .ops = &ops,
};
