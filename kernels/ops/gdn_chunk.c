/* gdn_chunk.c - the parts that every pass over chunks is made of. */
#include "kernels/ops/gdn_chunk.h"
#include "kernels/ops/hot.h"

void *gdn_take(struct gdn_work *w, size_t bytes)
{
    void *piece = w->base ? w->base + w->used : NULL;
    w->used += (bytes + 63) / 64 * 64;
    return piece;
}

float *gdn_floats(struct gdn_work *w, int64_t n)
{
    return gdn_take(w, (size_t)n * sizeof(float));
}

int64_t gdn_max_chunks(const struct gdn_inputs *in)
{
    return in->T / in->C + in->nseg;
}

static int segment_chunks(const struct gdn_inputs *in, int i, bool first, bool last, struct gdn_chunk *list)
{
    int n = 0;
    for (int64_t t = in->cu[i]; t < in->cu[i + 1]; t += in->C) {
        int64_t left = in->cu[i + 1] - t;
        list[n++] = (struct gdn_chunk){t, (int32_t)(left < in->C ? left : in->C), t == in->cu[i], left <= in->C, first, last};
    }
    return n;
}

int gdn_chunks(const struct gdn_inputs *in, enum gdn_which which, struct gdn_chunk *list)
{
    int first = 0, last = in->nseg - 1, n = 0;
    while (first < last && in->cu[first] == in->cu[first + 1])
        first++;
    while (last > first && in->cu[last] == in->cu[last + 1])
        last--;
    int from = which == GDN_LAST ? last : first, to = which == GDN_FIRST ? first : last;
    for (int i = from; i <= to; i++)
        n += segment_chunks(in, i, i == first, i == last, list + n);
    return n;
}

struct gdn_decay gdn_decay_take(struct gdn_work *w, int C)
{
    struct gdn_decay d = {.gam = gdn_take(w, (size_t)C * sizeof(double))};
    d.begin = gdn_floats(w, C);
    d.end = gdn_floats(w, C);
    return d;
}

HOT void gdn_decay_fill(struct gdn_decay *d, const struct gdn_inputs *in, const struct gdn_chunk *c, int h)
{
    const float *g = in->g + c->start * in->HV + h;
    double sum = 0;
    for (int i = 0; i < c->n; i++)
        d->gam[i] = sum += g[(int64_t)i * in->HV];
    for (int i = 0; i < c->n; i++)
        d->begin[i] = exp_f((float)d->gam[i]);
    for (int i = 0; i < c->n; i++)
        d->end[i] = exp_f((float)(sum - d->gam[i]));
    d->whole = d->begin[c->n - 1];
}

HOT void gdn_decay_apply(const struct gdn_decay *d, int n, float f, float *x, int C)
{
    for (int i = 0; i < n; i++) {
        float *row = x + (int64_t)i * C;
        double gam = d->gam[i];
        for (int j = 0; j <= i; j++)
            row[j] *= f * exp_f((float)(gam - d->gam[j]));
        for (int j = i + 1; j < n; j++)
            row[j] = 0;
    }
}

HOT void gdn_decay_matrix(const struct gdn_decay *d, int n, float *r, int C)
{
    for (int i = 0; i < n; i++) {
        float *row = r + (int64_t)i * C;
        double gam = d->gam[i];
        for (int j = 0; j <= i; j++)
            row[j] = exp_f((float)(gam - d->gam[j]));
        for (int j = i + 1; j < n; j++)
            row[j] = 0;
    }
}

HOT void gdn_scale_rows(float *out, int64_t ldout, const float *x, int64_t ldx, const float *scale, float f, int n, int cols)
{
    for (int i = 0; i < n; i++) {
        float s = f * scale[i];
        for (int j = 0; j < cols; j++)
            out[i * ldout + j] = s * x[i * ldx + j];
    }
}

struct gdn_step gdn_step_take(struct gdn_work *w, const struct gdn_inputs *in, int E)
{
    struct gdn_step s = {.b = gdn_floats(w, (int64_t)in->C * E)};
    s.vn = gdn_floats(w, (int64_t)in->C * E);
    s.kt = gdn_floats(w, (int64_t)in->C * in->dk);
    return s;
}

/* b: K X on entry, beta (v - exp(gam) K X) on return. */
HOT static void prediction_error(float *b, const struct gdn_inputs *in, const struct gdn_chunk *c, const struct gdn_decay *d, int h, int E)
{
    const float *v = gdn_v(in, c, h), *beta = in->beta + c->start * in->HV + h;
    for (int i = 0; i < c->n; i++, v += in->ldv, b += E) {
        float strength = beta[(int64_t)i * in->HV], decay = d->begin[i];
        for (int j = 0; j < in->dv; j++)
            b[j] = strength * (v[j] - decay * b[j]);
        for (int j = in->dv; j < E; j++)
            b[j] = strength * (-decay * b[j]);
    }
}

void gdn_step_values(const struct gdn_step *s, const struct gdn_inputs *in, const struct gdn_chunk *c, const struct gdn_decay *d, int h,
                     const float *x, int E)
{
    MM_NN(s->b, E, 0, gdn_k(in, c, gdn_key_head(in, h)), (int)in->ldqk, x, E, c->n, E, in->dk);
    prediction_error(s->b, in, c, d, h, E);
    MM_NN(s->vn, E, 0, gdn_tm(in, c, h), in->C, s->b, E, c->n, E, c->n);
}

void gdn_step_state(const struct gdn_step *s, const struct gdn_inputs *in, const struct gdn_chunk *c, const struct gdn_decay *d, int h, float *x,
                    int E)
{
    gdn_scale_rows(s->kt, in->dk, gdn_k(in, c, gdn_key_head(in, h)), in->ldqk, d->end, 1, c->n, in->dk);
    MM_TN(x, E, d->whole, s->kt, in->dk, s->vn, E, in->dk, E, c->n);
}

double gdn_input_bytes(const struct gdn_inputs *in)
{
    return 4.0 * in->T * (2.0 * in->HK * in->dk + in->HV * (in->dv + 2.0 + in->C));
}
