/* tokens.c - see tokens.h. */
#include "kernels/model/tokens.h"
#include "kernels/model/draw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { KNOWN_OF_FOUR = 3 };

/* The whole file in the arena; *bytes is its length. */
static unsigned char *slurp(const char *path, size_t *bytes, struct arena *a, struct err *e)
{
    FILE *f = fopen(path, "rb");
    struct stat is = {0};
    bool plain = f && fstat(fileno(f), &is) == 0 && S_ISREG(is.st_mode);
    unsigned char *v = plain ? arena_array(a, unsigned char, is.st_size + 1) : NULL;
    *bytes = (size_t)is.st_size;
    if (!v || fread(v, 1, *bytes, f) != *bytes) {
        fail(e, ERR_FAIL, "%s: %s", path, errno ? strerror(errno) : plain ? "cannot be read whole" : "not a file that can be read whole");
        v = NULL;
    }
    if (f)
        fclose(f);
    return v;
}

bool tokens_load(struct tokens *t, const char *path, int64_t vocab, struct arena *a, struct err *e)
{
    size_t bytes;
    errno = 0;
    const unsigned char *raw = slurp(path, &bytes, a, e);
    if (!raw)
        return false;
    if (bytes == 0 || bytes % 4)
        return fail(e, ERR_USAGE, "%s: %zu bytes: want 32-bit token ids, at least one", path, bytes);
    uint32_t *v = arena_array(a, uint32_t, bytes / 4);
    for (size_t i = 0; i < bytes / 4; i++) {
        v[i] = raw[4 * i] | (uint32_t)raw[4 * i + 1] << 8 | (uint32_t)raw[4 * i + 2] << 16 | (uint32_t)raw[4 * i + 3] << 24;
        if (v[i] >= (uint64_t)vocab)
            return fail(e, ERR_USAGE, "%s: token %zu is %" PRIu32 ", not below the vocabulary of %" PRId64, path, i, v[i], vocab);
    }
    *t = (struct tokens){v, (int64_t)(bytes / 4)};
    return true;
}

static int64_t follower(int64_t id, int64_t vocab)
{
    return (5 * id + 7) % vocab;
}

void tokens_of(const struct tokens *t, const struct run_config *c, int64_t step, int64_t microbatch, const int64_t *ends, int64_t n, int64_t *ids,
               int64_t *targets)
{
    int64_t number = step * c->shape.microbatches + microbatch, first = number * c->shape.tokens;
    for (int64_t i = 0, document = 0, start = 0; i < n; i++) {
        struct draw d = draw_from(c->seed, DRAW_TOKENS, number, i);
        for (; i == ends[document]; document++)
            start = i;
        bool known = i > start && draw_u64(&d) % 4 < KNOWN_OF_FOUR;
        ids[i] = t ? t->v[(first + i) % t->n] : known ? follower(ids[i - 1], c->vocab) : (int64_t)(draw_u64(&d) % (uint64_t)c->vocab);
        targets[i] = -1;
        if (i > start)
            targets[i - 1] = ids[i];
    }
}
