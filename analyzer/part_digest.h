/* part_digest.h - digests (reduce.h) as bytes, for parts.
 */
#pragma once
#include "analyzer/bytes.h"
#include "analyzer/reduce.h"

/* The husk of a file, with its calls; events: how many the file has, all of them. */
void digest_put_file(struct bytes *b, const struct trace *husk, const struct calls *calls, size_t events);
/* Rows, notes or the reason why there are none, and which calls belong to which row. */
void digest_put_table(struct bytes *b, const struct digest *g);

/* Path and name of the file are the caller's. False: damaged; g is to be freed all the same. */
bool digest_get_file(struct reading *r, const char *path, struct digest *g, size_t *events);
/* After digest_get_file(). False also when the table has other columns now. */
bool digest_get_table(struct reading *r, const struct table_desc *d, struct digest *g);

/* The digest of a trace in a part; false: it is not kept there. */
bool part_digest(const char *path, const struct table_desc *d, struct digest *g);
