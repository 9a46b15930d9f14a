/* keyvalue.c - see keyvalue.h. */
#include "schemas/keyvalue.h"
#include "schemas/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *trim(char *s)
{
    s += strspn(s, " \t\r");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = '\0';
    return s;
}

/* Cuts the line apart; *section is that of the lines to come. */
static bool cut(struct keyvalue *kv, char *text, char **section, struct err *e)
{
    size_t n = strlen(text);
    char *equals = strchr(text, '=');
    if (*text == '[' && text[n - 1] == ']') {
        text[n - 1] = '\0';
        *section = trim(text + 1);
        kv->section = *section;
        kv->key = kv->value = NULL;
        return **section || fail(e, ERR_USAGE, "%s:%d: a section wants a name", kv->from, kv->line);
    }
    if (!equals || equals == text)
        return fail(e, ERR_USAGE, "%s:%d: %s: want key = value", kv->from, kv->line, text);
    *equals = '\0';
    kv->section = *section;
    kv->key = trim(text);
    kv->value = trim(equals + 1);
    return true;
}

bool keyvalue_each(const char *text, const char *from, bool (*take)(void *ctx, const struct keyvalue *kv, struct err *e), void *ctx, struct err *e)
{
    char none[] = "", *section = none, *copy = strdup(text), *at = copy, *line;
    struct keyvalue kv = {.from = from};
    bool ok = copy || fail(e, ERR_FAIL, "%s: out of memory", from);
    while (ok && (line = strsep(&at, "\n")) != NULL) {
        kv.line++;
        line[strcspn(line, "#")] = '\0';
        char *said = trim(line);
        if (*said)
            ok = cut(&kv, said, &section, e) && take(ctx, &kv, e);
    }
    free(copy);
    return ok;
}

static char *read_file(const char *path, struct err *e)
{
    enum { MOST = 1 << 20 };
    errno = 0;
    FILE *f = fopen(path, "r");
    char *text = f ? malloc(MOST) : NULL;
    size_t n = text ? fread(text, 1, MOST, f) : 0;
    if (!text || ferror(f) || n == MOST || memchr(text, '\0', n)) {
        fail(e, ERR_FAIL, "%s: %s", path,
             !text || ferror(f) ? strerror(errno)
             : n == MOST        ? "too long for a file of key = value lines"
                                : "not a text file");
        free(text);
        text = NULL;
    } else
        text[n] = '\0';
    if (f)
        fclose(f);
    return text;
}

/* The words for a name that is neither shipped nor a file. */
static void unknown(const char *name, const struct keyvalue_text *shipped, const char *what, struct err *e)
{
    enum { MOST = 64 };
    const char *names[MOST + 1] = {NULL};
    char list[512] = "";
    size_t n = 0, put = 0;
    for (; n < MOST && shipped[n].name; n++)
        names[n] = shipped[n].name;
    const char *near = nearest_name(name, names);
    for (size_t i = 0; i <= n && put < sizeof list; i++) { /* the nearest takes the turn of a first one before all */
        const char *next = i ? names[i - 1] : near;
        if (next && (!i || next != near))
            put += (size_t)snprintf(list + put, sizeof list - put, "%s%s", put ? ", " : "", next);
    }
    fail(e, ERR_USAGE, "%s: neither a file nor a shipped %s: %s", name, what, list);
}

char *keyvalue_load(const char *name_or_file, const struct keyvalue_text *shipped, const char *what, struct err *e)
{
    for (const struct keyvalue_text *s = shipped; s->name; s++)
        if (!strcmp(s->name, name_or_file)) {
            char *text = strdup(s->text);
            if (!text)
                fail(e, ERR_FAIL, "%s: out of memory", name_or_file);
            return text;
        }
    if (access(name_or_file, F_OK) == 0)
        return read_file(name_or_file, e);
    unknown(name_or_file, shipped, what, e);
    return NULL;
}
