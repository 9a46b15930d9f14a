/* activity_log.h - a subscriber that keeps every report, for tests of devices and communicators. */
#pragma once
#include "schemas/activity.h"
#include "unit.h"

#include <pthread.h>

extern activity_subscribe_fn cpscope_activity_subscribe;

enum { LOG_MAX = 1 << 18 };

static struct activity_log {
    pthread_mutex_t lock;
    size_t n;
    struct activity a[LOG_MAX];
    char texts[16][128]; /* copies of transient texts; .text points here */
    size_t ntexts;
} log_ = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void log_take(void *ctx, const struct activity *a)
{
    struct activity_log *l = ctx;
    pthread_mutex_lock(&l->lock);
    if (l->n == LOG_MAX)
        abort();
    struct activity *mine = &l->a[l->n++];
    *mine = *a;
    if (a->transient && l->ntexts < 16) {
        char *text = l->texts[l->ntexts++];
        snprintf(text, sizeof l->texts[0], "%s", a->text);
        mine->text = text;
    }
    pthread_mutex_unlock(&l->lock);
}

static inline void log_start(void)
{
    log_.n = log_.ntexts = 0;
    assert_true(cpscope_activity_subscribe(ACTIVITY_VERSION, log_take, &log_));
}

static inline void log_stop(void)
{
    assert_true(cpscope_activity_subscribe(ACTIVITY_VERSION, NULL, NULL));
}

/* Rows of a kind; name NULL: any. */
static inline int log_count(enum ev_kind kind, const char *name)
{
    int n = 0;
    for (size_t i = 0; i < log_.n; i++)
        n += log_.a[i].what == ACT_EVENT && log_.a[i].kind == kind && (!name || strcmp(log_.a[i].name, name) == 0);
    return n;
}

/* Rows of the wait ledger, and those of one class (SYNC_NONE: any). */
static inline int log_waits(enum sync_class c)
{
    int n = 0;
    for (size_t i = 0; i < log_.n; i++)
        n += log_.a[i].what == ACT_EVENT && log_.a[i].sync_class != SYNC_NONE && (c == SYNC_NONE || log_.a[i].sync_class == c);
    return n;
}

/* The k-th row of that kind and name, in order of report; NULL when there are fewer. */
static inline const struct activity *log_find(enum ev_kind kind, const char *name, int k)
{
    for (size_t i = 0; i < log_.n; i++)
        if (log_.a[i].what == ACT_EVENT && log_.a[i].kind == kind && strcmp(log_.a[i].name, name) == 0 && k-- == 0)
            return &log_.a[i];
    return NULL;
}
