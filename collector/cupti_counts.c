/* cupti_counts.c - see cupti_counts.h. */
#include "collector/cupti_counts.h"
#include "collector/cupti_ask.h"
#include "collector/cupti_buffers.h"
#include "collector/recorder_parts.h"
#include "schemas/clock.h"
#include "schemas/lossreason.h"

#include <string.h>

enum { BRACKETS = 5 };

static void say_once(struct recorder *r, const struct cupti *c, bool *said, const char *what, const char *call, int result)
{
    if (!*said)
        cupti_missing(c, r, what, call, result);
    *said = true;
}

/* The narrowest of some brackets; CUPTI's answer where there was none. */
static int read_clock(const struct cupti *c, int64_t best[3])
{
    int64_t reading[3];
    int result = CUPTI_UNKNOWN;
    best[0] = 0;
    best[2] = INT64_MAX;
    for (int i = 0; i < BRACKETS; i++) {
        uint64_t theirs = 0;
        reading[0] = clock_now();
        int rc = c->timestamp(&theirs);
        reading[2] = clock_now();
        reading[1] = (int64_t)theirs;
        if (rc == CUPTI_OK && (best[2] == INT64_MAX || reading[2] - reading[0] < best[2] - best[0]))
            memcpy(best, reading, sizeof reading);
        result = result == CUPTI_OK ? result : rc;
    }
    return result;
}

void cupti_pair_clocks(struct recorder *r, const struct cupti *c, struct records *records, bool own_clock)
{
    static bool said;
    int64_t best[3], reading[3];
    recorder_clocks(reading);
    recorder_clock_pair(r, "realtime", reading);
    int rc = read_clock(c, best);
    records->clock_known = own_clock || rc == CUPTI_OK;
    if (rc != CUPTI_OK) {
        say_once(r, c, &said, own_clock ? "no pairs of clocks with CUPTI's are recorded" : "times of the device are not on the host's clock",
                 "cuptiGetTimestamp", rc);
        return;
    }
    recorder_clock_pair(r, "cupti", best);
    records->shift = own_clock ? 0 : best[0] + (best[2] - best[0]) / 2 - best[1];
}

void cupti_count_drops(struct recorder *r, const struct cupti *c, int64_t since)
{
    static bool said;
    size_t n = 0;
    int64_t refused = buffers_refused(), now = clock_now();
    if (refused)
        recorder_lost(r, "requests of CUPTI for a buffer that got none: all buffers were full", refused, since, now);
    int rc = c->dropped(NULL, 0, &n);
    if (rc != CUPTI_OK)
        say_once(r, c, &said, "how many records CUPTI dropped is not known", "cuptiActivityGetNumDroppedRecords", rc);
    else if (n)
        recorder_lost(r, LOSS_DROPPED, (int64_t)n, since, now);
}
