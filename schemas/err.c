/* err.c - filling the error out-parameter. */
#include "schemas/err.h"

#include <stdarg.h>
#include <stdio.h>

bool fail(struct err *e, enum err_kind kind, const char *fmt, ...)
{
    if (e->kind != ERR_NONE)
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    for (unsigned char *p = (unsigned char *)e->msg; *p; p++)
        if (*p < 0x20 || *p == 0x7f)
            *p = '?'; /* a name from a trace must not break the one line, nor drive the terminal */
    e->kind = kind;
    return false;
}

enum status err_status(const struct err *e)
{
    static const enum status of_kind[] = {STATUS_OK, STATUS_NO, STATUS_USAGE, STATUS_FAIL, STATUS_UNDECIDED};
    return of_kind[e->kind];
}
