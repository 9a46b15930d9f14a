/* comm_nccl.c - ranks have a GPU each: groups, and how their ranks hear of a group's id; the module does the transfers.
 *
 *   | started as                         | ranks                          | the id, and what the host shares, goes by        |
 *   | cpbench                            | threads of this process        | this process's memory                            |
 *   | mpirun -np C cpbench               | processes                      | MPI (comm_mpi.so)                                |
 *   | any launcher, CPBENCH_NCCL_FILE=F  | processes, rank and world size | files F.0, F.1 ... that all ranks see; the first |
 *   |                                    | from the launcher              | rank of a group writes, the others wait          |
 */
#include "kernels/comm/nccl_module.h"
#include "kernels/comm/nccl_files.h"
#include "kernels/comm/roster.h"
#include "kernels/device/cuda_module.h"
#include "kernels/device/modules.h"
#include "schemas/launch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct room { /* of ranks that are threads: a group whose id the first comer has made */
    struct roster_group of;
    struct nccl_id id;
    const char *wrong; /* why there is none; NULL: there is */
};

struct member { /* comm.impl */
    struct member *next;
    struct nccl_handle *handle;
};

struct job { /* comm_world.impl */
    const struct nccl_module *module;
    struct comm_world *mpi; /* NULL: not by MPI */
    const char *files;      /* NULL: not by files */
    int64_t opened;         /* exchanges by files so far */
    pthread_mutex_t lock;
    struct roster rooms;
    struct member *members; /* of this process: for abort */
};

/* ---- ids ---- */

static bool fail_id(struct err *e, const char *why)
{
    return fail(e, ERR_FAIL, "communicator nccl: %s", why);
}

static bool id_of_threads(struct job *j, const struct comm *c, struct nccl_id *id, struct err *e)
{
    bool made;
    pthread_mutex_lock(&j->lock);
    struct room *r = roster_join(&j->rooms, c, sizeof *r, &made);
    if (made)
        r->wrong = j->module->id(&r->id);
    *id = r->id;
    pthread_mutex_unlock(&j->lock);
    return !r->wrong || fail_id(e, r->wrong);
}

/* Every process tells all others an id; those of first ranks are ids. */
static bool id_by_mpi(const struct job *j, const struct comm *c, struct nccl_id *id, struct err *e)
{
    struct nccl_id *rows = calloc((size_t)c->world->size, sizeof *rows);
    const char *wrong = !rows ? "out of memory" : c->rank == 0 ? j->module->id(&rows[c->part.first]) : NULL;
    bool ok = wrong ? fail_id(e, wrong) : comm_world_share(j->mpi, rows, sizeof *rows, e);
    if (ok)
        *id = rows[c->part.first];
    free(rows);
    return ok;
}

static bool id_by_file(struct job *j, const struct comm *c, struct nccl_id *id, struct err *e)
{
    int64_t number = j->opened++;
    if (c->rank > 0)
        return nccl_file_read(j->files, number, c->part.first, id, sizeof *id, &c->world->broken, e);
    const char *wrong = j->module->id(id);
    return wrong ? fail_id(e, wrong) : nccl_file_write(j->files, number, c->part.first, id, sizeof *id, e);
}

/* ---- members ---- */

static bool open_member(struct comm *c, struct err *e)
{
    struct job *j = c->world->impl;
    struct nccl_id id;
    struct member *m = calloc(1, sizeof *m);
    bool ok = m || fail(e, ERR_FAIL, "communicator %s: out of memory", c->group);
    ok = ok && (j->mpi ? id_by_mpi(j, c, &id, e) : j->files ? id_by_file(j, c, &id, e) : id_of_threads(j, c, &id, e));
    const char *wrong = ok ? j->module->open(&id, c->part.size, c->rank, c->group, &m->handle) : NULL;
    if (!ok || wrong) {
        free(m);
        return fail(e, ERR_FAIL, "communicator nccl: %s: %s", c->group, wrong ? wrong : "no id");
    }
    pthread_mutex_lock(&j->lock);
    m->next = j->members;
    j->members = m;
    if (comm_world_broken(c->world))
        j->module->abort(m->handle);
    pthread_mutex_unlock(&j->lock);
    c->impl = m;
    return true;
}

static void close_member(struct comm *c)
{
    struct job *j = c->world->impl;
    struct member *m = c->impl;
    pthread_mutex_lock(&j->lock);
    struct member **link = &j->members;
    while (*link != m)
        link = &(*link)->next;
    *link = m->next;
    pthread_mutex_unlock(&j->lock);
    j->module->close(m->handle);
    free(m);
}

/* ---- transfers ---- */

struct task {
    struct comm_world *world;
    struct member *member;
    struct stream *stream;
    struct collective x;
};
_Static_assert(sizeof(struct task) <= COMM_ARGS_MAX, "a task fits into the arguments of a collective");

