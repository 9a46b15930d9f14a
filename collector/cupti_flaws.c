/* cupti_flaws.c - what may be wrong with records: their times, and how it is told. */
#include "collector/cupti_records.h"
#include "schemas/clock.h"
#include "schemas/lossreason.h"

#include <string.h>

enum { SLACK_NS = 1000000000 };

int64_t records_time(const struct records *p, uint64_t time)
{
    return (int64_t)(time + (uint64_t)p->shift);
}

/* Before the recording began, or later than now: by more than clocks can be off. */
static bool is_outside(const struct records *p, int64_t time)
{
    return p->clock_known && (time < p->began - SLACK_NS || time > p->now + SLACK_NS);
}

bool records_timed(struct records *p, uint64_t start, uint64_t end)
{
    if (start == 0) {
        p->flaws[FLAW_UNTIMED]++;
        return false;
    }
    if (is_outside(p, records_time(p, start)) || (end && is_outside(p, records_time(p, end)))) {
        p->flaws[FLAW_OUTSIDE]++;
        return false;
    }
    if (end < start)
        p->flaws[end == 0 ? FLAW_UNFINISHED : FLAW_REVERSED]++;
    return true;
}

void records_report(struct records *p)
{
    static const char *const reasons[NFLAWS] = {
        [FLAW_UNTIMED] = LOSS_UNTIMED,
        [FLAW_UNFINISHED] = "device records without an end: still running when recording ended",
        [FLAW_REVERSED] = "device records whose end is before their start",
        [FLAW_OUTSIDE] = LOSS_OUTSIDE,
        [FLAW_SHORT] = LOSS_SHORT,
        [FLAW_UNKNOWN] = "records of CUPTI of a kind that was not asked for",
        [FLAW_UNREADABLE] = LOSS_UNREADABLE,
    };
    int64_t now = clock_now();
    for (int i = 0; i < NFLAWS; i++)
        if (p->flaws[i])
            recorder_lost(p->r, reasons[i], p->flaws[i], p->since, now);
    memset(p->flaws, 0, sizeof p->flaws);
    p->since = now;
}
