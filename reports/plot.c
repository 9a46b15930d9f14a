/* plot.c - gnuplot as a child process.
 *
 *     settings + data + script --socket--> gnuplot -d --pipe--> picture --svg_clean()--> page
 *
 * Both directions are polled together, so neither side can wait for the other. stdin is a socket: writing to a gnuplot that
 * died is an error here, not a SIGPIPE in whoever calls us.
 */
#include "reports/plot.h"
#include "reports/asset.h"
#include "reports/palette.h"
#include "reports/svg.h"
#include "reports/glyph.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MOST = 64 << 20 };

struct child {
    pid_t pid;
    int in, out; /* what we write to, what we read from */
};

static void prelude(int width, int height, enum plot_format f, FILE *in)
{
    fputs("set encoding utf8\n", in);
    if (f == PLOT_PNG)
        fprintf(in, "set terminal pngcairo size %d,%d font 'sans-serif,10' noenhanced background '#ffffff'\n", width, height);
    else
        fprintf(in, "set terminal svg size %d,%d dynamic font 'sans-serif,13' noenhanced butt%s\n", width, height,
                f == PLOT_SVG ? " background '#ffffff'" : "");
#define COLOR(name, value) fputs("c_" #name " = '" value "'\n", in);
    PALETTE(COLOR)
#undef COLOR
}

static bool start(struct child *c, struct err *e)
{
    char path[4200] = "PATH=";
    const char *search = getenv("PATH");
    snprintf(path + 5, sizeof path - 5, "%s", search ? search : "/usr/bin:/bin");
    char *argv[] = {"gnuplot", "-d", NULL}, *env[] = {path, "LC_ALL=C.UTF-8", NULL};
    int in[2], out[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0)
        return fail(e, ERR_FAIL, "cannot start gnuplot: %s", strerror(errno));
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]), close(in[1]);
        return fail(e, ERR_FAIL, "cannot start gnuplot: %s", strerror(errno));
    }
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[1], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&c->pid, argv[0], &files, NULL, argv, env);
    posix_spawn_file_actions_destroy(&files);
    close(in[1]), close(out[1]);
    c->in = in[0], c->out = out[0];
    if (failed) {
        close(c->in), close(c->out);
        return fail(e, ERR_FAIL, "plots need gnuplot (%s): install gnuplot-nox, or run make deps", strerror(failed));
    }
    return true;
}

struct bytes {
    char *v;
    size_t n, cap;
};

/* One read of what is there; false at the end, or when it is too much. */
static bool take(int fd, struct bytes *b)
{
    if (b->n + 65536 >= b->cap)
        b->v = array_grow(b->v, &b->cap, b->n + 65537, 1);
    ssize_t got = read(fd, b->v + b->n, 65536);
    if (got < 0 && errno == EINTR)
        return true;
    if (got <= 0)
        return false;
    b->n += (size_t)got;
    return b->n < OUTPUT_MOST;
}

struct outgoing {
    const char *text;
    size_t n, sent;
};

/* Sends what the child takes now; false when there is no more to send, or nobody to send it to. */
static bool give(int fd, struct outgoing *o)
{
    ssize_t w = send(fd, o->text + o->sent, o->n - o->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (w < 0)
        return errno == EAGAIN || errno == EINTR;
    o->sent += (size_t)w;
    return o->sent < o->n;
}

static void converse(struct child *c, struct outgoing o, struct bytes *got)
{
    for (bool open = true; open;) {
        struct pollfd p[] = {{c->out, POLLIN, 0}, {c->in, POLLOUT, 0}};
        if (poll(p, c->in >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
            break;
        if (c->in >= 0 && p[1].revents && !give(c->in, &o)) {
            close(c->in);
            c->in = -1;
        }
        if (p[0].revents)
            open = take(c->out, got);
    }
    if (c->in >= 0)
        close(c->in);
    close(c->out);
}

static bool ended_well(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool plot_run(const char *script, const char *data, size_t n, int width, int height, enum plot_format f, struct arena *a, struct plot *out,
              struct err *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = open_memstream(&text, &size);
    prelude(width, height, f, in);
    fwrite(data, 1, n, in);
    fputs(asset_text(script), in);
    fclose(in);
    struct child c;
    struct bytes got = {0};
    bool ok = start(&c, e);
    if (ok) {
        converse(&c, (struct outgoing){text, size, 0}, &got);
        ok = ended_well(c.pid) && got.n;
        if (!ok)
            fail(e, ERR_FAIL, "gnuplot could not draw %s: is it version 5.4 or later, with svg and pngcairo?", script);
    }
    free(text);
    if (ok) {
        got.v[got.n] = 0; /* take() leaves room */
        char *clean = f == PLOT_PNG ? NULL : svg_clean(got.v, f == PLOT_INLINE, &got.n);
        out->data = arena_strndup(a, clean ? clean : got.v, got.n);
        out->n = got.n;
        free(clean);
    }
    free(got.v);
    return ok;
}

void plot_label(const char *s, int columns, FILE *out)
{
    char line[4096];
    int used = glyph_line(s, 1000, line, sizeof line);
    const char *p = line;
    bool cut = used > columns;
    while (cut && used > columns - 1) {
        uint32_t cp;
        p += glyph_next(p, &cp);
        used -= glyph_width(cp);
    }
    fputs(cut ? "\"\u2026" : "\"", out);
    for (; *p; p++)
        putc(*p == '"' || *p == '`' ? '\'' : *p == '\\' ? '/' : *p, out);
    putc('"', out);
}

int plot_margin(int so_far, const char *s, int columns)
{
    char line[4096];
    int used = glyph_line(s, columns, line, sizeof line) + 2;
    return used > so_far ? used : so_far;
}

int64_t plot_tic(int64_t range)
{
    int64_t tic = 1;
    for (int k = 0; range / tic >= 12; k++)
        tic = k % 3 == 1 ? tic / 2 * 5 : tic * 2;
    return tic;
}
