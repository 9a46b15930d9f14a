/* svg.h - the SVG that gnuplot writes, without what varies or does nothing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Titles, descriptions, ids, unused definitions and empty groups go; black becomes currentColor, so that a page's text
 * colour holds in it. `in_page` also drops the XML head and namespaces. malloc'ed, *n its length. */
char *svg_clean(const char *svg, bool in_page, size_t *n);
