/* human.h - numbers for reading: one unit a column, thousands separated, three decimals at most.
 *
 * A column of times or bytes is shown in one unit, chosen by its largest value, so that its rows compare at a glance:
 *
 *     blocked (ms)        ns: under 1 ms  -> us      B: under 10 kB -> B        three decimals, exact in us
 *        2,417.612            under 100 s -> ms         under 10 MB -> kB
 *            1.500            else        -> s          under 10 GB -> MB, else GB (decimal)
 *           <0.001
 */
#pragma once
#include "schemas/table.h"

enum { HUMAN_SIZE = 64 };

struct human {
    enum unit unit;
    int64_t thousandth; /* of the unit shown, in the unit stored; 0: shown as it is */
    const char *symbol; /* "ms", "MB", "%", "" */
    bool right;         /* numbers stand to the right, and texts that all are numbers */
    bool brief;         /* texts of a few words at most: need no wrapping */
};

/* How column c of t is shown. */
struct human human_column(const struct table *t, size_t c);

/* The unit for times up to `largest` ns. */
struct human human_time(int64_t largest);

/* A cell as text, "-" when absent, without its unit. A text cell is returned as it is: escape it. */
const char *human_cell(const struct human *h, struct cell c, char buf[HUMAN_SIZE]);

/* A cell of row `row` that has a unit of its own (cell_measure), with it: "2,417.612 ms"; cells of a row that have the same unit
 * share its size. */
const char *human_measure(const struct table *t, size_t row, struct cell c, char buf[HUMAN_SIZE]);

/* 61,440; and with its unit "2,417.612 ms" (the unit by the value itself). */
const char *human_count(int64_t n, char buf[HUMAN_SIZE]);
const char *human_ns(int64_t ns, char buf[HUMAN_SIZE]);

/* For sentences: three digits and the unit, "22.7 s", "943 ms", "1.50 us", "0 ms". */
const char *human_brief(int64_t ns, char buf[HUMAN_SIZE]);

/* The heading of column c: "blocked (ms)" for blocked_ns; buf holds any name up to 64 characters, longer ones are cut. */
const char *human_heading(const struct table *t, size_t c, char buf[2 * HUMAN_SIZE]);

/* The name alone: "blocked" for blocked_ns. */
const char *human_name(const char *column, char buf[HUMAN_SIZE]);
