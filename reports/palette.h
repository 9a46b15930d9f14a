/* palette.h - one colour for one thing, on every plot and on the page.
 *
 * Told apart with every common colour blindness (hues of Okabe and Ito 2008; before and after differ in lightness too),
 * and on white as on black. Each plot also says in words what a colour is.
 */
#pragma once

#define PALETTE(COLOR)                                                                                                                               \
    COLOR(compute, "#0072b2") /* kernels that compute */                                                                                             \
    COLOR(comm, "#e69f00")    /* collectives */                                                                                                      \
    COLOR(copy, "#009e73")    /* copies and fills */                                                                                                 \
    COLOR(idle, "#9aa3ab")    /* nothing */                                                                                                          \
    COLOR(wait, "#d55e00")    /* a host thread blocked in a call */                                                                                  \
    COLOR(before, "#aa3377")                                                                                                                         \
    COLOR(after, "#2ca6c4")
