/* critical.h - the chain of causes that a step's length is made of.
 *
 *   host     |launch|---------------|wait====|          |launch|
 *   stream          \_|### kernel ###|       |             \_|# kernel #|
 *   path       host  launch  compute   sync    host            launch  compute       adds up to the step
 *
 * Walked backwards from the end of the window: from each instant to the one that explains it best. Where a matched
 * collective is on it, the path goes over to the rank that came last.
 */
#pragma once
#include "analyzer/replay.h"

enum path_kind { PATH_HOST, PATH_SYNC, PATH_LAUNCH, PATH_DELAY, PATH_COMPUTE, PATH_COMM, PATH_COPY, PATH_SET, PATH_UNKNOWN, PATH_NKINDS };
const char *path_kind_name(enum path_kind k);

struct path_part {
    uint32_t rank; /* entry of trace.ranks */
    enum path_kind kind;
    uint32_t name, site; /* ids in path.names; site 0: none */
    int64_t count, total_ns;
};

struct path {
    struct path_part *v; /* by total_ns down, then rank, kind, name, site */
    size_t n;
    int64_t window_ns; /* what the parts add up to: the windows of the jobs, of each the rank that ends last */
    struct intern names;
};

/* Lets rows go, where that may be: see replay_let_go(). */
void critical_path(struct replay *r, struct path *p);
void path_free(struct path *p);
