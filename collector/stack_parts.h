/* stack_parts.h - what stack.c and the two kinds of frames share. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATIVE_FRAMES = 96, PYTHON_FRAMES = 96 };

/* The return addresses of the calling thread, the innermost first, the caller of this function included; how many. */
size_t native_walk(uint64_t *pcs, size_t most);

/* The same, always by the unwinder; the bounds are those of the thread's own stack, zeros where they are not known. 0: there is no
 * unwinder. unwind_prepare() looks for it. */
struct thread_stack {
    uint64_t low, high;
};
void unwind_prepare(void);
size_t unwind_walk(uint64_t *pcs, size_t most, struct thread_stack s);
void unwind_forked(void);

/* Makes the first walk of the process here, where it may allocate. */
void native_prepare(void);

/* Asked for each new mapping of code, in order; and whether an address is in one that native_modules() has told of. A look at
 * the mappings of the process reads a file and takes no lock. */
typedef void module_fn(void *ctx, uint64_t from, uint64_t last, uint64_t bias, const char *path);
void native_modules(module_fn *fn, void *ctx);
bool native_known(uint64_t pc);
bool native_same(uint64_t pc, uint64_t other); /* both in the same mapping? */
void native_forget(void);                      /* in a forked child: everything is new */

/* A line of Python: the code object and the instruction in it. */
struct python_frame {
    uint64_t code, instruction;
};

/* The frames of the calling thread's interpreter, the innermost first; 0: it has none. Reads memory in a way that cannot
 * fault; Python's lock is not looked at, for nobody but this thread changes its own frames. */
size_t python_walk(struct python_frame *v, size_t most);

/* Looks for an interpreter. true: that is settled, and *why is NULL or why python_walk() will give nothing, in words for meta. */
bool python_prepare(const char **why);

/* Function, file (UTF-8) and line of a frame, just walked. */
struct python_text {
    char function[512], file[1024];
    int32_t line;
};
bool python_describe(struct python_frame f, struct python_text *out);

uint64_t python_code(void); /* an address in the interpreter's own code; 0: there is none */

/* Copies n bytes from an address of this process; false where there is nothing to read. */
bool safe_read(uint64_t at, void *to, size_t n);
void safe_read_forked(void);
