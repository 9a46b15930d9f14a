/* shadow.c - see shadow.h. */
#include "kernels/device/shadow.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 256, WORDS_MAX = KERNEL_ARGS_MAX / 8 };

struct copy { /* a block that a launch names */
    unsigned char *block;
    size_t size;
    unsigned char *before, *cpu, *gpu;
};

struct doubt { /* what a launch left in a block that nobody has used yet */
    struct doubt *next;
    const void *block;
    const char *kernel;
    double rel_l2, max_abs;
};

struct shadow {
    struct device *d;
    const struct blocks *blocks;
    shadow_download *download;
    struct doubt *doubts;
    struct copy copies[WORDS_MAX];
    int ncopies;
};

static enum shadow_what now;
static struct shadow_row table[ROWS_MAX];
static size_t nrows;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void shadow_start(enum shadow_what what)
{
    now = what;
}

enum shadow_what shadow_now(void)
{
    return now;
}

/* ---- results ---- */

/* Called under the lock; NULL when there are too many. */
static struct shadow_row *row_of(const char *kernel)
{
    for (size_t i = 0; i < nrows; i++)
        if (strcmp(table[i].kernel, kernel) == 0)
            return &table[i];
    if (nrows == ROWS_MAX)
        return NULL;
    table[nrows] = (struct shadow_row){.kernel = kernel};
    return &table[nrows++];
}

static void note_launch(const struct kernel *k, const void *args, int64_t ns)
{
    struct cost c = k->cost ? k->cost(args) : (struct cost){0};
    pthread_mutex_lock(&lock);
    struct shadow_row *r = row_of(k->name);
    if (r) {
        r->launches++;
        r->ns += ns;
        r->flops += c.flops;
        r->bytes += c.bytes;
    }
    pthread_mutex_unlock(&lock);
}

static void note_block(const struct doubt *o)
{
    pthread_mutex_lock(&lock);
    struct shadow_row *r = row_of(o->kernel);
    if (r) {
        r->compared++;
        r->rel_l2 = fmax(r->rel_l2, o->rel_l2);
        r->max_abs = fmax(r->max_abs, o->max_abs);
    }
    pthread_mutex_unlock(&lock);
}

static int by_name(const void *x, const void *y)
{
    const struct shadow_row *a = x, *b = y;
    return strcmp(a->kernel, b->kernel);
}

size_t shadow_rows(struct shadow_row *rows, size_t most)
{
    pthread_mutex_lock(&lock);
    size_t n = nrows < most ? nrows : most;
    memcpy(rows, table, n * sizeof *rows);
    pthread_mutex_unlock(&lock);
    qsort(rows, n, sizeof *rows, by_name);
    return n;
}

void shadow_timed(const struct kernel *k, const void *args, int64_t ns)
{
    note_launch(k, args, ns);
}

/* ---- comparing ---- */

struct difference {
    double rel_l2, max_abs;
};

#define DEFINE_DIFFERENCE(name, type)                                                                                                                \
    static struct difference name(const struct copy *c)                                                                                              \
    {                                                                                                                                                \
        const type *before = (const void *)c->before, *cpu = (const void *)c->cpu, *gpu = (const void *)c->gpu;                                      \
        struct difference d = {0};                                                                                                                   \
        double off = 0, all = 0;                                                                                                                     \
        for (size_t i = 0; i < c->size / sizeof *cpu; i++) {                                                                                         \
            bool same = memcmp(&cpu[i], &gpu[i], sizeof *cpu) == 0;                                                                                  \
            if (same && memcmp(&cpu[i], &before[i], sizeof *cpu) == 0)                                                                               \
                continue;                                                                                                                            \
            double x = same ? 0 : (double)gpu[i] - (double)cpu[i];                                                                                   \
            off += isfinite(x) ? x * x : INFINITY;                                                                                                   \
            all += isfinite((double)cpu[i]) ? (double)cpu[i] * (double)cpu[i] : 0;                                                                   \
            d.max_abs = isfinite(x) ? fmax(d.max_abs, fabs(x)) : INFINITY;                                                                           \
        }                                                                                                                                            \
        d.rel_l2 = off == 0 ? 0 : sqrt(off / all);                                                                                                   \
        return d;                                                                                                                                    \
    }
DEFINE_DIFFERENCE(as_floats, float)
DEFINE_DIFFERENCE(as_doubles, double)

