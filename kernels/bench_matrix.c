/* bench_matrix.c - `cpbench matrix`: an experiment of kernels/matrices, run, measured and laid beside the seed's figures. */
#include "kernels/bench.h"
#include "kernels/matrix_left_out.h"
#include "schemas/keyvalue.h"
#include "schemas/opt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct matrix_options {
    const char *file, *folder, *left_out;
    int64_t repeat;
};

static const struct opt rows[] = {
    {OPT_ARG, "FILE", offsetof(struct matrix_options, file), "a shipped experiment (s0 s0-trace s0-accuracy s3 s4-accuracy s4-perf) or a file"},
    {OPT_INT, "repeat", offsetof(struct matrix_options, repeat), "make every run N times and print how far the repeats are apart [1]", "N"},
    {OPT_TEXT, "output", offsetof(struct matrix_options, folder), "folder for rows, recordings, results.csv and index.html [build/repro/NAME]", "DIR",
     'o'},
    {OPT_TEXT, "left-out", offsetof(struct matrix_options, left_out),
     "run nothing; print the experiment file with the left-out errors that cpbench calibrate printed into FIT", "FIT"},
    {0},
};

/* The folder that this program is in. */
static bool programs(char *path, size_t size, struct err *e)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    if (n < 0)
        return fail(e, ERR_FAIL, "/proc/self/exe: %s", strerror(errno));
    path[n] = '\0';
    *strrchr(path, '/') = '\0';
    return true;
}

static bool make_folders(char *path, struct err *e)
{
    for (char *cut = path; cut;) {
        cut = strchr(cut + 1, '/');
        if (cut)
            *cut = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return fail(e, ERR_FAIL, "%s: %s", path, strerror(errno));
        if (cut)
            *cut = '/';
    }
    return true;
}

static bool run_all(const struct matrix *m, const struct matrix_job *job, int repeats, struct err *e)
{
    bool bar = isatty(STDERR_FILENO);
    for (size_t i = 0; i < m->nruns; i++)
        for (int copy = 0; copy < repeats; copy++) {
            if (bar)
                fprintf(stderr, "\r\033[K%zu of %zu: %s", i + 1, m->nruns, m->runs[i].name);
            if (!matrix_run_one(m, &m->runs[i], job, copy, e))
                return false;
        }
    if (bar)
        fputs("\r\033[K", stderr);
    return true;
}

static void experiment(const struct matrix *m, const struct matrix_options *o, struct arena *a, struct err *e)
{
    char here[4096];
    if (!programs(here, sizeof here, e))
        return;
    char *folder = o->folder ? arena_strdup(a, o->folder) : arena_printf(a, "%s/../repro/%s", here, basename(o->file));
    struct matrix_job job = {.folder = folder, .machine = m->machine, .programs = here};
    struct matrix_result r = {m, &job, (int)o->repeat};
    if (make_folders(folder, e) && run_all(m, &job, (int)o->repeat, e) && matrix_write_csv(&r, e) && matrix_write_page(&r, e)) {
        matrix_print(&r);
        printf("\nThe page: %s/index.html\n", folder);
    }
}

static enum status run(int argc, char **argv, struct err *e)
{
    struct matrix_options o = {.repeat = 1};
    const struct opt_group groups[] = {{rows, &o, NULL}, {0}};
    struct arena a = {0};
    struct matrix m = {0};
    if (opt_parse(argc, argv, groups,
                  "Runs an experiment: every run of the file as a program, recorded where it says so, then tables of ours beside the seed's figures, "
                  "as text here and as results.csv and index.html in the output folder.\v"
                  "FILE is an experiment file (key = value) or one that this program carries, such as s0 or s4-perf.\n\n"
                  "  cpbench matrix s3\n"
                  "  cpbench matrix my.matrix --repeat 3 -o results",
                  &a, e) &&
        (o.repeat >= 1 || fail(e, ERR_USAGE, "--repeat %" PRId64 ": want 1 or more", o.repeat)) && matrix_load(&m, o.file, &a, e)) {
        if (o.left_out)
            left_out_write(&m, o.left_out, stdout, e);
        else
            experiment(&m, &o, &a, e);
    }
    matrix_free(&m);
    arena_free(&a);
    return STATUS_OK;
}

const struct bench_cmd bench_matrix = {.name = "matrix", .what = "runs an experiment and lays it beside the seed's figures", .run = run};
