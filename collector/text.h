/* text.h - names that programs hand over and may free at once, kept for good: each distinct text once. */
#pragma once
#include <stddef.h>

/* The kept copy of s[0..n-1], the same pointer for the same text from any thread; a new text is copied under a lock, a
 * known one is found without. When 64 MB are full: one fixed text that says so. NULL stays NULL. */
const char *text_keep(const char *s);
const char *text_keep_n(const char *s, size_t n);
const char *text_keep_wide(const wchar_t *s); /* as UTF-8 */

void text_forked(void); /* in a forked child: the lock may have been somebody else's */
