/* units.c - counting steps, micro-batches and packed sequences in the window. */
#include "analyzer/units.h"
#include "schemas/marker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const unit_names[NUNITS] = {"steps", "microbatches", "sequences"};

int64_t mark_value(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = strchr(text, ' '); p; p = strchr(p, ' ')) {
        p++;
        if (strncmp(p, key, n) != 0 || p[n] != '=')
            continue;
        char *end;
        errno = 0;
        long long v = strtoll(p + n + 1, &end, 10);
        return end == p + n + 1 || errno || v < 0 ? -1 : v;
    }
    return -1;
}

static bool starts(const char *s, const char *head, char after)
{
    size_t n = strlen(head);
    return strncmp(s, head, n) == 0 && s[n] == after;
}

static void count_range(struct units *u, const char *name, bool first_rank)
{
    if (starts(name, MARK_MICROBATCH, '#'))
        u->n[UNIT_MICROBATCHES]++;
    if (!starts(name, MARK_BATCH, ' '))
        return;
    int64_t sequences = mark_value(name, "sequences"), tokens = mark_value(name, "tokens");
    u->n[UNIT_SEQUENCES] += sequences > 0 ? sequences : 0;
    if (first_rank)
        u->tokens += tokens > 0 ? tokens : 0;
}

struct units units_count(const struct trace *t)
{
    struct units u = {.whole = true, .ranks = (int64_t)t->nranks};
    for (size_t r = 0; r < t->nranks; r++) {
        const struct trace_rank *rank = &t->ranks[r];
        const struct trace_file *f = &t->files[rank->file];
        u.n[UNIT_STEPS] += (int64_t)rank->steps.n;
        for (size_t i = 0; i < rank->n; i++) {
            const struct event *ev = &f->d.ev[rank->ev[i]];
            if (ev->kind == EV_RANGE && ivl_touches(rank->window, ev->start, ev->end))
                count_range(&u, trace_string(f, ev->name), r == 0);
        }
    }
    u.whole = u.n[UNIT_STEPS] == 0;
    if (u.whole)
        u.n[UNIT_STEPS] = t->nranks ? (int64_t)t->nranks : 1;
    return u;
}

double units_steps(const struct trace *t)
{
    double steps = 0;
    for (size_t r = 0; r < t->nranks; r++)
        steps += (double)t->ranks[r].steps.n;
    return t->nranks ? steps / (double)t->nranks : 0;
}

bool units_divisors(const struct trace *before, const struct trace *after, double divisor[2])
{
    double b = units_steps(before), a = units_steps(after);
    bool differ = b > 0 && a > 0 && b != a;
    divisor[0] = differ ? b : 1;
    divisor[1] = differ ? a : 1;
    return differ;
}
