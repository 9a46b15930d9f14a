/* lossreason.h - losses of device rows in a recording, by which counts may be too low: the words of those who write them and of those
 * who judge by counts.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LOSS_COPIES "copies without a record: whether their calls wait for the device is not known"
#define LOSS_DROPPED "records dropped by CUPTI: all buffers were full"
#define LOSS_UNTIMED "device records without a time: the device's buffers for tracing ran out"
#define LOSS_OUTSIDE "device records whose times lie outside of the recording"
#define LOSS_SHORT "records of CUPTI shorter than their kind: another layout than this version of cpscope knows"
#define LOSS_UNREADABLE "buffers of CUPTI that could not be read to their end"

static inline bool loss_is_of_rows(const char *reason)
{
    static const char *const reasons[] = {LOSS_COPIES, LOSS_DROPPED, LOSS_UNTIMED, LOSS_OUTSIDE, LOSS_SHORT, LOSS_UNREADABLE};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reason, reasons[i]) == 0)
            return true;
    return false;
}
