/* plot_syncs.c - sync sites before and after. */
#include "reports/human.h"
#include "reports/plot.h"

#include <stdlib.h>

enum { LABEL = 46, ROW = 40, ROW_ALONE = 26, SAMPLE = 80 };

static void side(const struct plot_site *s, size_t n, bool before, int64_t thousandth, FILE *in)
{
    fprintf(in, "$%s << EOD\n", before ? "before" : "after");
    for (size_t r = 0; r < n; r++) {
        char count[HUMAN_SIZE], time[HUMAN_SIZE];
        struct human h = {UNIT_REAL, 0, "", true};
        int64_t ns = before ? s[r].before_ns : s[r].after_ns;
        double calls = before ? s[r].before_count : s[r].after_count;
        if (calls <= 0)
            fprintf(in, "%zu 0 \"none\"\n", r);
        else
            fprintf(in, "%zu %.6f \"%s x, %s\"\n", r, (double)(ns < 0 ? 0 : ns) / (1000.0 * (double)thousandth),
                    human_cell(&h, cell_real(calls), count), human_ns(ns < 0 ? 0 : ns, time));
    }
    fputs("EOD\n", in);
}

bool plot_syncs(const struct plot_site *sites, size_t n, bool pair, const char *sample, enum plot_format f, struct arena *a, struct plot *out,
                struct err *e)
{
    if (!n)
        return fail(e, ERR_UNDECIDED, "syncs: no host-device sync is in the trace");
    int64_t most = 1;
    for (size_t r = 0; r < n; r++) {
        most = sites[r].before_ns > most && pair ? sites[r].before_ns : most;
        most = sites[r].after_ns > most ? sites[r].after_ns : most;
    }
    int margin = 0;
    for (size_t r = 0; r < n; r++)
        margin = plot_margin(margin, sites[r].label, LABEL);
    struct human h = human_time(most);
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    fprintf(in, "rows = %zu\npair = %d\nlabel_columns = %d\nunit = '%s'\nmost = %.6f\n", n, pair, margin, h.symbol,
            (double)most / (1000.0 * (double)h.thousandth));
    fputs("sample = ", in);
    plot_label(sample, SAMPLE, in);
    putc('\n', in);
    side(sites, n, true, h.thousandth, in);
    side(sites, n, false, h.thousandth, in);
    fputs("$sites << EOD\n", in);
    for (size_t r = 0; r < n; r++) {
        fprintf(in, "%zu ", r);
        plot_label(sites[r].label, LABEL, in);
        putc('\n', in);
    }
    fputs("EOD\n", in);
    fclose(in);
    bool ok = plot_run("plot_syncs.gp", text, size, 1120, 128 + (pair ? ROW : ROW_ALONE) * (int)n, f, a, out, e);
    free(text);
    return ok;
}
