/* export_csv.c - every event, one row each, with names in place of numbers; an empty field is "not in this trace". */
#include "analyzer/export.h"
#include "analyzer/outbuf.h"

static const char header[] = "start_ns,end_ns,duration_ns,kind,name,rank,device,stream,pid,tid,thread,correlation,bytes,function,file,line,"
                             "sync_class,did_block,wait_stream,wait_event,group,collective,sequence,peer,group_size,message_bytes,dtype,"
                             "grid,block,registers,static_shared,dynamic_shared,graph,copy,src,dst,domain,flavour,backend,trace\n";

static const char *const copies[] = {"", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "other"};
static const char *const memories[] = {"", "pageable", "pinned", "device", "array", "managed"};
static const char *const flavours[] = {"push_pop", "start_end", "mark"};

struct csv {
    struct outbuf o;
    const struct trace_file *f;
};

static void number(struct csv *c, int64_t v, bool there)
{
    out_char(&c->o, ',');
    if (there)
        out_int(&c->o, v);
}

static void text(struct csv *c, const char *s)
{
    out_char(&c->o, ',');
    if (s)
        out_csv(&c->o, s);
}

static void string(struct csv *c, uint32_t id)
{
    text(c, id ? trace_string(c->f, id) : NULL);
}

static void word(struct csv *c, const char *const *words, size_t n, int32_t i)
{
    text(c, i >= 0 && (size_t)i < n ? words[i] : NULL);
}

static void nothing(struct csv *c, int columns)
{
    while (columns-- > 0)
        out_char(&c->o, ',');
}

static void place(struct csv *c, const struct export_file *x, const struct event *ev)
{
    const struct tracedata *d = &c->f->d;
    uint32_t process = export_process(d, ev);
    int32_t rank = trace_event_rank(d, ev);
    number(c, rank, rank >= 0);
    number(c, ev->device, ev->device >= 0);
    number(c, d->streams[ev->stream].native, ev->stream);
    number(c, x->pid[process], process);
    number(c, d->threads[ev->thread].tid, ev->thread);
    string(c, ev->thread ? d->threads[ev->thread].name : 0);
    number(c, ev->correlation, ev->correlation >= 0);
    number(c, ev->bytes, ev->bytes >= 0);
    const struct sitekey *s = ev->site ? &d->sites[ev->site] : NULL;
    string(c, s ? s->function : 0);
    string(c, s ? s->file : 0);
    number(c, s ? s->line : 0, s && s->line > 0);
}

static void sync(struct csv *c, const struct ev_sync *s)
{
    text(c, s ? sync_class_name((enum sync_class)s->class) : NULL);
    number(c, s ? s->did_block : 0, s && s->did_block >= 0);
    number(c, s ? s->wait_stream : 0, s && s->wait_stream >= 0);
    number(c, s ? s->wait_event : 0, s && s->wait_event >= 0);
}

static void comm(struct csv *c, const struct ev_comm *m)
{
    if (!m) {
        nothing(c, 7);
        return;
    }
    string(c, m->communicator);
    string(c, m->function);
    number(c, m->sequence, m->sequence >= 0);
    number(c, m->peer, m->peer >= 0);
    number(c, m->group_size, m->group_size >= 0);
    number(c, m->message_bytes, m->message_bytes >= 0);
    string(c, m->dtype);
}

static void triple(struct csv *c, const int32_t v[3])
{
    out_char(&c->o, ',');
    for (int i = 0; v[0] && i < 3; i++) {
        if (i)
            out_char(&c->o, 'x');
        out_int(&c->o, v[i]);
    }
}

static void kernel(struct csv *c, const struct ev_kernel *k)
{
    if (!k) {
        nothing(c, 6);
        return;
    }
    triple(c, k->grid);
    triple(c, k->block);
    number(c, k->registers, k->registers);
    number(c, k->static_shared, k->grid[0]);
    number(c, k->dynamic_shared, k->grid[0]);
    number(c, k->graph, k->graph);
}

static void row(struct csv *c, const struct export_file *x, const struct event *ev)
{
    const struct tracedata *d = &c->f->d;
    const struct ev_copy *m = ev_copy_of(d, ev);
    const struct ev_range *r = ev_range_of(d, ev);
    out_int(&c->o, ev->start + x->shift);
    number(c, ev->end + x->shift, true);
    number(c, ev->end - ev->start, true);
    text(c, ev_kind_name((enum ev_kind)ev->kind));
    string(c, ev->name);
    place(c, x, ev);
    sync(c, ev_sync_of(d, ev));
    comm(c, ev_comm_of(d, ev));
    kernel(c, ev_kernel_of(d, ev));
    word(c, copies, sizeof copies / sizeof *copies, m ? m->kind : -1);
    word(c, memories, sizeof memories / sizeof *memories, m ? m->src : -1);
    word(c, memories, sizeof memories / sizeof *memories, m ? m->dst : -1);
    string(c, r ? r->domain : 0);
    word(c, flavours, sizeof flavours / sizeof *flavours, r ? r->flavour : -1);
    text(c, c->f->backend);
    text(c, c->f->name);
    out_char(&c->o, '\n');
}

static bool write(struct export_job *x, const char *path, struct err *e)
{
    struct csv c = {0};
    if (!outbuf_open(&c.o, path, e))
        return false;
    out_text(&c.o, header);
    for (size_t i = 0; i < x->nfiles; i++) {
        c.f = x->files[i].f;
        for (size_t k = 0; k < x->files[i].n; k++)
            row(&c, &x->files[i], &c.f->d.ev[x->files[i].rows[k]]);
    }
    return outbuf_close(&c.o, e);
}

const struct exporter export_csv = {.name = "csv", .what = "every event, one row each", .write = write};
