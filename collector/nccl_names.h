/* nccl_names.h - NCCL's names of functions and types, and what they mean in bytes. */
#pragma once
#include <stdint.h>

/* AllGather, all_gather -> all_gather; an unknown function keeps its name. `number` of version 1 when name is NULL. Static or kept. */
const char *nccl_function(const char *name, int number);
const char *nccl_datatype(const char *name, int number); /* ncclBfloat16 -> bfloat16 */

/* Bytes of an element; 0: not known. */
int nccl_element(const char *datatype);

/* The larger side of an operation on `count` elements, bytes; -1 not known. function: from nccl_function. */
int64_t nccl_message(const char *function, const char *datatype, int64_t count, int ranks);
