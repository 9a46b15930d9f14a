/* zigzag.c - the layout rules of zigzag.h, run by run. */
#include "kernels/layout/zigzag.h"

#include <inttypes.h>
#include <string.h>

static const char *const names[LAYOUT_COUNT] = {[LAYOUT_ZIGZAG] = "zigzag", [LAYOUT_CONTIGUOUS] = "contiguous"};

const char *layout_name(enum layout l)
{
    return names[l];
}

bool layout_from_name(const char *name, enum layout *l, struct err *e)
{
    for (int i = 0; i < LAYOUT_COUNT; i++)
        if (!strcmp(name, names[i])) {
            *l = (enum layout)i;
            return true;
        }
    return fail(e, ERR_USAGE, "layout %s: want zigzag or contiguous", name);
}

bool layout_check_place(int64_t entries, int cp, int rank, enum layout l, struct err *e)
{
    if ((unsigned)l >= LAYOUT_COUNT)
        return fail(e, ERR_USAGE, "layout number %d: want zigzag or contiguous", (int)l);
    if (cp < 1)
        return fail(e, ERR_USAGE, "cp size %d: want at least 1", cp);
    if (rank < 0 || rank >= cp)
        return fail(e, ERR_USAGE, "cp rank %d: want 0 to %d", rank, cp - 1);
    if (entries < 1)
        return fail(e, ERR_USAGE, "cu_seqlens is empty: want a leading 0 and an end per sequence");
    return true;
}

bool packing_compact(struct arena *a, const int64_t *cu, int64_t entries, struct packing *out, struct err *e)
{
    if (cu[0] != 0)
        return fail(e, ERR_USAGE, "cu_seqlens[0] is %" PRId64 ": must be 0", cu[0]);
    *out = (struct packing){.cu = arena_array(a, int64_t, entries)};
    for (int64_t i = 1; i < entries; i++) {
        if (cu[i] < cu[i - 1])
            return fail(e, ERR_USAGE, "cu_seqlens[%" PRId64 "] is %" PRId64 ", after %" PRId64 ": must not decrease", i, cu[i], cu[i - 1]);
        if (cu[i] > cu[i - 1])
            out->cu[++out->sequences] = cu[i];
    }
    out->total = out->cu[out->sequences];
    return true;
}

bool packing_check(struct arena *a, const int64_t *cu, int64_t entries, int cp, int rank, enum layout l, struct packing *out, struct err *e)
{
    if (!layout_check_place(entries, cp, rank, l, e) || !packing_compact(a, cu, entries, out, e))
        return false;
    for (int64_t i = 1; i < entries; i++)
        if ((cu[i] - cu[i - 1]) % (2 * (int64_t)cp))
            return fail(e, ERR_USAGE, "cu_seqlens[%" PRId64 "] ends a sequence of %" PRId64 " tokens: not a multiple of 2 * cp = %d, pad it", i,
                        cu[i] - cu[i - 1], 2 * cp);
    return true;
}

static struct segments zigzag_segments(struct arena *a, const struct packing *p, int cp, int rank)
{
    struct segments out = {arena_array(a, struct segment, 2 * p->sequences), 0};
    for (int64_t i = 0; i < p->sequences; i++) {
        int64_t start = p->cu[i], chunk = (p->cu[i + 1] - start) / (2 * cp), local = start / cp;
        out.v[out.n++] = (struct segment){start + rank * chunk, chunk, local};
        out.v[out.n++] = (struct segment){start + (2 * cp - 1 - rank) * chunk, chunk, local + chunk};
    }
    return out;
}

struct segments layout_segments(struct arena *a, const struct packing *p, int cp, int rank, enum layout l)
{
    if (l == LAYOUT_ZIGZAG)
        return zigzag_segments(a, p, cp, rank);
    int64_t rows = p->total / cp;
    struct segments out = {arena_array(a, struct segment, 1), rows > 0};
    out.v[0] = (struct segment){rank * rows, rows, 0};
    return out;
}

int64_t *layout_rows(struct arena *a, const struct packing *p, int cp, int rank, enum layout l)
{
    int64_t *rows = arena_array(a, int64_t, p->total / cp);
    struct segments x = layout_segments(a, p, cp, rank, l);
    for (int64_t i = 0; i < x.n; i++)
        for (int64_t k = 0; k < x.v[i].length; k++)
            rows[x.v[i].local + k] = x.v[i].global + k;
    return rows;
}
