/* glyph.h - names from traces as characters: any bytes come in, only harmless text goes out. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { GLYPH_BAD = 0xFFFD };

/* One character of the NUL-terminated s (*s is not NUL): its length in bytes, at least 1. A byte that is not part of
 * well-formed UTF-8 is one GLYPH_BAD of length 1 (surrogates, overlong forms and values over 10FFFF included). */
size_t glyph_next(const char *s, uint32_t *cp);

/* Columns of a terminal that cp takes: 0 combining, 2 East Asian wide and emoji, else 1. */
int glyph_width(uint32_t cp);

/* Characters that act instead of being seen: controls, direction marks, line separators, zero-width and tag characters. */
bool glyph_acts(uint32_t cp);

/* Fills buf (of `size` bytes, at least 8) with s as one harmless line of at most `columns` columns, the last one an
 * ellipsis when it was cut; what acts or is not UTF-8 becomes '?'. Returns the columns taken. */
int glyph_line(const char *s, int columns, char *buf, size_t size);
/* The same with the ellipsis a third of the way, so that the end stays: of FILE:FUNCTION the function. */
int glyph_middle(const char *s, int columns, char *buf, size_t size);
