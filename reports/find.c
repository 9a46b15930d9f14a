/* find.c - look-ups in the two tables that the Makefile writes: renderers and assets. */
#include "reports/asset.h"
#include "reports/render.h"

#include <string.h>

const struct renderer *renderer_find(const char *name, bool verdicts, struct err *e)
{
    char known[256] = "";
    bool there = false;
    for (size_t i = 0; renderers[i]; i++) {
        bool here = verdicts || !renderers[i]->verdicts, it = strcmp(renderers[i]->name, name) == 0;
        if (here && it)
            return renderers[i];
        there = there || it;
        size_t at = strlen(known);
        if (here)
            snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", renderers[i]->name);
    }
    fail(e, ERR_USAGE, "--format %s: %s; there are %s", name, there ? "only for the verdicts of gate and check" : "no such format", known);
    return NULL;
}

const char *asset_text(const char *name)
{
    for (const struct asset *a = assets; a->name; a++)
        if (strcmp(a->name, name) == 0)
            return a->text;
    return NULL;
}
