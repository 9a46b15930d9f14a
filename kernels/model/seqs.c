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

static int64_t padded(const struct seqs *q, int64_t length)
{
    return q->pad ? (length + q->pad - 1) / q->pad * q->pad : length;
}

/* Of a list or of equal ones. */
static int64_t length_of(const struct seqs *q, int64_t i)
{
    return q->lengths ? q->lengths[i] : q->tokens / q->n;
}

/* The lengths of a list; `text` keeps its commas in the messages. */
static bool parse_list(struct seqs *q, const char *text, struct arena *a, struct err *e)
{
    char *copy = arena_strdup(a, text), *rest = copy;
    int64_t *v = arena_array(a, int64_t, strlen(text) / 2 + 1), sum = 0;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        if (!opt_int(word, &v[q->n]))
            return fail(e, ERR_USAGE, "--seqs %s: '%s' is not a length; give L,L,... or cu:0,L,... or equal:N or random:N", text, word);
        if (v[q->n] <= 0 || v[q->n] > q->tokens)
            return fail(e, ERR_USAGE, "--seqs %s: length %" PRId64 " is not in 1 .. %" PRId64 " (--tokens)", text, v[q->n], q->tokens);
        sum += v[q->n++];
    }
    q->lengths = v;
    return q->pad || sum == q->tokens ||
           fail(e, ERR_USAGE, "--seqs %s: the lengths add up to %" PRId64 ", not to --tokens %" PRId64, text, sum, q->tokens);
}

/* "0,16,40": boundaries as frameworks give them. */
static bool parse_boundaries(struct seqs *q, const char *text, struct arena *a, struct err *e)
{
    char *rest = arena_strdup(a, strchr(text, ':') + 1);
    int64_t *v = arena_array(a, int64_t, strlen(text) / 2 + 1), before = 0, at, i = 0;
    for (char *word; (word = strsep(&rest, ",")) != NULL; before = at, i++) {
        if (!opt_int(word, &at))
            return fail(e, ERR_USAGE, "--seqs %s: '%s' is not a boundary", text, word);
        if (i == 0 && at != 0)
            return fail(e, ERR_USAGE, "--seqs %s: the first boundary is %" PRId64 ": must be 0", text, at);
        if (at < before)
            return fail(e, ERR_USAGE, "--seqs %s: boundary %" PRId64 " is %" PRId64 ", after %" PRId64 ": must not decrease", text, i, at, before);
        if (at > before)
            v[q->n++] = at - before;
    }
    q->lengths = v;
    return (before == q->tokens || (q->pad && before < q->tokens && q->n)) ||
           fail(e, ERR_USAGE, "--seqs %s: the last boundary is %" PRId64 ", not --tokens %" PRId64, text, before, q->tokens);
}

static bool check_equal(const struct seqs *q, const char *text, struct err *e)
{
    if (q->n < 1 || q->n > q->tokens || q->tokens % q->n)
        return fail(e, ERR_USAGE, "--seqs %s: --tokens %" PRId64 " cannot be cut into %" PRId64 " equal sequences", text, q->tokens, q->n);
    return true;
}

/* Of all micro-batches up to the one of this number. */
static int64_t drawn_before(const struct seqs *q, int64_t microbatch)
{
    return microbatch / q->over * q->n + microbatch % q->over * q->n / q->over;
}

static bool check_random(const struct seqs *q, const char *text, struct err *e)
{
    int64_t most = (q->n + q->over - 1) / q->over;
    if (q->tokens % q->unit)
        return fail(e, ERR_USAGE, "--seqs %s: --tokens %" PRId64 " is not a multiple of %" PRId64 ", the unit in which lengths are drawn", text,
                    q->tokens, q->unit);
    if (q->n > 0 && q->n < q->over)
        return fail(e, ERR_USAGE, "--seqs %s: fewer sequences than micro-batches, of which each holds one: want at least %" PRId64, text, q->over);
    if (q->n < q->over || most > q->tokens / q->unit)
        return fail(e, ERR_USAGE, "--seqs %s: 1 to %" PRId64 " sequences in units of %" PRId64 " tokens fit in --tokens %" PRId64, text,
                    q->tokens / q->unit, q->unit, q->tokens);
    return true;
}

