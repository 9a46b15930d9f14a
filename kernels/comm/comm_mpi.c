/* comm_mpi.c - ranks are processes, one each: loads the module that knows MPI, and runs its transfers on the streams.
 *
 * The program runs where MPI is not installed. The module lies beside it: BIN/../lib/cpscope/comm_mpi.so.
 *
 * A rank that fails stops calling MPI and ends the process without MPI_Finalize, with a status: then the launcher ends
 * all others and says which rank it was, as it does for a rank that was killed.
 */
#include "kernels/comm/mpi_module.h"
#include "schemas/version.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job { /* comm_world.impl */
    const struct mpi_module *module;
    struct mpi_handle *all; /* for what the host exchanges */
};

static bool module_path(char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return false;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = 0;
    return snprintf(path, size, "%s/../lib/cpscope/comm_mpi.so", self) < (int)size;
}

/* Open MPI's own plugins look for its symbols: they are made global. */
static const struct mpi_module *load(struct err *e)
{
    char path[PATH_MAX];
    if (!module_path(path, sizeof path))
        return fail(e, ERR_FAIL, "communicator mpi: cannot tell where the program lies"), NULL;
    if (access(path, R_OK) != 0)
        return fail(e, ERR_FAIL, "communicator mpi: %s is not there: build where mpicc is (libopenmpi-dev), or use --comm threads", path), NULL;
    void *so = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!so)
        return fail(e, ERR_FAIL, "communicator mpi: %s; install Open MPI, or use --comm threads", dlerror()), NULL;
    const struct mpi_module *m = dlsym(so, MPI_MODULE_SYMBOL);
    if (!m || strcmp(m->version, CPSCOPE_VERSION) != 0)
        return fail(e, ERR_FAIL, "communicator mpi: %s is of another version than the program: install both together", path), NULL;
    return m;
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
    return fail(e, ERR_USAGE, "the run has %d ranks (--cp x --tp), the job %d process%s; start as many as ranks: mpirun -np %d", w->size, size,
                size == 1 ? "" : "es", w->size);
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

/* Whether the module is there is said when it is asked for, with its path. */
static bool available(void)
{
    return true;
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
    .available = available,
    .ops = &ops,
};
