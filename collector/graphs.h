/* graphs.h - nodes of CUDA graphs: where they were captured, and what NCCL put into them.
 *
 *   capture:      range "layer" open, a kernel is captured --> node 5: "layer"
 *   instantiate:  node 5 --cloned--> node 9                    node 9: as node 5
 *   each launch:  a kernel of node 9 runs                --> it was captured in "layer"
 *
 * A graph that was captured before recording began has nodes that nothing is known of. Any thread.
 */
#pragma once
#include "collector/launches.h"

struct node_origin {
    const char *range;     /* kept; the innermost range at its capture; NULL: none */
    bool comm;             /* NCCL captured it: `work` says what it carries */
    struct nccl_work work; /* without sequence: each launch has the same */
};

void graph_node_made(uint64_t node, const char *range); /* by the calling thread */
void graph_node_cloned(uint64_t node, uint64_t original);
bool graph_node_carries(uint64_t node, const struct nccl_work *w); /* false: nothing is known of the node, or no memory */
bool graph_node_find(uint64_t node, struct node_origin *out);

/* The nodes that the calling thread made so far, and the latest one. */
struct nodes_made {
    uint64_t count, node;
};
struct nodes_made graph_nodes_made(void);
void graph_forked(void);