static struct difference difference_of(const struct copy *c)
{
    if (memcmp(c->cpu, c->gpu, c->size) == 0)
        return (struct difference){0};
    struct difference f = as_floats(c), d = as_doubles(c);
    return f.rel_l2 <= d.rel_l2 ? f : d;
}

/* ---- blocks in use ---- */

void shadow_freed(struct shadow *x, const void *block)
{
    for (struct doubt **link = &x->doubts; *link;) {
        struct doubt *o = *link;
        if (o->block != block) {
            link = &o->next;
            continue;
        }
        *link = o->next;
        free(o);
    }
}

static void settle(struct shadow *x, const void *block)
{
    for (struct doubt *o = x->doubts; o; o = o->next)
        if (o->block == block)
            note_block(o);
    shadow_freed(x, block);
}

static bool word_at(const struct shadow *x, const void *args, size_t size, size_t i, struct copy *found)
{
    uintptr_t word;
    void *block;
    if ((i + 1) * sizeof word > size)
        return false;
    memcpy(&word, (const unsigned char *)args + i * sizeof word, sizeof word);
    if (!blocks_find(x->blocks, word, &block, &found->size))
        return false;
    found->block = block;
    return true;
}

void shadow_used(struct shadow *x, const void *args, size_t size)
{
    struct copy c;
    for (size_t i = 0; i < size / 8; i++)
        if (word_at(x, args, size, i, &c))
            settle(x, c.block);
}

/* ---- a launch ---- */

static struct copy *copy_of(struct shadow *x, const void *block)
{
    for (int i = 0; i < x->ncopies; i++)
        if (x->copies[i].block == block)
            return &x->copies[i];
    return NULL;
}

static void take_copy(struct shadow *x, struct copy c)
{
    c.before = malloc(c.size + 1);
    c.cpu = malloc(c.size + 1);
    c.gpu = malloc(c.size + 1);
    if (!c.before || !c.cpu || !c.gpu)
        dev_out_of_memory(x->d, c.size);
    x->download(x->d, c.before, c.block, c.size);
    memcpy(c.cpu, c.before, c.size);
    x->copies[x->ncopies++] = c;
}

void shadow_before(struct shadow *x, const struct kernel *k, const void *args, size_t size)
{
    struct copy c = {0};
    (void)k;
    shadow_used(x, args, size);
    x->ncopies = 0;
    for (size_t i = 0; i < size / 8; i++)
        if (word_at(x, args, size, i, &c) && !copy_of(x, c.block))
            take_copy(x, c);
}

/* The body on the copies: the arguments with their addresses moved. */
static void run_on_copies(struct shadow *x, const struct kernel *k, const void *args, size_t size)
{
    _Alignas(64) unsigned char moved[KERNEL_ARGS_MAX];
    struct copy c;
    memcpy(moved, args, size);
    for (size_t i = 0; i < size / 8; i++)
        if (word_at(x, args, size, i, &c)) {
            uintptr_t word;
            memcpy(&word, moved + i * sizeof word, sizeof word);
            word = (uintptr_t)copy_of(x, c.block)->cpu + (word - (uintptr_t)c.block);
            memcpy(moved + i * sizeof word, &word, sizeof word);
        }
    k->cpu(moved);
}

static void doubt_block(struct shadow *x, const struct kernel *k, const struct copy *c)
{
    struct doubt *o = malloc(sizeof *o);
    if (!o)
        dev_out_of_memory(x->d, sizeof *o);
    struct difference d = difference_of(c);
    *o = (struct doubt){x->doubts, c->block, k->name, d.rel_l2, d.max_abs};
    x->doubts = o;
}

void shadow_after(struct shadow *x, const struct kernel *k, const void *args, size_t size)
{
    run_on_copies(x, k, args, size);
    note_launch(k, args, 0);
    for (int i = 0; i < x->ncopies; i++) {
        struct copy *c = &x->copies[i];
        x->download(x->d, c->gpu, c->block, c->size);
        if (memcmp(c->before, c->gpu, c->size) != 0 || memcmp(c->before, c->cpu, c->size) != 0)
            doubt_block(x, k, c);
        free(c->before);
        free(c->cpu);
        free(c->gpu);
    }
    x->ncopies = 0;
}

struct shadow *shadow_open(struct device *d, const struct blocks *blocks, shadow_download *download)
{
    struct shadow *x = calloc(1, sizeof *x);
    if (x)
        *x = (struct shadow){.d = d, .blocks = blocks, .download = download};
    return x;
}

void shadow_close(struct shadow *x)
{
    while (x && x->doubts)
        shadow_freed(x, x->doubts->block);
    free(x);
}
