/* nccl_files.h - how ranks without MPI tell each other things: files that all see, PREFIX.NUMBER.RANK, written whole or not
 * at all. Every process counts the exchanges alike, so a number is one exchange.
 */
#pragma once
#include "schemas/err.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* A file of that name must not be there: it would be an earlier run's. */
bool nccl_file_write(const char *prefix, int64_t number, int rank, const void *data, size_t bytes, struct err *e);
/* Waits for the file, up to two minutes, or until *broken. */
bool nccl_file_read(const char *prefix, int64_t number, int rank, void *data, size_t bytes, const atomic_bool *broken, struct err *e);
