/* plot_breakdown.c - where the window went, a bar a device. */
#include "reports/plot.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LABEL = 34, ROW = 26, SAMPLE = 80 };

static int64_t whole(const struct plot_bar *b)
{
    return b->compute_ns + b->comm_ns + b->copy_ns + b->idle_ns;
}

static double edge(const struct plot_bar *b, int part)
{
    const int64_t parts[] = {b->compute_ns, b->comm_ns, b->copy_ns, b->idle_ns};
    int64_t sum = 0;
    for (int i = 0; i < part; i++)
        sum += parts[i];
    return whole(b) ? 100.0 * (double)sum / (double)whole(b) : 0;
}

/* The share is written into each part that has room for it; `parts` says which parts have this colour of ink. */
static void marks(const struct plot_bar *bars, size_t n, const char *name, int first, int last, FILE *in)
{
    fprintf(in, "$%s << EOD\n-1 -1 \"\"\n", name); /* never empty: gnuplot refuses a block without a row */
    for (size_t r = 0; r < n; r++)
        for (int part = first; part <= last; part++) {
            double from = edge(&bars[r], part), to = edge(&bars[r], part + 1);
            if (to - from >= 5)
                fprintf(in, "%.4f %zu \"%.1f %%\"\n", (from + to) / 2, r, to - from);
        }
    fputs("EOD\n", in);
}

bool plot_breakdown(const struct plot_bar *bars, size_t n, const char *sample, enum plot_format f, struct arena *a, struct plot *out, struct err *e)
{
    if (!n)
        return fail(e, ERR_UNDECIDED, "breakdown: no device's work is in the trace");
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    int margin = 0;
    for (size_t r = 0; r < n; r++)
        margin = plot_margin(margin, bars[r].label, LABEL);
    fprintf(in, "rows = %zu\nlabel_columns = %d\n$bars << EOD\n", n, margin);
    for (size_t r = 0; r < n; r++) {
        fprintf(in, "%zu ", r);
        plot_label(bars[r].label, LABEL, in);
        for (int part = 0; part <= 4; part++)
            fprintf(in, " %.4f", edge(&bars[r], part));
        putc('\n', in);
    }
    fputs("EOD\nsample = ", in);
    plot_label(sample, SAMPLE, in);
    putc('\n', in);
    marks(bars, n, "light", 0, 0, in);
    marks(bars, n, "dark", 1, 2, in);
    marks(bars, n, "plain", 3, 3, in);
    fclose(in);
    bool ok = plot_run("plot_breakdown.gp", text, size, 1120, 128 + ROW * (int)n, f, a, out, e);
    free(text);
    return ok;
}
