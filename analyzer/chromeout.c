/* chromeout.c - see chromeout.h. What Kineto has no word for goes under words of ours, which the importer reads back. */
#include "analyzer/chromeout.h"

#include <stdio.h>
#include <string.h>

static void key(struct chrome_out *c, const char *name)
{
    if (c->sep == '{')
        out_text(&c->o, ",\"args\":");
    out_char(&c->o, c->sep);
    out_char(&c->o, '"');
    out_text(&c->o, name);
    out_text(&c->o, "\":");
    c->sep = ',';
}

void chrome_arg(struct chrome_out *c, const char *name, int64_t v, bool there)
{
    if (!there)
        return;
    key(c, name);
    out_int(&c->o, v);
}

void chrome_arg_text(struct chrome_out *c, const char *name, const char *s)
{
    if (!*s)
        return;
    key(c, name);
    out_json(&c->o, s);
}

static void arg_triple(struct chrome_out *c, const char *name, const int32_t v[3])
{
    if (!v[0])
        return;
    key(c, name);
    for (int i = 0; i < 3; i++) {
        out_char(&c->o, i ? ',' : '[');
        out_int(&c->o, v[i]);
    }
    out_char(&c->o, ']');
}

static void kernel(struct chrome_out *c, const struct event *ev)
{
    const struct ev_kernel *k = ev_kernel_of(c->d, ev);
    if (!k)
        return;
    arg_triple(c, "grid", k->grid);
    arg_triple(c, "block", k->block);
    chrome_arg(c, "registers per thread", k->registers, k->registers);
    chrome_arg(c, "shared memory", (int64_t)k->static_shared + k->dynamic_shared, k->grid[0]);
    chrome_arg(c, "graph id", k->graph, k->graph);
    chrome_arg(c, "graph node id", k->graph_node, k->graph_node);
}

/* Sizes are counted in elements there; bytes of an element by the name of its type. */
static void message(struct chrome_out *c, const struct ev_comm *m)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"Float", 4}, {"BFloat16", 2}, {"Half", 2}, {"Double", 8}, {"Long", 8}, {"Int", 4}, {"Byte", 1}, {"Char", 1}, {"Bool", 1}};
    const char *type = chrome_str(c, m->dtype);
    int bytes = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0 && m->message_bytes % types[i].bytes == 0)
            bytes = types[i].bytes;
    chrome_arg_text(c, "dtype", bytes || m->message_bytes < 0 ? type : "Byte");
    chrome_arg(c, "In msg nelems", m->message_bytes / (bytes ? bytes : 1), m->message_bytes >= 0);
    chrome_arg(c, "Out msg nelems", m->message_bytes / (bytes ? bytes : 1), m->message_bytes >= 0);
}

static void comm(struct chrome_out *c, const struct event *ev)
{
    const struct ev_comm *m = ev_comm_of(c->d, ev);
    const char *name = m && m->function ? chrome_str(c, m->function) : chrome_str(c, ev->name);
    chrome_arg_text(c, "Collective name", *name ? name : "collective");
    chrome_arg(c, "bytes", ev->bytes, ev->bytes >= 0);
    if (!m)
        return;
    chrome_arg_text(c, "Process Group Name", chrome_str(c, m->communicator));
    chrome_arg(c, "Group size", m->group_size, m->group_size >= 0);
    chrome_arg(c, "Seq", m->sequence, m->sequence >= 0);
    chrome_arg(c, "peer", m->peer, m->peer >= 0);
    message(c, m);
}

static void copy(struct chrome_out *c, const struct event *ev)
{
    chrome_arg(c, "bytes", ev->bytes, ev->bytes >= 0);
}

static void sync(struct chrome_out *c, const struct event *ev)
{
    static const char *const kinds[] = {[SYNC_STREAM] = "Stream Sync", [SYNC_EVENT] = "Event Sync", [SYNC_DEVICE] = "Context Sync"};
    const struct ev_sync *s = ev_sync_of(c->d, ev);
    bool known = s && s->class >= SYNC_STREAM && s->class <= SYNC_DEVICE;
    chrome_arg_text(c, "cuda_sync_kind", known ? kinds[s->class] : strstr(chrome_str(c, ev->name), "Query") ? "Event Query" : "Stream Wait Event");
    chrome_arg(c, "wait_on_stream", s ? s->wait_stream : -1, s != NULL);
    chrome_arg(c, "wait_on_cuda_event_id", s ? s->wait_event : -1, s != NULL);
}

