/* shortname.c - cutting a demangled name down to what a reader calls the kernel. */
#include "analyzer/shortname.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The last "::" or space of name[0..n) outside of brackets: the short name starts behind it. */
static const char *last_part(const char *name, size_t n)
{
    const char *from = name;
    int depth = 0;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        depth += c == '<' || c == '(' || c == '{';
        depth -= c == '>' || c == ')' || c == '}';
        if (depth == 0 && (c == ' ' || (c == ':' && i && name[i - 1] == ':')) && i + 1 < n)
            from = name + i + 1;
    }
    return from;
}

/* Up to the template arguments or parameters of the outermost function; "(anonymous namespace)::" is neither. */
static size_t head_length(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)";
    for (size_t i = 0; name[i]; i++) {
        if (name[i] == '(' && strncmp(name + i, anonymous, sizeof anonymous - 1) == 0)
            i += sizeof anonymous - 2;
        else if ((name[i] == '<' || name[i] == '(') && i)
            return i;
    }
    return strlen(name);
}

/* cutlass::Kernel2<cutlass_80_wmma_..._align8>: the template's argument is the kernel. */
static const char *inside_template(const char *from, size_t *n)
{
    bool wrapper = (*n == 6 && strncmp(from, "Kernel", 6) == 0) || (*n == 7 && strncmp(from, "Kernel2", 7) == 0);
    if (!wrapper || from[*n] != '<')
        return from;
    const char *arg = from + *n + 1;
    size_t m = strcspn(arg, "<>,( ");
    if (!m)
        return from;
    from = last_part(arg, m);
    *n = m - (size_t)(from - arg);
    return from;
}

const char *short_name(const char *name, size_t *n)
{
    size_t head = head_length(name);
    while (head && name[head - 1] == ' ')
        head--;
    const char *from = last_part(name, head);
    *n = head - (size_t)(from - name);
    from = inside_template(from, n);
    bool triton = strncmp(from, "triton_", 7) == 0;
    size_t digits = *n;
    while (triton && digits && isdigit((unsigned char)from[digits - 1]))
        digits--;
    if (triton && digits < *n && digits > 1 && from[digits - 1] == '_')
        *n = digits - 1;
    if (*n == 0)
        *n = strlen(from = name);
    return from;
}
