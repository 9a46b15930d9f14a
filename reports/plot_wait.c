/* plot_wait.c - collectives, a bar a rank: what was transfer and what was waiting for the last rank. */
#include "reports/human.h"
#include "reports/plot.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LABEL = 34, ROW = 26, SAMPLE = 100 };

static void bar(const struct plot_wait_bar *b, size_t row, double unit, FILE *in)
{
    char wait[HUMAN_SIZE], all[HUMAN_SIZE];
    int64_t total = b->wait_ns + b->transfer_ns;
    fprintf(in, "%zu ", row);
    plot_label(b->label, LABEL, in);
    if (!b->known)
        fputs(" 0 0 \"not known: the calls of the ranks do not match\"\n", in);
    else
        fprintf(in, " %.6f %.6f \"waits %s of %s, %.1f %%\"\n", (double)b->transfer_ns / unit, (double)total / unit, human_brief(b->wait_ns, wait),
                human_brief(total, all), total ? 100.0 * (double)b->wait_ns / (double)total : 0);
}

bool plot_wait(const struct plot_wait_bar *bars, size_t n, const char *sample, enum plot_format f, struct arena *a, struct plot *out, struct err *e)
{
    int64_t most = 1;
    int margin = 0;
    size_t known = 0;
    for (size_t r = 0; r < n; r++) {
        int64_t total = bars[r].known ? bars[r].wait_ns + bars[r].transfer_ns : 0;
        most = total > most ? total : most;
        margin = plot_margin(margin, bars[r].label, LABEL);
        known += bars[r].known;
    }
    if (!known)
        return fail(e, ERR_UNDECIDED, "wait: %s",
                    n ? "waiting is not known: give the traces of all ranks, with calls that match" : "no collective is in the trace");
    struct human h = human_time(most);
    double unit = 1000.0 * (double)h.thousandth;
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    fprintf(in, "rows = %zu\nlabel_columns = %d\nunit = '%s'\nmost = %.6f\nsample = ", n, margin, h.symbol, (double)most / unit);
    plot_label(sample, SAMPLE, in);
    fputs("\n$bars << EOD\n", in);
    for (size_t r = 0; r < n; r++)
        bar(&bars[r], r, unit, in);
    fputs("EOD\n", in);
    fclose(in);
    bool ok = plot_run("plot_wait.gp", text, size, 1120, 128 + ROW * (int)n, f, a, out, e);
    free(text);
    return ok;
}