static void site(struct chrome_out *c, const struct event *ev)
{
    const struct sitekey *k = &c->d->sites[ev->site];
    if (!ev->site)
        return;
    chrome_arg_text(c, "function", chrome_str(c, k->function));
    chrome_arg_text(c, "file", chrome_str(c, k->file));
    chrome_arg(c, "line", k->line, k->line > 0);
}

static void call(struct chrome_out *c, const struct event *ev)
{
    const struct ev_sync *s = ev_sync_of(c->d, ev);
    if (s && s->class != SYNC_NONE) {
        chrome_arg_text(c, "sync", sync_class_name((enum sync_class)s->class));
        chrome_arg(c, "did_block", s->did_block, s->did_block >= 0);
        chrome_arg(c, "wait_on_stream", s->wait_stream, s->wait_stream >= 0);
        chrome_arg(c, "wait_on_cuda_event_id", s->wait_event, s->wait_event >= 0);
    }
    site(c, ev);
}

static void range(struct chrome_out *c, const struct event *ev)
{
    static const char *const flavours[] = {"", "start_end", "mark"};
    const struct ev_range *r = ev_range_of(c->d, ev);
    if (r && (unsigned)r->flavour < 3)
        chrome_arg_text(c, "range", flavours[r->flavour]);
    if (r)
        chrome_arg_text(c, "domain", chrome_str(c, r->domain));
    site(c, ev);
}

const struct chrome_kind chrome_kinds[EV_NKINDS] = {
    [EV_KERNEL] = {"kernel", kernel},
    [EV_COMM] = {"kernel", comm},
    [EV_MEMCPY] = {"gpu_memcpy", copy},
    [EV_MEMSET] = {"gpu_memset", copy},
    [EV_SYNC] = {"cuda_sync", sync},
    [EV_RUNTIME] = {"cuda_runtime", call},
    [EV_OP] = {"cpu_op", site},
    [EV_RANGE] = {"user_annotation", range},
    [EV_FRAME] = {"python_function", site},
    [EV_GPU_RANGE] = {"gpu_user_annotation", NULL},
    [EV_OVERHEAD] = {"overhead", NULL},
};

static const char *word(const char *const *words, size_t n, int32_t i)
{
    return i >= 0 && (size_t)i < n ? words[i] : words[0];
}

/* Copies and fills are told by their names there: "Memcpy HtoD (Pageable -> Device)". */
static const char *move_name(const struct chrome_out *c, const struct event *ev, char buf[64])
{
    static const char *const ways[] = {"", " HtoD", " DtoH", " DtoD", " HtoH", " PtoP"};
    static const char *const kinds[] = {"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed"};
    const struct ev_copy *m = ev_copy_of(c->d, ev);
    const char *name = chrome_str(c, ev->name);
    if (!m || strncmp(name, ev->kind == EV_MEMCPY ? "Memcpy" : "Memset", 6) == 0)
        return name;
    const char *way = word(ways, 6, m->kind), *src = word(kinds, 6, m->src), *dst = word(kinds, 6, m->dst);
    if (ev->kind == EV_MEMSET)
        snprintf(buf, 64, m->dst ? "Memset (%s)" : "Memset", dst);
    else if (m->src || m->dst)
        snprintf(buf, 64, "Memcpy%s (%s -> %s)", way, src, dst);
    else
        snprintf(buf, 64, "Memcpy%s", way);
    return buf;
}

const char *chrome_name(const struct chrome_out *c, const struct event *ev, char buf[64])
{
    bool moves = ev->kind == EV_MEMCPY || ev->kind == EV_MEMSET;
    return moves ? move_name(c, ev, buf) : chrome_str(c, ev->name);
}
