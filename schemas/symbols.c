/* symbols.c - the functions of .symtab, of .dynsym where that was stripped, sorted by address. Offsets and sizes in a file are
 * checked before they are followed: it may be damaged. */
#include "schemas/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct function {
    uint64_t start, size;
    uint64_t name; /* offset in the file */
};

struct symbol_file {
    char *path;
    const char *map; /* NULL: cannot be read */
    size_t size;
    struct function *v;
    size_t n, cap;
};

static bool inside(const struct symbol_file *f, uint64_t at, uint64_t size)
{
    return at <= f->size && size <= f->size - at;
}

static const Elf64_Shdr *section(const struct symbol_file *f, uint64_t i)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)f->map;
    uint64_t at = h->e_shoff + i * sizeof(Elf64_Shdr);
    return i < h->e_shnum && inside(f, at, sizeof(Elf64_Shdr)) && at % 8 == 0 ? (const Elf64_Shdr *)(f->map + at) : NULL;
}

static const Elf64_Shdr *section_of_type(const struct symbol_file *f, uint32_t type)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)f->map;
    for (uint64_t i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = section(f, i);
        if (s && s->sh_type == type)
            return s;
    }
    return NULL;
}

static void read_functions(struct symbol_file *f, const Elf64_Shdr *table)
{
    const Elf64_Shdr *strings = table ? section(f, table->sh_link) : NULL;
    if (!strings || !inside(f, table->sh_offset, table->sh_size) || !inside(f, strings->sh_offset, strings->sh_size) || table->sh_offset % 8)
        return;
    const Elf64_Sym *v = (const Elf64_Sym *)(f->map + table->sh_offset);
    for (size_t i = 0; i < table->sh_size / sizeof *v; i++) {
        struct function fn = {v[i].st_value, v[i].st_size, strings->sh_offset + v[i].st_name};
        bool function = ELF64_ST_TYPE(v[i].st_info) == STT_FUNC && v[i].st_shndx != SHN_UNDEF && v[i].st_name < strings->sh_size;
        if (function && memchr(f->map + fn.name, '\0', strings->sh_size - v[i].st_name))
            ARRAY_PUSH(f->v, f->n, f->cap, fn);
    }
}

static int by_start(const void *x, const void *y)
{
    const struct function *a = x, *b = y;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static void open_file(struct symbol_file *f)
{
    struct stat st;
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)sizeof(Elf64_Ehdr);
    void *map = ok ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED)
        return;
    f->map = map;
    f->size = (size_t)st.st_size;
    if (memcmp(f->map, ELFMAG, SELFMAG) != 0 || f->map[EI_CLASS] != ELFCLASS64)
        return;
    read_functions(f, section_of_type(f, SHT_SYMTAB));
    if (!f->n)
        read_functions(f, section_of_type(f, SHT_DYNSYM));
    if (f->n)
        qsort(f->v, f->n, sizeof *f->v, by_start);
}

static struct symbol_file *file_of(struct symbols *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->files[i].path, path) == 0)
            return &s->files[i];
    struct symbol_file f = {.path = strdup(path)};
    if (!f.path)
        return NULL;
    open_file(&f);
    ARRAY_PUSH(s->files, s->n, s->cap, f);
    return &s->files[s->n - 1];
}

/* Where a byte of the file is loaded, as symbols say it. */
static uint64_t address_of(const struct symbol_file *f, uint64_t offset)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)f->map;
    for (uint64_t i = 0; f->n && i < h->e_phnum; i++) {
        uint64_t at = h->e_phoff + i * sizeof(Elf64_Phdr);
        const Elf64_Phdr *p = inside(f, at, sizeof *p) && at % 8 == 0 ? (const Elf64_Phdr *)(f->map + at) : NULL;
        if (p && p->p_type == PT_LOAD && offset >= p->p_offset && offset - p->p_offset < p->p_filesz)
            return offset - p->p_offset + p->p_vaddr;
    }
    return offset;
}

const char *symbols_at(struct symbols *s, const char *path, uint64_t offset, struct arena *a)
{
    const struct symbol_file *f = file_of(s, path);
    uint64_t address = f ? address_of(f, offset) : 0;
    size_t low = 0, high = f ? f->n : 0;
    while (low < high) { /* the last one that starts at or before the address */
        size_t mid = (low + high) / 2;
        if (f->v[mid].start <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low)
        return NULL;
    const struct function *fn = &f->v[low - 1];
    bool in = fn->size == 0 || address - fn->start < fn->size;
    return in ? arena_strdup(a, f->map + fn->name) : NULL;
}

void symbols_free(struct symbols *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->files[i].map)
            munmap((void *)s->files[i].map, s->files[i].size);
        free(s->files[i].path);
        free(s->files[i].v);
    }
    free(s->files);
    *s = (struct symbols){0};
}
