/* shortname.h - a kernel's name without its return type, namespaces, template arguments and parameters.
 *
 *   void at::native::vectorized_elementwise_kernel<4, f, Array<char*, 2> >(int, f, ...)  ->  vectorized_elementwise_kernel
 *   triton_poi_fused_add_12                                                              ->  triton_poi_fused_add
 */
#pragma once
#include <stddef.h>

/* Where the short name starts in `name`; *n its length. Never empty unless name is. */
const char *short_name(const char *name, size_t *n);
