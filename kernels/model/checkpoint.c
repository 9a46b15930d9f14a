/* checkpoint.c - see checkpoint.h. */
#include "kernels/model/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAGIC "cpsckpt1"

struct head {
    char magic[8];
    int64_t floats, updates, step;
    uint64_t check;
};

bool checkpoint_make(struct checkpoint *c, int64_t floats, struct err *e)
{
    *c = (struct checkpoint){.floats = floats};
    for (int i = 0; i < CHECKPOINT_PARTS; i++) {
        c->v[i] = malloc((size_t)floats * sizeof(float));
        if (!c->v[i]) {
            checkpoint_free(c);
            return fail(e, ERR_FAIL, "checkpoint: out of memory for %" PRId64 " parameters", floats);
        }
    }
    return true;
}

void checkpoint_free(struct checkpoint *c)
{
    for (int i = 0; i < CHECKPOINT_PARTS; i++)
        free(c->v[i]);
    *c = (struct checkpoint){0};
}

static uint64_t check_of(const struct checkpoint *c)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    for (int i = 0; i < CHECKPOINT_PARTS; i++)
        XXH64_update(&state, c->v[i], (size_t)c->floats * sizeof(float));
    return XXH64_digest(&state);
}

static bool put(FILE *f, const struct checkpoint *c)
{
    struct head h = {.floats = c->floats, .updates = c->updates, .step = c->step, .check = check_of(c)};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    bool ok = fwrite(&h, sizeof h, 1, f) == 1;
    for (int i = 0; ok && i < CHECKPOINT_PARTS; i++)
        ok = fwrite(c->v[i], sizeof(float), (size_t)c->floats, f) == (size_t)c->floats;
    return ok && fflush(f) == 0 && fsync(fileno(f)) == 0;
}

enum { NAME_MOST = 4096 };

/* Opens FILE.tmp; NULL: it cannot be. */
static FILE *begin(const char *path, char tmp[NAME_MOST], struct err *e)
{
    struct stat s;
    if (snprintf(tmp, NAME_MOST, "%s.tmp", path) >= NAME_MOST) {
        fail(e, ERR_USAGE, "%s: the name is too long", path);
        return NULL;
    }
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
        fail(e, ERR_FAIL, "%s: %s", path, strerror(EISDIR));
        return NULL;
    }
    FILE *f = fopen(tmp, "wb");
    if (!f)
        fail(e, ERR_FAIL, "%s: cannot be written: %s", path, strerror(errno));
    return f;
}

bool checkpoint_writable(const char *path, struct err *e)
{
    char tmp[NAME_MOST];
    FILE *f = begin(path, tmp, e);
    if (f) {
        fclose(f);
        unlink(tmp);
    }
    return f != NULL;
}

bool checkpoint_write(const struct checkpoint *c, const char *path, struct err *e)
{
    char tmp[NAME_MOST];
    FILE *f = begin(path, tmp, e);
    if (!f)
        return false;
    bool ok = put(f, c);
    int why = errno;
    if ((fclose(f) != 0 || !ok || rename(tmp, path) != 0)) {
        fail(e, ERR_FAIL, "%s: cannot be written: %s", path, strerror(ok ? errno : why));
        unlink(tmp);
    }
    return e->kind == ERR_NONE;
}

static bool get(FILE *f, struct checkpoint *c, const char *path, int64_t floats, struct err *e)
{
    struct head h;
    if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, MAGIC, sizeof h.magic) != 0)
        return fail(e, ERR_FAIL, "%s: not a checkpoint of cpbench train", path);
    if (h.floats != floats)
        return fail(e, ERR_USAGE, "%s: holds %" PRId64 " parameters, this model has %" PRId64 ": another shape or another --config", path, h.floats,
                    floats);
    if (!checkpoint_make(c, floats, e))
        return false;
    c->updates = h.updates;
    c->step = h.step;
    bool ok = true;
    for (int i = 0; ok && i < CHECKPOINT_PARTS; i++)
        ok = fread(c->v[i], sizeof(float), (size_t)floats, f) == (size_t)floats;
    if (ok && fgetc(f) == EOF && check_of(c) == h.check)
        return true;
    checkpoint_free(c);
    return fail(e, ERR_FAIL, "%s: %s", path, ok ? "its check does not hold: the file was changed" : "cut: it ends within its parameters");
}

bool checkpoint_read(struct checkpoint *c, const char *path, int64_t floats, struct err *e)
{
    FILE *f = fopen(path, "rb");
    *c = (struct checkpoint){0};
    if (!f)
        return fail(e, ERR_FAIL, "%s: %s", path, strerror(errno));
    get(f, c, path, floats, e);
    fclose(f);
    return e->kind == ERR_NONE;
}
