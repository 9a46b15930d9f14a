/* find.c - look-ups in the two tables that the Makefile writes: renderers and assets. */
#include "reports/asset.h"
#include "reports/render.h"

#include <string.h>

const struct renderer *renderer_find(const char *name, struct err *e)
{
    char known[256] = "";
    for (size_t i = 0; renderers[i]; i++) {
        if (strcmp(renderers[i]->name, name) == 0)
            return renderers[i];
        size_t at = strlen(known);
        snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", renderers[i]->name);
    }
    fail(e, ERR_USAGE, "--format %s: no such format; there are %s", name, known);
    return NULL;
}

const char *asset_text(const char *name)
{
    for (const struct asset *a = assets; a->name; a++)
        if (strcmp(a->name, name) == 0)
            return a->text;
    return NULL;
}
