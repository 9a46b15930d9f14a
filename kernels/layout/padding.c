/* padding.c - see padding.h. */
#include "kernels/layout/padding.h"

#include <inttypes.h>

bool padding_make(struct arena *a, const int64_t *lengths, int64_t n, int cp, struct padding *out, struct err *e)
{
    if (cp < 1)
        return fail(e, ERR_USAGE, "cp size %d: want at least 1", cp);
    *out = (struct padding){.divisor = 2 * (int64_t)cp, .cu = arena_array(a, int64_t, n + 1), .cu_padded = arena_array(a, int64_t, n + 1)};
    for (int64_t i = 0; i < n; i++) {
        if (lengths[i] < 0)
            return fail(e, ERR_USAGE, "document %" PRId64 " has %" PRId64 " tokens", i, lengths[i]);
        int64_t padded = (lengths[i] + out->divisor - 1) / out->divisor * out->divisor;
        out->cu[i + 1] = out->cu[i] + lengths[i];
        out->cu_padded[i + 1] = out->cu_padded[i] + padded;
        out->padding += padded - lengths[i];
    }
    return true;
}

int64_t padding_valid(const struct padding *p, int64_t i, int64_t j)
{
    int64_t chunk = (p->cu_padded[i + 1] - p->cu_padded[i]) / p->divisor, left = p->cu[i + 1] - p->cu[i] - j * chunk;
    return left < 0 ? 0 : left < chunk ? left : chunk;
}