/* "N", or of random ones "N/M". */
static bool parse_number(struct seqs *out, const char *number, struct arena *a)
{
    char *n = arena_strdup(a, number), *over = out->kind == SEQS_RANDOM ? strchr(n, '/') : NULL;
    if (over)
        *over++ = '\0';
    return opt_int(n, &out->n) && (!over || (opt_int(over, &out->over) && out->over > 0));
}

static bool parse(struct seqs *out, const char *text, struct arena *a, struct err *e)
{
    static const struct {
        const char *prefix;
        enum seqs_kind kind;
        bool (*check)(const struct seqs *q, const char *text, struct err *e);
    } forms[] = {{"equal:", SEQS_EQUAL, check_equal}, {"random:", SEQS_RANDOM, check_random}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t len = strlen(forms[i].prefix);
        if (strncmp(text, forms[i].prefix, len) != 0)
            continue;
        out->kind = forms[i].kind;
        if (!parse_number(out, text + len, a))
            return fail(e, ERR_USAGE, "--seqs %s: '%s' is not a number of sequences", text, text + len);
        return forms[i].check(out, text, e);
    }
    return strncmp(text, "cu:", 3) ? parse_list(out, text, a, e) : parse_boundaries(out, text, a, e);
}

/* Documents take no more than there is, once padded. */
static bool check_padded(const struct seqs *q, const char *text, struct err *e)
{
    int64_t rows = 0;
    if (q->tokens % q->pad)
        return fail(e, ERR_USAGE, "--tokens %" PRId64 " is not a multiple of 2 x cp = %" PRId64 ", to which --padding eod fills documents up",
                    q->tokens, q->pad);
    for (int64_t i = 0; q->kind != SEQS_RANDOM && i < q->n; i++)
        rows += padded(q, length_of(q, i));
    return rows <= q->tokens ||
           fail(e, ERR_USAGE, "--seqs %s: padded to multiples of %" PRId64 " the documents take %" PRId64 " tokens, more than --tokens %" PRId64,
                text, q->pad, rows, q->tokens);
}

bool seqs_parse(struct seqs *out, const char *text, int64_t tokens, int cp, bool eod, struct arena *a, struct err *e)
{
    *out = (struct seqs){.kind = SEQS_LIST, .over = 1, .tokens = tokens, .unit = 16 / gcd(16, 2 * cp) * 2 * cp, .pad = eod ? 2 * (int64_t)cp : 0};
    return parse(out, text, a, e) && (!eod || check_padded(out, text, e));
}

static void draw_cuts(const struct seqs *q, struct draw d, int64_t *cu)
{
    int64_t units = q->tokens / q->unit, n = 1;
    for (int64_t i = 1; i < units && n < q->n; i++)
        if ((int64_t)(draw_u64(&d) % (uint64_t)(units - i)) < q->n - n)
            cu[n++] = i * q->unit;
}

enum { SHORTER = 16 }; /* a drawn document is shorter than its rows by less than this */

/* Lengths without padding. Those of drawn documents do not depend on the cp size; their rows are drawn anew from them. */
static void set_valid(const struct seqs *q, struct draw d, struct packing *p, struct arena *a)
{
    int64_t before = 0;
    p->valid = arena_array(a, int64_t, q->n);
    for (int64_t i = 0; i < q->n; i++) {
        int64_t rows = p->cu[i + 1] - before;
        before = p->cu[i + 1];
        p->valid[i] = q->kind != SEQS_RANDOM ? length_of(q, i) : rows - (int64_t)(draw_u64(&d) % SHORTER);
        p->cu[i + 1] = p->cu[i] + padded(q, p->valid[i]);
    }
    p->cu[q->n] = q->tokens;
}

struct packing seqs_of(const struct seqs *all, uint64_t seed, int64_t step, int64_t microbatch, struct arena *a)
{
    struct seqs here = *all, *q = &here;
    here.n = drawn_before(all, microbatch + 1) - drawn_before(all, microbatch);
    struct packing p = {.cu = arena_array(a, int64_t, q->n + 1), .sequences = q->n, .total = q->tokens};
    struct draw d = draw_from(seed, DRAW_LENGTHS, step, microbatch);
    if (q->kind == SEQS_RANDOM)
        draw_cuts(q, d, p.cu);
    else
        for (int64_t i = 0; i < q->n; i++)
            p.cu[i + 1] = p.cu[i] + padded(q, length_of(q, i));
    p.cu[q->n] = q->tokens;
    if (q->pad)
        set_valid(q, draw_from(seed, DRAW_SHORTER, step, microbatch), &p, a);
    return p;
}
