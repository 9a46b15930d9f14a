/* report_gate.c - a page of one run with a baseline file: what the gate's own rules say of it. */
#include "analyzer/baseline_file.h"
#include "analyzer/gate.h"
#include "analyzer/report.h"
#include "reports/asset.h"

bool report_is_baseline(const char *path)
{
    return path && baseline_is(path);
}

bool report_gate(struct report *r, const struct opt_list *files, const char *path, const struct trace_opts *o, struct err *e)
{
    struct runset runs = {0};
    struct baseline b = {0};
    struct gate_opts opts = {.baseline = &b};
    r->gate = true;
    bool ok = rules_parse("default.rules", asset_text("default.rules"), &r->rules, e) && runset_open(files->v, files->n, o, &runs, e) &&
              baseline_open(path, o, &r->rules, &b, e) && gate_run(&runs, &r->rules, &opts, &r->judged, &r->verdict, e);
    baseline_close(&b);
    runset_close(&runs);
    return ok;
}
