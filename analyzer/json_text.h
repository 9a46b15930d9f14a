/* json_text.h - what a JSON value means: text, numbers, small arrays. */
#pragma once
#include "analyzer/json_scan.h"
#include "schemas/intern.h"

/* The string's text: escapes resolved, surrogate pairs joined; NUL, lone surrogates and bytes that are not UTF-8 become
 * U+FFFD (counted in *bad when it is given). A number or a bare word is its own text, anything else is empty. The text
 * lives in the value itself or in `a`, has *n bytes and no NUL behind it. */
const char *json_text(const struct json_value *v, struct arena *a, size_t *n, int64_t *bad);

/* The text, interned; 0 when there is none. */
uint32_t json_intern(const struct json_value *v, struct intern *t, struct arena *scratch, int64_t *bad);

/* A whole number within int64, also in quotes; `none` otherwise (absent, text, a fraction, too large). */
int64_t json_int(const struct json_value *v, int64_t none);

/* What numbers a process or thread: its number, a far negative one for each text that is none, -1 where nothing is said. */
int64_t json_id(const struct json_value *v, struct intern *t, struct arena *scratch);
uint32_t json_id_text(int64_t id); /* that text; 0: the id is a number */

/* A number, also in quotes, times 10^shift (decimal.h); false: it is none. */
bool json_scaled(const struct json_value *v, int shift, int64_t *to);

/* The numbers of "[a, b, c]"; missing ones keep their value. */
void json_ints(const struct json_value *v, int32_t *to, size_t n);

bool json_is(const struct json_value *v, const char *text); /* the string or word is exactly this */
