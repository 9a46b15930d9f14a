/* jsonstr.h - text as a JSON string, quotes and all: what JSON must escape is escaped, what acts instead of being seen is
 * written as \uXXXX, bytes that are not UTF-8 become U+FFFD.
 */
#pragma once
#include <stdio.h>

void jsonstr_put(const char *s, FILE *out);
