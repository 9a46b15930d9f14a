/* merge.c - copies a trace into another one: every id goes through a map. */
#include "analyzer/merge.h"

#include <stdlib.h>
#include <string.h>

struct merge_fact {
    uint32_t key, value; /* string ids of m->to */
    size_t agree;        /* traces that say so */
};

struct maps { /* ids of the one -> ids of the other */
    uint32_t *strings, *processes, *threads, *streams, *sites, *stacks;
};

static void map_keys(struct arena *a, struct maps *m, struct tracedata *to, const struct tracedata *from)
{
    m->strings = arena_array(a, uint32_t, from->strings.n);
    m->processes = arena_array(a, uint32_t, from->nprocesses);
    m->threads = arena_array(a, uint32_t, from->nthreads);
    m->streams = arena_array(a, uint32_t, from->nstreams);
    m->sites = arena_array(a, uint32_t, from->nsites);
    for (size_t i = 0; i < from->strings.n; i++)
        m->strings[i] = intern_id_n(&to->strings, from->strings.strings[i], from->strings.lengths[i]);
    for (size_t i = 1; i < from->nprocesses; i++) {
        struct processkey p = from->processes[i];
        p.host = m->strings[p.host];
        p.name = m->strings[p.name];
        m->processes[i] = (uint32_t)to->nprocesses;
        ARRAY_PUSH(to->processes, to->nprocesses, to->processes_cap, p);
    }
    for (size_t i = 1; i < from->nthreads; i++) {
        const struct threadkey *t = &from->threads[i];
        m->threads[i] = tracedata_thread(to, m->processes[t->process], t->tid, intern_str(&from->strings, t->name));
    }
    for (size_t i = 1; i < from->nstreams; i++) {
        const struct streamkey *s = &from->streams[i];
        m->streams[i] = tracedata_stream(to, m->processes[s->process], s->device, s->native);
    }
    for (size_t i = 1; i < from->nsites; i++) {
        const struct sitekey *s = &from->sites[i];
        m->sites[i] = tracedata_site(to, intern_str(&from->strings, s->function), intern_str(&from->strings, s->file), s->line);
    }
}

static void map_stacks(struct arena *a, struct maps *m, struct tracedata *to, const struct tracedata *from)
{
    m->stacks = arena_array(a, uint32_t, from->nstacks);
    for (size_t i = 1; i < from->nstacks; i++) {
        const struct stackkey *k = &from->stacks[i];
        uint32_t *sites = arena_array(a, uint32_t, k->depth);
        for (uint32_t d = 0; d < k->depth; d++)
            sites[d] = m->sites[from->frames[k->first + d]];
        m->stacks[i] = tracedata_stack(to, sites, k->depth);
    }
}

/* The event's side row, copied; 0 none. */
static uint32_t copy_detail(const struct maps *m, struct tracedata *to, const struct tracedata *from, const struct event *ev)
{
    const struct ev_sync *s = ev_sync_of(from, ev);
    const struct ev_kernel *k = ev_kernel_of(from, ev);
    const struct ev_copy *c = ev_copy_of(from, ev);
    if (s) {
        struct ev_sync row = *s;
        row.stack = m->stacks[row.stack];
        return tracedata_sync_row(to, row);
    }
    if (k)
        return tracedata_kernel_row(to, *k);
    if (c)
        return tracedata_copy_row(to, *c);
    if (ev_comm_of(from, ev)) {
        struct ev_comm row = *ev_comm_of(from, ev);
        row.communicator = m->strings[row.communicator];
        row.function = m->strings[row.function];
        row.dtype = m->strings[row.dtype];
        return tracedata_comm_row(to, row);
    }
    if (ev_range_of(from, ev)) {
        struct ev_range row = *ev_range_of(from, ev);
        row.domain = m->strings[row.domain];
        return tracedata_range_row(to, row);
    }
    return 0;
}

static bool copy_events(const struct maps *m, struct tracedata *to, const struct tracedata *from, int64_t shift, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; i < from->n && ok; i++) {
        struct event ev = from->ev[i];
        ev.detail = copy_detail(m, to, from, &from->ev[i]);
        ev.start += shift;
        ev.end += shift;
        ev.name = m->strings[ev.name];
        ev.site = m->sites[ev.site];
        ev.thread = m->threads[ev.thread];
        ev.stream = m->streams[ev.stream];
        ok = tracedata_event(to, &ev, e);
    }
    return ok;
}

static void copy_rest(const struct maps *m, struct tracedata *to, const struct tracedata *from, int64_t shift)
{
    for (size_t i = 0; i < from->nmemory; i++) {
        struct memory_row row = from->memory[i];
        row.time += shift;
        row.what = m->strings[row.what];
        ARRAY_PUSH(to->memory, to->nmemory, to->memory_cap, row);
    }
    for (size_t i = 0; i < from->nloss; i++) {
        struct loss_row row = from->loss[i];
        row.reason = m->strings[row.reason];
        row.start += row.start == INT64_MIN ? 0 : shift;
        row.end += row.end == INT64_MIN ? 0 : shift;
        ARRAY_PUSH(to->loss, to->nloss, to->loss_cap, row);
    }
}

static void count_facts(struct merge *m, const struct maps *maps, const struct tracedata *from)
{
    for (size_t i = 0; i < from->nmeta; i++) {
        struct merge_fact f = {maps->strings[from->meta[i].key], maps->strings[from->meta[i].value], 1};
        size_t k = 0;
        while (k < m->nfacts && (m->facts[k].key != f.key || m->facts[k].value != f.value))
            k++;
        if (k == m->nfacts)
            ARRAY_PUSH(m->facts, m->nfacts, m->facts_cap, f);
        else
            m->facts[k].agree++;
    }
}

/* The trace whose clock is the common one: what is known of the clock stays. */
static void take_clock(struct tracedata *to, const struct maps *maps, const struct tracedata *from)
{
    static const char *const keys[] = {"utc_epoch_ns", "boot_id"};
    to->t0 = from->t0;
    for (size_t i = 0; i < from->nclocks; i++) {
        struct clock_row row = from->clocks[i];
        row.clock = maps->strings[row.clock];
        ARRAY_PUSH(to->clocks, to->nclocks, to->clocks_cap, row);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (tracedata_meta_get(from, keys[i]))
            tracedata_meta(to, keys[i], tracedata_meta_get(from, keys[i]));
}

bool merge_add(struct merge *m, const struct tracedata *from, int64_t shift, struct err *e)
{
    struct arena a = {0};
    struct maps maps;
    map_keys(&a, &maps, m->to, from);
    map_stacks(&a, &maps, m->to, from);
    if (m->ntraces == 0)
        take_clock(m->to, &maps, from);
    bool ok = copy_events(&maps, m->to, from, shift, e);
    copy_rest(&maps, m->to, from, shift);
    count_facts(m, &maps, from);
    m->ntraces++;
    arena_free(&a);
    return ok;
}

static const char *text(const struct merge *m, uint32_t id)
{
    return intern_str(&m->to->strings, id);
}

void merge_end(struct merge *m)
{
    bool unclean = false;
    for (size_t i = 0; i < m->nfacts; i++) {
        unclean |= strcmp(text(m, m->facts[i].key), "clean_end") == 0 && strcmp(text(m, m->facts[i].value), "1") != 0;
        if (m->facts[i].agree == m->ntraces)
            tracedata_meta(m->to, text(m, m->facts[i].key), text(m, m->facts[i].value));
    }
    if (m->ntraces > 1)
        tracedata_meta(m->to, "clean_end", unclean ? "0" : "1");
    free(m->facts);
    *m = (struct merge){0};
}
