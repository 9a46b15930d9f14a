/* nccl_names.c - the tables of names. Numbers are those of ncclDataType_t and of NCCL's functions up to release 2.23. */
#include "collector/nccl_names.h"
#include "collector/text.h"

#include <stdbool.h>
#include <string.h>

static const struct function {
    const char *nccl, *name;
    int number;    /* -1: newer than numbers */
    bool per_rank; /* NCCL counts what one rank contributes or gets */
} functions[] = {
    {"Broadcast", "broadcast", 0, false},
    {"Reduce", "reduce", 1, false},
    {"AllGather", "all_gather", 2, true},
    {"ReduceScatter", "reduce_scatter", 3, true},
    {"AllReduce", "all_reduce", 4, false},
    {"SendRecv", "send_recv", 5, false},
    {"Send", "send", 6, false},
    {"Recv", "recv", 7, false},
    {"AlltoAll", "all_to_all", -1, true},
    {"AllToAll", "all_to_all", -1, true},
    {"Gather", "gather", -1, true},
    {"Scatter", "scatter", -1, true},
};

static const struct datatype {
    const char *nccl, *name;
    int bytes; /* the number is the place in the table */
} datatypes[] = {
    {"ncclInt8", "int8", 1},
    {"ncclUint8", "uint8", 1},
    {"ncclInt32", "int32", 4},
    {"ncclUint32", "uint32", 4},
    {"ncclInt64", "int64", 8},
    {"ncclUint64", "uint64", 8},
    {"ncclFloat16", "float16", 2},
    {"ncclFloat32", "float32", 4},
    {"ncclFloat64", "float64", 8},
    {"ncclBfloat16", "bfloat16", 2},
    {"ncclFloat8e4m3", "float8_e4m3", 1},
    {"ncclFloat8e5m2", "float8_e5m2", 1},
};

enum { NFUNCTIONS = sizeof functions / sizeof *functions, NDATATYPES = sizeof datatypes / sizeof *datatypes };

const char *nccl_function(const char *name, int number)
{
    for (int i = 0; i < NFUNCTIONS; i++)
        if (name ? strcmp(functions[i].nccl, name) == 0 || strcmp(functions[i].name, name) == 0 : functions[i].number == number)
            return functions[i].name;
    return name ? text_keep(name) : "group";
}

const char *nccl_datatype(const char *name, int number)
{
    for (int i = 0; i < NDATATYPES; i++)
        if (name ? strcmp(datatypes[i].nccl, name) == 0 || strcmp(datatypes[i].name, name) == 0 : i == number)
            return datatypes[i].name;
    return text_keep(name);
}

int nccl_element(const char *datatype)
{
    for (int i = 0; datatype && i < NDATATYPES; i++)
        if (strcmp(datatypes[i].name, datatype) == 0)
            return datatypes[i].bytes;
    return 0;
}

int64_t nccl_message(const char *function, const char *datatype, int64_t count, int ranks)
{
    int64_t bytes, parts = 1;
    for (int i = 0; i < NFUNCTIONS; i++)
        if (strcmp(functions[i].name, function) == 0 && functions[i].per_rank)
            parts = ranks; /* 0 not known */
    int64_t element = nccl_element(datatype);
    if (count < 0 || !element || !parts || __builtin_mul_overflow(count, element, &bytes) || __builtin_mul_overflow(bytes, parts, &bytes))
        return -1;
    return bytes;
}
