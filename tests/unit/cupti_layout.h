/* cupti_layout.h - our layouts of CUPTI's records against the headers of a toolkit, where there is one. */
#pragma once
#include "collector/cupti_abi.h"

#if __has_include(<cupti.h>)
#include <cupti.h>
#define SAME(ours, field, theirs, other)                                                                                                             \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, other), #ours "." #field " is at " #theirs "." #other);                          \
    _Static_assert(sizeof((struct ours *)0)->field == sizeof((theirs *)0)->other, #ours "." #field " is as large as " #theirs "." #other)
SAME(cupti_kernel, registers, CUpti_ActivityKernel10, registersPerThread);
SAME(cupti_kernel, start, CUpti_ActivityKernel10, start);
SAME(cupti_kernel, end, CUpti_ActivityKernel10, end);
SAME(cupti_kernel, device, CUpti_ActivityKernel10, deviceId);
SAME(cupti_kernel, context, CUpti_ActivityKernel10, contextId);
SAME(cupti_kernel, stream, CUpti_ActivityKernel10, streamId);
SAME(cupti_kernel, grid[0], CUpti_ActivityKernel10, gridX);
SAME(cupti_kernel, grid[2], CUpti_ActivityKernel10, gridZ);
SAME(cupti_kernel, block[0], CUpti_ActivityKernel10, blockX);
SAME(cupti_kernel, static_shared, CUpti_ActivityKernel10, staticSharedMemory);
SAME(cupti_kernel, dynamic_shared, CUpti_ActivityKernel10, dynamicSharedMemory);
SAME(cupti_kernel, correlation, CUpti_ActivityKernel10, correlationId);
SAME(cupti_kernel, name, CUpti_ActivityKernel10, name);
SAME(cupti_kernel, graph_node, CUpti_ActivityKernel10, graphNodeId);
SAME(cupti_kernel, graph, CUpti_ActivityKernel10, graphId);
SAME(cupti_memcpy, copy_kind, CUpti_ActivityMemcpy6, copyKind);
SAME(cupti_memcpy, dst_kind, CUpti_ActivityMemcpy6, dstKind);
SAME(cupti_memcpy, bytes, CUpti_ActivityMemcpy6, bytes);
SAME(cupti_memcpy, end, CUpti_ActivityMemcpy6, end);
SAME(cupti_memcpy, stream, CUpti_ActivityMemcpy6, streamId);
SAME(cupti_memcpy, correlation, CUpti_ActivityMemcpy6, correlationId);
SAME(cupti_memcpy, runtime_correlation, CUpti_ActivityMemcpy6, runtimeCorrelationId);
SAME(cupti_memcpy, graph, CUpti_ActivityMemcpy6, graphId);
SAME(cupti_memcpy2, end, CUpti_ActivityMemcpyPtoP4, end);
SAME(cupti_memcpy2, dst_context, CUpti_ActivityMemcpyPtoP4, dstContextId);
SAME(cupti_memcpy2, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(cupti_memset, value, CUpti_ActivityMemset4, value);
SAME(cupti_memset, end, CUpti_ActivityMemset4, end);
SAME(cupti_memset, correlation, CUpti_ActivityMemset4, correlationId);
SAME(cupti_memset, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME(cupti_sync, type, CUpti_ActivitySynchronization2, type);
SAME(cupti_sync, correlation, CUpti_ActivitySynchronization2, correlationId);
SAME(cupti_sync, stream, CUpti_ActivitySynchronization2, streamId);
SAME(cupti_sync, event, CUpti_ActivitySynchronization2, cudaEventId);
SAME(cupti_sync, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
SAME(cupti_event, stream, CUpti_ActivityCudaEvent2, streamId);
SAME(cupti_event, device, CUpti_ActivityCudaEvent2, deviceId);
SAME(cupti_event, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);
SAME(cupti_api, cbid, CUpti_ActivityAPI, cbid);
SAME(cupti_api, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_api, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_external, external, CUpti_ActivityExternalCorrelation, externalId);
SAME(cupti_external, correlation, CUpti_ActivityExternalCorrelation, correlationId);
SAME(cupti_overhead_record, overhead, CUpti_ActivityOverhead3, overheadKind);
SAME(cupti_overhead_record, thread, CUpti_ActivityOverhead3, objectId.pt.threadId);
SAME(cupti_overhead_record, start, CUpti_ActivityOverhead3, start);
SAME(cupti_overhead_record, data, CUpti_ActivityOverhead3, overheadData);
SAME(cupti_device, memory, CUpti_ActivityDevice5, globalMemorySize);
SAME(cupti_device, multiprocessors, CUpti_ActivityDevice5, numMultiprocessors);
SAME(cupti_device, major, CUpti_ActivityDevice5, computeCapabilityMajor);
SAME(cupti_device, id, CUpti_ActivityDevice5, id);
SAME(cupti_device, name, CUpti_ActivityDevice5, name);
SAME(cupti_context, device, CUpti_ActivityContext3, deviceId);
SAME(cupti_context, api, CUpti_ActivityContext3, computeApiKind);
SAME(cupti_call, function, CUpti_CallbackData, functionName);
SAME(cupti_call, params, CUpti_CallbackData, functionParams);
SAME(cupti_call, context, CUpti_CallbackData, context);
SAME(cupti_call, correlation, CUpti_CallbackData, correlationId);
SAME(cupti_state, message, CUpti_StateData, notification.message);
SAME(cupti_graph, node, CUpti_GraphData, node);
SAME(cupti_graph, original_node, CUpti_GraphData, originalNode);
SAME(cupti_graph, type, CUpti_GraphData, nodeType);
_Static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == (int)CUPTI_CONCURRENT_KERNEL && CUPTI_ACTIVITY_KIND_MEMCPY2 == (int)CUPTI_MEMCPY2 &&
                   CUPTI_ACTIVITY_KIND_CUDA_EVENT == (int)CUPTI_CUDA_EVENT && CUPTI_ACTIVITY_KIND_SYNCHRONIZATION == (int)CUPTI_SYNCHRONIZATION &&
                   CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API == (int)CUPTI_INTERNAL_LAUNCH && CUPTI_ACTIVITY_KIND_OVERHEAD == (int)CUPTI_OVERHEAD,
               "kinds");
_Static_assert(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER == (int)CUPTI_ATTR_ZEROED &&
                   CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER == (int)CUPTI_ATTR_PER_THREAD,
               "attributes");
_Static_assert(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED == (int)CUPTI_OTHER_SUBSCRIBER &&
                   CUPTI_ERROR_NOT_COMPATIBLE == (int)CUPTI_NOT_COMPATIBLE &&
                   CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == (int)CUPTI_INSUFFICIENT_PRIVILEGES &&
                   CUPTI_ERROR_MAX_LIMIT_REACHED == (int)CUPTI_MAX_LIMIT && CUPTI_ERROR_INVALID_KIND == (int)CUPTI_INVALID_KIND,
               "results");
_Static_assert(CUPTI_CB_DOMAIN_STATE == (int)CUPTI_DOMAIN_STATE && CUPTI_CBID_STATE_FATAL_ERROR == (int)CUPTI_STATE_FATAL, "domains");
_Static_assert(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL == (int)CUPTI_OVERHEAD_QUEUE_FULL, "overheads");
_Static_assert(CU_GRAPH_NODE_TYPE_KERNEL == (int)CUPTI_NODE_KERNEL, "nodes");
#define HAVE_CUPTI_HEADERS 1
#else
#define HAVE_CUPTI_HEADERS 0
#endif
