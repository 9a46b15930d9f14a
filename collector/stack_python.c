/* stack_python.c - the lines on which a thread's Python interpreter is, read from outside of it.
 *
 *   PyGILState_GetThisThreadState() -> thread state -> innermost frame -> previous -> ... -> 0
 *                                                       code object, instruction
 *   code object -> file, name, first line, table of lines (decoded when a frame is seen for the first time)
 *
 * Where things stand in these structures: CPython 3.11 and 3.12 as tables (Include/cpython/code.h, internal/pycore_frame.h),
 * 3.13 from the interpreter's own _Py_DebugOffsets. Everything is read with process_vm_readv on ourselves: what is not as
 * expected is an error of that call, not of the program. The frames of the thread do not change while it is in here.
 */
#include "collector/stack_parts.h"
#include "schemas/utf8.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, FRAME = 80, TABLE_MAX = 65536 };

static struct layout {
    int cframe, current;                             /* in the thread state; -1: current is the frame itself, else in the C frame */
    int code, previous, instruction, owner;          /* of a frame */
    int not_python;                                  /* owner of a frame that is the interpreter's own */
    int file, name, lines, first_line, instructions; /* of a code object */
    int ascii, compact;                              /* sizes of strings' heads */
} at;

static const struct layout layout_3_11 = {56, 8, 32, 48, 56, 69, 3, 112, 120, 136, 72, 184, 48, 72};
static const struct layout layout_3_12 = {56, 0, 0, 8, 56, 70, 3, 112, 120, 136, 68, 192, 40, 56};

static void *(*thread_state)(void);
static uint64_t code_type; /* of objects that are code */
static pid_t self;
static _Atomic bool ready;

