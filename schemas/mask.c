/* mask.c - one pass over the words of the command line, with one thing to remember: does the next word belong to a secret? */
#include "schemas/mask.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct line { /* the masked line as it grows; it may not be longer than twice its source */
    char *at;
    bool hide_next; /* the word before was "--token" or "Bearer" */
    bool counts;    /* ... of a name like "tokens", where a number is no secret */
};

static bool holds(const char *name, size_t n, const char *part)
{
    size_t k = strlen(part);
    for (size_t i = 0; i + k <= n; i++)
        if (strncasecmp(name + i, part, k) == 0)
            return true;
    return false;
}

bool mask_is_secret(const char *name, size_t n)
{
    static const char *const parts[] = {"token", "secret", "key", "password", "passwd", "credential"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (holds(name, n, parts[i]))
            return true;
    return false;
}

static bool is_count(const char *name, size_t n)
{
    return n >= 4 && (strncasecmp(name + n - 4, "keys", 4) == 0 || (n >= 6 && strncasecmp(name + n - 6, "tokens", 6) == 0));
}

static bool is_number(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isdigit((unsigned char)s[i]))
            return false;
    return n > 0 && n < 12;
}

static void add(struct line *l, const char *s, size_t n)
{
    memcpy(l->at, s, n);
    l->at += n;
}

static void add_value(struct line *l, const char *s, size_t n, bool hide, bool count)
{
    if (hide && n && !(count && is_number(s, n)))
        add(l, "***", 3);
    else
        add(l, s, n);
}

/* scheme://user:password@host: what stands between the colon and the at sign. */
static bool add_url(struct line *l, const char *s, size_t n)
{
    const char *p = memmem(s, n, "://", 3);
    const char *at = p ? memrchr(p, '@', (size_t)(s + n - p)) : NULL;
    const char *colon = at ? memchr(p + 3, ':', (size_t)(at - p - 3)) : NULL;
    if (!colon)
        return false;
    add(l, s, (size_t)(colon + 1 - s));
    add(l, "***", 3);
    add(l, at, (size_t)(s + n - at));
    return true;
}

static void add_word(struct line *l, const char *s, size_t n)
{
    const char *eq = memchr(s, '=', n);
    size_t name = eq ? (size_t)(eq - s) : n;
    bool option = n > 1 && *s == '-', secret = mask_is_secret(s, name), was_next = l->hide_next && !option;
    bool bearer = n == 6 && strncasecmp(s, "bearer", 6) == 0;
    l->hide_next = (secret && option && !eq) || bearer;
    if (was_next)
        add_value(l, s, n, !bearer, l->counts);
    else if (eq && secret) {
        add(l, s, name + 1);
        add_value(l, eq + 1, n - name - 1, true, is_count(s, name));
    } else if (!add_url(l, s, n))
        add(l, s, n);
    l->counts = is_count(s, name);
}

static void add_argument(struct line *l, const char *s)
{
    static const char between[] = " \t\n;&|'\"()";
    bool quote = !*s || strpbrk(s, " \t\n");
    if (quote)
        add(l, "\"", 1);
    while (*s) {
        size_t gap = strspn(s, between), word = strcspn(s + gap, between);
        for (size_t i = 0; i < gap; i++)
            add(l, iscntrl((unsigned char)s[i]) ? " " : s + i, 1);
        if (word)
            add_word(l, s + gap, word);
        s += gap + word;
    }
    if (quote)
        add(l, "\"", 1);
}

char *mask_command(struct arena *a, const char *const *argv, size_t n)
{
    size_t room = 1;
    for (size_t i = 0; i < n; i++)
        room += 4 * strlen(argv[i]) + 8; /* "K=v" may become "K=***" */
    char *text = arena_alloc(a, room);
    struct line l = {.at = text};
    for (size_t i = 0; i < n; i++) {
        if (i)
            add(&l, " ", 1);
        add_argument(&l, argv[i]);
    }
    *l.at = '\0';
    return text;
}
