/* cupti_names.h - names of kernels and of what CUPTI numbers. Of the parser's thread alone. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct kernel_name {
    const char *mangled; /* kept */
    const char *shown;   /* kept; demangled where the process has a C++ library */
    bool nccl;           /* is one of NCCL's or RCCL's */
};

/* The text is copied at once: it may go when its module is unloaded. */
const struct kernel_name *kernel_name(const char *mangled);

const char *copy_name(int cupti_kind);    /* "Memcpy HtoD" */
int32_t copy_kind_of(int cupti_kind);     /* enum copy_kind */
int32_t mem_kind_of(int cupti_kind);      /* enum mem_kind */
const char *overhead_name(uint32_t kind); /* "Command Buffer Full" */