bool safe_read(uint64_t from, void *to, size_t n)
{
    struct iovec local = {to, n}, remote = {(void *)(uintptr_t)from, n};
    if (!self)
        self = getpid();
    return process_vm_readv(self, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

void safe_read_forked(void)
{
    self = 0;
}

/* ---- which interpreter ---- */

/* Offsets of offsets in struct _Py_DebugOffsets of 3.13. */
static bool layout_by_debug_offsets(const char *runtime)
{
    enum { FREE_THREADED = 16, CURRENT = 184, PREVIOUS = 232, CODE = 240, INSTRUCTION = 248, OWNER = 264, FILE_NAME = 280, NAME = 288 };
    enum { LINES = 304, FIRST_LINE = 312, INSTRUCTIONS = 344, ASCII = 560, SIZE = 568 };
    char d[SIZE];
    if (!safe_read((uintptr_t)runtime, d, sizeof d) || memcmp(d, "xdebugpy", 8) != 0)
        return false;
#define OFFSET(where) (int)*(const uint64_t *)(const void *)(d + (where))
    at = (struct layout){
        -1,           OFFSET(CURRENT), OFFSET(CODE),       OFFSET(PREVIOUS),     OFFSET(INSTRUCTION), OFFSET(OWNER),     3, OFFSET(FILE_NAME),
        OFFSET(NAME), OFFSET(LINES),   OFFSET(FIRST_LINE), OFFSET(INSTRUCTIONS), OFFSET(ASCII),       OFFSET(ASCII) + 16};
    return OFFSET(FREE_THREADED) == 0;
#undef OFFSET
}

static const char *choose_layout(unsigned long version)
{
    static char why[160];
    unsigned minor = version >> 16 & 0xff;
    const char *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (version >> 24 == 3 && minor == 11)
        at = layout_3_11;
    else if (version >> 24 == 3 && minor == 12)
        at = layout_3_12;
    else if (version >> 24 != 3 || minor != 13 || !runtime || !layout_by_debug_offsets(runtime)) {
        snprintf(why, sizeof why, "no Python lines in stacks: this is Python %lu.%u%s, and 3.11 to 3.13 can be read", version >> 24, minor,
                 minor == 13 ? " with free threads" : "");
        return why;
    }
    return NULL;
}

/* The version of an interpreter from before Py_Version, by its text; 0: none. */
static unsigned long old_version(void)
{
    const char *(*text)(void);
    unsigned major = 0, minor = 0;
    *(void **)&text = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    if (text && sscanf(text(), "%u.%u", &major, &minor) != 2)
        return 0;
    return (unsigned long)major << 24 | (unsigned long)minor << 16;
}

bool python_prepare(const char **why)
{
    const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");
    unsigned long v = version ? *version : old_version();
    char probe;
    *why = v ? choose_layout(v) : NULL;
    if (!v || *why)
        return v != 0;
    *(void **)&thread_state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    if (!thread_state || !code_type || !safe_read(code_type, &probe, 1))
        *why = "no Python lines in stacks: the interpreter's memory may not be read here (process_vm_readv)";
    atomic_store(&ready, !*why);
    return true;
}

uint64_t python_code(void)
{
    return atomic_load(&ready) ? (uint64_t)(uintptr_t) * (void **)&thread_state : 0;
}

/* ---- frames ---- */

/* Frames lie together: one read of what stands before them in their page serves many. */
struct window {
    uint64_t from;
    size_t n;
    char bytes[PAGE + FRAME];
};

static const char *look(struct window *w, uint64_t p)
{
    if (p < w->from || p + FRAME > w->from + w->n) {
        w->from = p & ~(uint64_t)(PAGE - 1);
        w->n = (size_t)(p + FRAME - w->from);
        if (!safe_read(w->from, w->bytes, w->n)) {
            w->n = 0;
            return NULL;
        }
    }
    return w->bytes + (p - w->from);
}

static uint64_t word(const char *p, int offset)
{
    uint64_t v;
    memcpy(&v, p + offset, sizeof v);
    return v;
}

/* The thread state is this thread's own, and the interpreter has just told where it is; its C frame lies in the C stack. */
static uint64_t innermost(const char *state)
{
    uint64_t c, p;
    if (at.cframe < 0)
        return word(state, at.current);
    c = word(state, at.cframe);
    return c && safe_read(c + (uint64_t)at.current, &p, sizeof p) ? p : 0;
}

size_t python_walk(struct python_frame *v, size_t most)
{
    struct window w;
    size_t n = 0;
    const char *state = atomic_load(&ready) ? thread_state() : NULL;
    uint64_t frame = state ? innermost(state) : 0;
    w.n = w.from = 0;
    for (int steps = 0; frame && n < most && steps < 4 * PYTHON_FRAMES; steps++) {
        const char *f = look(&w, frame);
        if (!f)
            break;
        if (f[at.owner] != at.not_python)
            v[n++] = (struct python_frame){word(f, at.code), word(f, at.instruction)};
        frame = word(f, at.previous);
    }
    return n;
}

/* ---- texts and lines ---- */

/* A string object as UTF-8, cut where it is longer; a lone surrogate, by which Python keeps a byte that is no text, as U+FFFD. */
static bool read_string(uint64_t object, char *to, size_t size)
{
    enum { LENGTH = 16, STATE = 32 };
    char head[40], raw[4096];
    if (!safe_read(object, head, sizeof head))
        return false;
    uint32_t state = (uint32_t)word(head, STATE), kind = state >> 2 & 7;
    uint64_t length = word(head, LENGTH);
    bool ascii = state >> 6 & 1, compact = state >> 5 & 1;
    if (!compact || (kind != 1 && kind != 2 && kind != 4))
        return false;
    size_t most = sizeof raw / kind, n = length < most ? (size_t)length : most;
    if (!safe_read(object + (uint64_t)(ascii ? at.ascii : at.compact), raw, n * kind))
        return false;
    char *end = to;
    int64_t bad = 0;
    for (size_t i = 0; i < n && end + UTF8_MAX < to + size; i++) {
        uint32_t c = 0;
        memcpy(&c, raw + i * kind, kind);
        end = utf8_put(end, c, &bad);
    }
    *end = '\0';
    return true;
}

/* Numbers of 6 bits a byte, the lowest first, 0x40 set where more follow. */
static uint32_t varint(const uint8_t **p, const uint8_t *end)
{
    uint32_t v = 0;
    for (int shift = 0; *p < end && shift < 32; shift += 6) {
        uint8_t b = *(*p)++;
        v |= (uint32_t)(b & 0x3f) << shift;
        if (!(b & 0x40))
            break;
    }
    return v;
}

static int32_t svarint(const uint8_t **p, const uint8_t *end)
{
    uint32_t v = varint(p, end);
    return v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
}

/* How many lines an entry of the table goes on; *p behind it. Source: Objects/locations.md of CPython. */
static int32_t line_step(const uint8_t **p, const uint8_t *end, int code)
{
    enum { SHORT_LAST = 9, ONE_LINE = 10, ONE_LINE_LAST = 12, NO_COLUMN = 13, LONG = 14 };
    int32_t step = 0;
    if (code <= SHORT_LAST)
        *p += 1;
    else if (code <= ONE_LINE_LAST) {
        *p += 2;
        step = code - ONE_LINE;
    } else if (code == NO_COLUMN)
        step = svarint(p, end);
    else if (code == LONG) {
        step = svarint(p, end);
        for (int i = 0; i < 3; i++)
            varint(p, end);
    }
    return step;
}

/* The line of code unit `unit`. */
static int32_t line_of(const uint8_t *p, size_t n, int32_t line, uint64_t unit)
{
    const uint8_t *end = p + n;
    for (uint64_t before = 0; p < end;) {
        int code = *p >> 3 & 0xf, units = (*p & 7) + 1;
        p++;
        line += line_step(&p, end, code);
        before += (uint64_t)units;
        if (unit < before)
            return line;
    }
    return line;
}

bool python_describe(struct python_frame f, struct python_text *out)
{
    enum { TYPE = 8, LENGTH = 16, BYTES = 32 };
    char code[256], head[BYTES];
    static uint8_t table[TABLE_MAX]; /* under the lock of the caller */
    int32_t first;
    if (!safe_read(f.code, code, (size_t)at.instructions) || word(code, TYPE) != code_type)
        return false;
    memcpy(&first, code + at.first_line, sizeof first);
    if (!read_string(word(code, at.file), out->file, sizeof out->file) || !read_string(word(code, at.name), out->function, sizeof out->function))
        return false;
    uint64_t lines = word(code, at.lines), n = safe_read(lines, head, sizeof head) ? word(head, LENGTH) : 0;
    n = n < TABLE_MAX ? n : TABLE_MAX;
    uint64_t begin = f.code + (uint64_t)at.instructions;
    bool inside = f.instruction >= begin && n && safe_read(lines + BYTES, table, n);
    out->line = inside ? line_of(table, n, first, (f.instruction - begin) / 2) : first;
    return true;
}
