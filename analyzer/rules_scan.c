/* rules_scan.c - see rules_scan.h. */
#include "analyzer/rules_scan.h"
#include "schemas/nearest.h"

#include <ctype.h>
#include <string.h>

bool scan_bad(struct scan *s, const char *what)
{
    return fail(s->e, ERR_USAGE, "%s:%d: %s", s->file, s->line, what);
}

bool scan_unknown(struct scan *s, const char *kind, const char *const *names)
{
    const char *near = nearest_name(s->word, names);
    return fail(s->e, ERR_USAGE, "%s:%d: %s: no such %s%s%s%s", s->file, s->line, s->word, kind, near ? "; did you mean " : "", near ? near : "",
                near ? "?" : "");
}

void scan_space(struct scan *s)
{
    while (isspace((unsigned char)*s->p))
        s->p++;
}

bool scan_string(struct scan *s)
{
    scan_space(s);
    size_t n = 0;
    if (*s->p != '"')
        return scan_bad(s, "a pattern in double quotes is wanted after ~");
    for (s->p++; *s->p && *s->p != '"'; s->p++) {
        if (*s->p == '\\' && (s->p[1] == '"' || s->p[1] == '\\'))
            s->p++;
        if (n + 1 >= WORD_MAX)
            return scan_bad(s, "a pattern is longer than 511 characters");
        s->word[n++] = *s->p;
    }
    s->word[n] = '\0';
    if (*s->p != '"')
        return scan_bad(s, "a quote is not closed");
    s->p++;
    return true;
}

/* The words of the language by their first character: a name or number, an operator, or one other character. */
static bool name_char(int c)
{
    return isalnum(c) || c == '_' || c == '.';
}

static bool operator_char(int c)
{
    return c == '<' || c == '>' || c == '=';
}

const char *scan_take(struct scan *s)
{
    scan_space(s);
    size_t n = 0;
    const char *start = s->p;
    bool (*more)(int) = name_char((unsigned char)*start) ? name_char : operator_char((unsigned char)*start) ? operator_char : NULL;
    do {
        if (!*s->p)
            break;
        s->word[n++] = *s->p++;
    } while (more && more((unsigned char)*s->p) && n + 1 < WORD_MAX);
    s->word[n] = '\0';
    return start;
}

bool scan_is(const struct scan *s, const char *word)
{
    return strcmp(s->word, word) == 0;
}
