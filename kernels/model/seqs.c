/* seqs.c - lengths of packed sequences.
 *
 *   units   |1|2|3|4|5|6|7|8|      random:3 keeps 2 of the 7 inner cuts, each subset as likely as any other:
 *   cuts        ^     ^            selection sampling (Knuth, TAOCP 3.4.2 S), one pass, no sort
 */
#include "kernels/model/seqs.h"
#include "kernels/model/draw.h"
#include "schemas/opt.h"

#include <inttypes.h>
#include <string.h>

static int64_t gcd(int64_t x, int64_t y)
{
    return y ? gcd(y, x % y) : x;
}

/* The lengths of a list; `text` keeps its commas in the messages. */
static bool parse_list(struct seqs *q, const char *text, struct arena *a, struct err *e)
{
    char *copy = arena_strdup(a, text), *rest = copy;
    int64_t *v = arena_array(a, int64_t, strlen(text) / 2 + 1), sum = 0;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        if (!opt_int(word, &v[q->n]))
            return fail(e, ERR_USAGE, "--seqs %s: '%s' is not a length; give L,L,... or equal:N or random:N", text, word);
        if (v[q->n] <= 0 || v[q->n] > q->tokens)
            return fail(e, ERR_USAGE, "--seqs %s: length %" PRId64 " is not in 1 .. %" PRId64 " (--tokens)", text, v[q->n], q->tokens);
        sum += v[q->n++];
    }
    q->lengths = v;
    return sum == q->tokens || fail(e, ERR_USAGE, "--seqs %s: the lengths add up to %" PRId64 ", not to --tokens %" PRId64, text, sum, q->tokens);
}

static bool check_equal(const struct seqs *q, const char *text, struct err *e)
{
    if (q->n < 1 || q->n > q->tokens || q->tokens % q->n)
        return fail(e, ERR_USAGE, "--seqs %s: --tokens %" PRId64 " cannot be cut into %" PRId64 " equal sequences", text, q->tokens, q->n);
    return true;
}

static bool check_random(const struct seqs *q, const char *text, struct err *e)
{
    if (q->tokens % q->unit)
        return fail(e, ERR_USAGE, "--seqs %s: --tokens %" PRId64 " is not a multiple of %" PRId64 ", the unit in which lengths are drawn", text,
                    q->tokens, q->unit);
    if (q->n < 1 || q->n > q->tokens / q->unit)
        return fail(e, ERR_USAGE, "--seqs %s: 1 to %" PRId64 " sequences in units of %" PRId64 " tokens fit in --tokens %" PRId64, text,
                    q->tokens / q->unit, q->unit, q->tokens);
    return true;
}

bool seqs_parse(struct seqs *out, const char *text, int64_t tokens, int cp, struct arena *a, struct err *e)
{
    static const struct {
        const char *prefix;
        enum seqs_kind kind;
        bool (*check)(const struct seqs *q, const char *text, struct err *e);
    } forms[] = {{"equal:", SEQS_EQUAL, check_equal}, {"random:", SEQS_RANDOM, check_random}};
    *out = (struct seqs){.kind = SEQS_LIST, .tokens = tokens, .unit = 16 / gcd(16, 2 * cp) * 2 * cp};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t len = strlen(forms[i].prefix);
        if (strncmp(text, forms[i].prefix, len) != 0)
            continue;
        out->kind = forms[i].kind;
        if (!opt_int(text + len, &out->n))
            return fail(e, ERR_USAGE, "--seqs %s: '%s' is not a number of sequences", text, text + len);
        return forms[i].check(out, text, e);
    }
    return parse_list(out, text, a, e);
}

static void draw_cuts(const struct seqs *q, struct draw d, int64_t *cu)
{
    int64_t units = q->tokens / q->unit, n = 1;
    for (int64_t i = 1; i < units && n < q->n; i++)
        if ((int64_t)(draw_u64(&d) % (uint64_t)(units - i)) < q->n - n)
            cu[n++] = i * q->unit;
}

struct packing seqs_of(const struct seqs *q, uint64_t seed, int64_t step, int64_t microbatch, struct arena *a)
{
    int64_t *cu = arena_array(a, int64_t, q->n + 1);
    if (q->kind == SEQS_RANDOM)
        draw_cuts(q, draw_from(seed, DRAW_LENGTHS, step, microbatch), cu);
    else
        for (int64_t i = 0; i < q->n; i++)
            cu[i + 1] = cu[i] + (q->lengths ? q->lengths[i] : q->tokens / q->n);
    cu[q->n] = q->tokens;
    return (struct packing){.cu = cu, .sequences = q->n, .total = q->tokens};
}