/* Called by the host thread: a GPU's device enqueues. A failure while another rank has failed is that one's to tell. */
static void run(void *args)
{
    struct task *t = args;
    const struct job *j = t->world->impl;
    const char *wrong = comm_world_broken(t->world) ? NULL : j->module->transfer(t->member->handle, cuda_stream_native(t->stream), &t->x);
    free(t->x.splits);
    if (!wrong || comm_world_broken(t->world))
        return;
    fprintf(stderr, "communicator nccl: rank %d: %s\n", device_rank(stream_device(t->stream)), wrong);
    exit(STATUS_FAIL);
}

static void enqueue(struct comm *c, struct stream *s, const struct activity *a, const struct collective *x)
{
    dev_enqueue_comm(s, a, run, &(struct task){c->world, c->impl, s, *x}, sizeof(struct task));
}

static void barrier(struct comm *c)
{
    const struct job *j = c->world->impl;
    const struct member *m = c->impl;
    j->module->barrier(m->handle);
}

/* ---- worlds ---- */

static const struct nccl_module *load(struct err *e)
{
    return module_load(&(struct module_want){.who = "communicator nccl",
                                             .file = "comm_nccl.so",
                                             .symbol = NCCL_MODULE_SYMBOL,
                                             .not_there = "build where nvcc and NCCL are (make CUDA=/usr/local/cuda), or use --comm threads",
                                             .not_loaded = "install NCCL and the CUDA libraries, or use --comm threads"},
                       e);
}

static bool ranks_by_files(struct comm_world *w, struct launch l, struct err *e)
{
    w->local = 1;
    w->first = l.rank;
    return (l.rank >= 0 && l.world == w->size) ||
           fail(e, ERR_USAGE, "--cp %d: CPBENCH_NCCL_FILE is set, and the launcher says rank %d of %d", w->size, l.rank, l.world);
}

static bool ranks_by_mpi(struct comm_world *w, struct job *j, struct err *e)
{
    j->mpi = comm_world_open("mpi", w->size, e);
    w->local = 1;
    w->first = j->mpi ? comm_world_first(j->mpi) : 0;
    return j->mpi != NULL;
}

/* Ranks of several processes, one each; else threads of this one, which must have a GPU for each. */
static bool find_ranks(struct comm_world *w, struct job *j, struct err *e)
{
    struct launch l = launch_env();
    int devices = cuda_devices();
    j->files = getenv("CPBENCH_NCCL_FILE");
    if (j->files)
        return ranks_by_files(w, l, e);
    if (l.rank >= 0 && l.world > 1)
        return ranks_by_mpi(w, j, e);
    return w->size <= devices || fail(e, ERR_USAGE, "--cp %d --comm nccl: %d GPU%s here, and NCCL wants one a rank; --comm threads shares one",
                                      w->size, devices, devices == 1 ? "" : "s");
}

static bool world_open(struct comm_world *w, struct err *e)
{
    const struct nccl_module *m = load(e);
    struct job *j = m ? calloc(1, sizeof *j) : NULL;
    if (!j)
        return fail(e, ERR_FAIL, "communicator nccl: out of memory");
    j->module = m;
    pthread_mutex_init(&j->lock, NULL);
    w->impl = j;
    if (find_ranks(w, j, e))
        return true;
    free(j);
    return false;
}

static void world_close(struct comm_world *w)
{
    struct job *j = w->impl;
    comm_world_close(j->mpi);
    roster_free(&j->rooms);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

static void world_abort(struct comm_world *w)
{
    struct job *j = w->impl;
    if (j->mpi)
        comm_world_abort(j->mpi);
    pthread_mutex_lock(&j->lock);
    for (struct member *m = j->members; m; m = m->next)
        j->module->abort(m->handle);
    pthread_mutex_unlock(&j->lock);
}

static bool share_by_files(struct comm_world *w, unsigned char *rows, size_t bytes)
{
    struct job *j = w->impl;
    struct err e = {0};
    int64_t number = j->opened++;
    bool ok = nccl_file_write(j->files, number, w->first, rows + (size_t)w->first * bytes, bytes, &e);
    for (int r = 0; ok && r < w->size; r++)
        ok = r == w->first || nccl_file_read(j->files, number, r, rows + (size_t)r * bytes, bytes, &w->broken, &e);
    return ok;
}

static bool world_share(struct comm_world *w, void *rows, size_t bytes)
{
    const struct job *j = w->impl;
    struct err e = {0};
    if (j->mpi)
        return comm_world_share(j->mpi, rows, bytes, &e);
    return w->local == w->size || share_by_files(w, rows, bytes);
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

const struct comm_backend comm_nccl = {
    .name = "nccl",
    .what = "ranks have a GPU each and exchange by NCCL; threads of one process, or processes on one host or many",
    .ops = &ops,
};
