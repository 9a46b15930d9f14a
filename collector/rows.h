/* rows.h - host rows of our own devices and the CUDA calls inside them: one row of each (schemas/activity.h has the contract).
 *
 *   the device   push 41 | cudaMemcpyAsync: id 7   cudaStreamSynchronize: id 8 | pop   deviceMemcpy, correlation 41, with its site
 *   CUPTI                  a call inside 41: no row of its own, its id stands for 7
 *   the trace    deviceMemcpy, correlation 7, with its site; the copy, correlation 7, of the row's rank; no second wait
 *
 * The first call's id is the row's, so that rows of the device and calls outside of them never share one. The thread itself asks
 * CUPTI for the external id (kind CUSTOM2) as it enters a call, so nothing has to wait for records of such ids.
 *
 *   a collective   ACT_COMM inside 41 | launch: id 9  copy: id 10 |      two pieces of work: comm [start of the first, end of the last]
 *
 * One whose call put no work on the device (a send that the receiver copies) is a comm row without length where its call ended. While
 * nobody looks at kernels it is an op row as long as its call: its own times are not known.
 */
#pragma once
#include "collector/cupti_bind.h"
#include "collector/launches.h"
#include "collector/recorder.h"

void rows_listen(bool on); /* a device of this process reports; at first: no */
bool rows_listening(void);
void rows_watch(bool on); /* calls come through CUPTI; at first: no */

/* An outermost call of the thread begins; `work`: it puts one piece of work on a stream. true: it is inside a host row. */
bool rows_call(const struct cupti *c, uint32_t id, bool work);
/* Inside a host row: the call waited for the stream of this number, as CUPTI counts. */
void rows_waited(int64_t stream);

/* From the device, in the thread that reports: ACT_COMM; and a host row, whose correlation and stream become CUPTI's. */
void rows_comm(struct recorder *r, const struct activity *a);
void rows_end(struct recorder *r, struct activity *a);
/* Is the thread inside a collective that the device has described? NCCL need not say it once more. */
bool rows_in_comm(void);

/* What the record of the call `id` belongs to. ROW_PENDING: to a row whose rank is not known yet. */
enum row_state { ROW_NONE, ROW_PENDING, ROW_PLAIN, ROW_COMM };
struct row {
    enum row_state state;
    uint32_t id;  /* of the row; of the call when there is none */
    int32_t rank; /* -1: none */
    int64_t comm; /* ROW_COMM: which collective */
};
struct row rows_find(uint32_t id);

/* A piece of a collective (ROW_COMM), with its place and times (NULL: it has no times). `w`: what NCCL said of it, or NULL. false: the
 * collective is not known any more, and the piece is to be a row of its own. */
bool rows_piece(struct recorder *r, const struct row *row, const struct activity *piece, const struct nccl_work *w);

/* At the end: collectives of which some pieces were never seen are emitted with what there is; how many had none. */
int64_t rows_rest(struct recorder *r);
void rows_forked(void);
