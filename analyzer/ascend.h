/* ascend.h - what the importers of Ascend traces share: names of CANN and what they stand for.
 *
 * The device counts as busy by kernels, collectives and copies, as everywhere; Huawei's own "Computing" leaves copies out.
 */
#pragma once
#include "analyzer/rows.h"

/* A row of the device that is no collective operation: what it is, by its name and type ("AI_CORE", "KERNEL_AIVEC",
 * "EVENT_WAIT_SQE" ...). `computes`: the file itself says that it is a compute task. EV_NKINDS: left out (parts of
 * collectives, notes of the profiler). */
enum ev_kind ascend_task(const char *name, const char *type, bool computes);

/* Side rows by kind, 0 where the kind has none. */
uint32_t ascend_detail(struct rows *r, enum ev_kind kind, const char *name);

/* A collective operation "hcom_allReduce__586_3_1": EV_COMM detail; group is a string id, count of elements of dtype. */
uint32_t ascend_comm(struct rows *r, const char *name, uint32_t group, const char *dtype, int64_t count);

/* Name of a host row without the layer that text traces put before it ("AscendCL@aclrtMalloc"); string id. */
uint32_t ascend_api(struct rows *r, const char *name, size_t n);

/* The site that a call stack's innermost frame outside of torch names ("path(line): function" per frame, innermost first,
 * split by ";" and line ends); 0: none. */
uint32_t ascend_site(struct rows *r, const char *stack, size_t n);

/* The rank that the profiler's own names tell, -1: none. A text trace lies in ..._ascend_pt/ASCEND_PROFILER_OUTPUT/, with
 * profiler_info_RANK.json in either folder; a database is called ascend_pytorch_profiler_RANK.db. */
int32_t ascend_rank(const char *path);
