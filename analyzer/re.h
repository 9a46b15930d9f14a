/* re.h - the regular expressions of options and rules: POSIX extended, case-sensitive, unanchored.
 */
#pragma once
#include <regex.h>

enum { RE_WHY = 160 };

/* Compiles without sub-matches; NULL, or why it cannot be, which lives in `why`. A pattern whose repetitions would be copied
 * out too often (a++++++, (a{99}){99}) is refused: the library doubles its tree with each. *re is to be freed when NULL comes. */
const char *re_compile(regex_t *re, const char *text, char why[RE_WHY]);
