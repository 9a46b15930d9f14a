/* page.h - the report: one HTML file that needs nothing but itself.
 *
 *     verdict          what a reviewer must know, in a sentence; the points that carry it
 *     sections         text, tables and plots in order; a list of links above
 *
 * Built up, then written. The page owns what it is given to print as text, not the tables and plots: those stay with the
 * caller until page_write() has run. No timestamps, no paths but those in the texts: same page, same bytes.
 */
#pragma once
#include "reports/html.h"
#include "schemas/err.h"

enum page_tone { TONE_NEUTRAL, TONE_GOOD, TONE_BAD, TONE_UNDECIDED };
enum page_kind { PAGE_SECTION, PAGE_TEXT, PAGE_LINES, PAGE_TABLE, PAGE_PLOT, PAGE_FOLD, PAGE_UNFOLD };

struct page_part {
    enum page_kind kind;
    const char *id, *text;
    const struct table *table;
    struct html_table_opts table_opts;
    const char *svg; /* trusted: made by plot.c */
};

struct page {
    const char *title, *lead; /* lead: a line below the title; NULL: none */
    enum page_tone tone;
    const char *word;    /* above the verdict; NULL: the tone's own, which speaks of sync counts */
    const char *verdict; /* NULL: none */
    struct page_part *points;
    size_t npoints, points_cap;
    struct page_part *parts;
    size_t nparts, parts_cap;
    struct arena arena;
};

void page_init(struct page *p, const char *title);
void page_free(struct page *p);

void page_lead(struct page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void page_verdict(struct page *p, enum page_tone tone, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void page_point(struct page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* a line below the verdict */

void page_section(struct page *p, const char *id, const char *title); /* id: a word of our own */
void page_text(struct page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void page_lines(struct page *p, const char *text); /* lines "word: what there is to say of it", as a list of words and texts */
void page_table(struct page *p, const struct table *t, struct html_table_opts o);
void page_plot(struct page *p, const char *svg, const char *caption); /* caption: also its text alternative */
void page_fold(struct page *p, const char *title);                    /* what follows is hidden until opened ... */
void page_unfold(struct page *p);                                     /* ... up to here */

bool page_write(const struct page *p, FILE *out, struct err *e);
