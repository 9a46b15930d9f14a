/* cupti_records.h - from a buffer of CUPTI's records to events.
 *
 *   | kernel | memcpy | sync | kernel | ...      the distance to the next record is the size of this one
 *
 * A record is read as far as it reaches and no further, and left out and counted when it does not hold what its kind needs.
 * Records have no order, and what belongs to one may come in a later buffer: such a record is held back for up to HOLD rounds.
 *
 *   kernel of NCCL   waits for NCCL's last word on it (launches.h)
 *   kernel of a graph  is projected to the range it was captured in (graphs.h): a run of them is one annotation of the stream
 *   work of a device of ours  is of its row's rank, or a piece of a collective (rows.h); its waits are no rows here
 *   wait for event   waits for the event's recording, which names the stream; for the context, which names the device
 */
#pragma once
#include "collector/captured.h"
#include "collector/cupti_buffers.h"
#include "collector/recorder.h"

enum { HOLD = 2, HELD_MAX = 1 << 16 };

/* What may be wrong with records: counted, and told to the recorder with the next round. */
enum record_flaw { FLAW_UNTIMED, FLAW_UNFINISHED, FLAW_REVERSED, FLAW_OUTSIDE, FLAW_SHORT, FLAW_UNKNOWN, FLAW_UNREADABLE, NFLAWS };

struct held;
struct records {
    struct recorder *r;
    const struct cupti *c;
    int64_t shift; /* what is added to CUPTI's times: 0 where its clock is ours */
    struct held *held;
    size_t nheld, held_cap;
    struct captured captured; /* the range that the latest kernels of a graph were captured in */
    int64_t flaws[NFLAWS];
    bool clock_known;      /* times are on our clock, so that what lies outside of the recording is wrong */
    int64_t began, now;    /* the recording; this buffer's reading */
    int64_t parsed, since; /* records; the start of this round */
};

void records_init(struct records *p, struct recorder *r, const struct cupti *c);

/* Every record of the buffer. */
void records_parse(struct records *p, const struct cupti_full *f);

/* A round ended: tries what is held back once more; `last`: nothing more will come. */
void records_round(struct records *p, bool last);
void records_free(struct records *p);

/* ---- cupti_flaws.c ---- */

int64_t records_time(const struct records *p, uint64_t time); /* of CUPTI's, on our clock */
/* Rows without a time mean nothing, and those outside of the recording would stretch it: false, they are left out. Unfinished and
 * reversed ones stay as they are, for the reader to see. All are counted. */
bool records_timed(struct records *p, uint64_t start, uint64_t end);
void records_report(struct records *p); /* what was counted, to the recorder */
