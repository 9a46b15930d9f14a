/* cupti_bind.h - CUPTI by name at run time: nothing of it is linked, one that is missing is a reason and not a failure to load.
 *
 * Which one: CPSCOPE_CUPTI (a path), else the one in the process already, else the one beside the loaded CUDA runtime, else that
 * of CUDA_HOME or the system, of a release that the driver can serve. Never a second one beside one that is there.
 */
#pragma once
#include "collector/cupti_abi.h"

#include <stdbool.h>

/* Each row: member, symbol, result and parameters; those behind the empty row may be missing in older releases. */
#define CUPTI_CALLS(NEEDED, MAYBE)                                                                                                                   \
    NEEDED(version, cuptiGetVersion, int, (uint32_t *))                                                                                              \
    NEEDED(result_text, cuptiGetResultString, int, (int, const char **))                                                                             \
    NEEDED(subscribe, cuptiSubscribe, int, (void **, cupti_callback_fn *, void *))                                                                   \
    NEEDED(unsubscribe, cuptiUnsubscribe, int, (void *))                                                                                             \
    NEEDED(enable_callback, cuptiEnableCallback, int, (uint32_t, void *, int, uint32_t))                                                             \
    NEEDED(callback_name, cuptiGetCallbackName, int, (int, uint32_t, const char **))                                                                 \
    NEEDED(register_callbacks, cuptiActivityRegisterCallbacks, int, (cupti_request_fn *, cupti_complete_fn *))                                       \
    NEEDED(enable, cuptiActivityEnable, int, (int))                                                                                                  \
    NEEDED(disable, cuptiActivityDisable, int, (int))                                                                                                \
    NEEDED(next_record, cuptiActivityGetNextRecord, int, (uint8_t *, size_t, struct cupti_record **))                                                \
    NEEDED(dropped, cuptiActivityGetNumDroppedRecords, int, (void *, uint32_t, size_t *))                                                            \
    NEEDED(flush, cuptiActivityFlushAll, int, (uint32_t))                                                                                            \
    NEEDED(set_attribute, cuptiActivitySetAttribute, int, (int, size_t *, void *))                                                                   \
    NEEDED(timestamp, cuptiGetTimestamp, int, (uint64_t *))                                                                                          \
    MAYBE(timestamp_callback, cuptiActivityRegisterTimestampCallback, int, (cupti_clock_fn *))                                                       \
    MAYBE(thread_id_type, cuptiSetThreadIdType, int, (int))                                                                                          \
    MAYBE(all_syncs, cuptiActivityEnableAllSyncRecords, int, (uint8_t))                                                                              \
    MAYBE(stream_id, cuptiGetStreamIdEx, int, (void *, void *, uint8_t, uint32_t *))                                                                 \
    MAYBE(node_id, cuptiGetGraphNodeId, int, (void *, uint64_t *))                                                                                   \
    MAYBE(push_external, cuptiActivityPushExternalCorrelationId, int, (int, uint64_t))                                                               \
    MAYBE(pop_external, cuptiActivityPopExternalCorrelationId, int, (int, uint64_t *))

struct cupti {
#define CUPTI_MEMBER(member, symbol, type, params) type(*member) params;
    CUPTI_CALLS(CUPTI_MEMBER, CUPTI_MEMBER)
#undef CUPTI_MEMBER
    char path[512];       /* of the library */
    uint32_t api_version; /* cuptiGetVersion */
};

/* false: *why says what was looked for and what is to be done. */
bool cupti_bind(struct cupti *c, char *why, size_t size);

/* "WHAT is missing: the call: its result: what is to be done". */
void cupti_explain(const struct cupti *c, const char *what, const char *call, int result, char *out, size_t size);
