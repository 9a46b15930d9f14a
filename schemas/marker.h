/* marker.h - names of ranges and marks that analyses look for. Any framework may emit them (NVTX, record_function).
 *
 * step#N          one training step (N from 0); warmup#N a step that is left out of every table by default
 * microbatch#B    one micro-batch of a step; layer#L one layer of the model
 * forward, recompute, backward    the phases of a micro-batch
 *
 * The batch payload is one mark per micro-batch; the numbers are whole-group totals:
 *     cpscope.batch tokens=32768 padded=0 sequences=6 work=180355072 cp=4
 * tokens: without padding; padded: padding rows; sequences: packed sequences; work: sum of q_len * kv_len; cp: cp size.
 * Unknown keys are skipped, missing ones are "not in this trace".
 *
 * Cache use is a mark per micro-batch and cache (seeds/000 2.5):
 *     cpscope.cache name=route hits=47 misses=1 rebuilds=0 uncached=0 reason=first-use
 */
#pragma once

#define MARK_STEP "step"
#define MARK_WARMUP "warmup"
#define MARK_MICROBATCH "microbatch"
#define MARK_LAYER "layer"
#define MARK_FORWARD "forward"
#define MARK_RECOMPUTE "recompute"
#define MARK_BACKWARD "backward"
#define MARK_BATCH "cpscope.batch"
#define MARK_CACHE "cpscope.cache"
#define MARK_ALLOW_SYNC "cpscope.allow_sync" /* a range around syncs that are meant: the gate does not count them */
#define MARK_DOMAIN "cpscope"                /* NVTX domain of our own programs; our own NVTX source skips it */

/* Ranges of a GDN layer (spec C.2) and of the layout conversion (spec D.5). thd_route encloses all work that derives a
 * route, of either kind, and nothing else. */
#define RANGE_IN_PROJ "in_proj"
#define RANGE_ZIGZAG_TO_CONTIGUOUS "zigzag_to_contiguous"
#define RANGE_CONTIGUOUS_TO_ZIGZAG "contiguous_to_zigzag"
#define RANGE_PRE_GATED_DELTA_RULE "pre_gated_delta_rule"
#define RANGE_CONV1D "conv1d"
#define RANGE_PREPARE_QKV "prepare_qkv_for_gated_delta_rule"
#define RANGE_G_AND_BETA "g_and_beta"
#define RANGE_GATED_DELTA_RULE "gated_delta_rule"
#define RANGE_GATED_NORM "gated_norm"
#define RANGE_OUT_PROJ "out_proj"
#define RANGE_CONV_HALO "conv_halo"
#define RANGE_STATE_SUMMARY "state_summary"
#define RANGE_STATE_EXCHANGE "state_exchange"
#define RANGE_STATE_MERGE "state_merge"
#define RANGE_CORE_ATTENTION "core_attention" /* softmax attention: the kernels */
#define RANGE_KV_EXCHANGE "kv_exchange"       /* what travels for it */
#define RANGE_MLP "mlp"
#define RANGE_HEAD "lm_head" /* last norm, logits, cross-entropy, and their gradients */
#define RANGE_OPTIMIZER "optimizer"
#define RANGE_TP_EXCHANGE "tp_exchange" /* rows between the ranks of a TP group */
#define RANGE_THD_ROUTE "thd_route"
#define RANGE_THD_PREFIX "cp_layout/thd/" /* + route|swap|pack|all_to_all|scatter + "/" + direction */
