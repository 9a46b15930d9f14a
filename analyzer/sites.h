/* sites.h - where in the source a host call was made, in words that survive machines and edits.
 *
 *   our own events     the site that came with the event              kernels/layout/route.c:route_build
 *   our collector      innermost user frame of the stack it took       model/attention.py:forward
 *   foreign traces     innermost user frame around it, on its thread  switch_transformers/model.py:forward
 *                      else the innermost range, else the API         DistributedDataParallel.forward
 *
 * A user frame is a Python frame that is not of torch, of the standard library or built in. Paths start at their package
 * or repository; hashes of generated code and numbers behind a range's '#' are removed.
 */
#pragma once
#include "analyzer/trace.h"

enum site_by { SITE_FUNCTION, SITE_LINE, SITE_STACK };

/* "function", "line", "stack" (NULL: function). */
bool site_by_parse(const char *text, enum site_by *by, struct err *e);

/* Site names of one file's rows; equal sites have equal ids in `names`, over files too. */
struct sites {
    const struct trace_file *f;
    enum site_by by;
    struct intern *names;
    uint32_t *of_site, *of_name; /* 1 + id by site id and by string id: most sites come again and again */
    uint32_t *of_stack;          /* 1 + id of a site, by id of a stack: its user frame */
    uint8_t *user;               /* by string id: is it a user's frame; 0 not looked at */
    struct arena arena;
};

void sites_init(struct sites *s, const struct trace_file *f, enum site_by by, struct intern *names);
void sites_free(struct sites *s);
/* The site of the host row `ev`. `around` are the numbers of the host rows that enclose it, outermost first. */
uint32_t sites_id(struct sites *s, const struct event *ev, const uint32_t *around, size_t naround);
/* Does sites_id look at `around` for this row? */
bool sites_needs_around(struct sites *s, const struct event *ev);

/* The call stack that was taken for a host row; NULL: none. */
const struct stackkey *sites_stack(const struct sites *s, const struct event *ev);

/* Its innermost user frame, as id of a site: of Python where there is any, else of a native function that is not of the
 * system's or the vendor's libraries; 0: none. */
uint32_t sites_of_stack(struct sites *s, const struct event *ev);

/* Is "path(line): function" a frame of the user's? */
bool sites_is_user(const char *name);

/* Is `name` (a string of the file) a Python frame of the user's? */
bool sites_user_frame(struct sites *s, uint32_t name);
