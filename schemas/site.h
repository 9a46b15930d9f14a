/* site.h - a place in source code, with static lifetime. */
#pragma once

struct site {
    const char *function, *file; /* the file relative to the repository's root */
    int line;
};

/* The place where SITE_HERE stands, as a pointer that stays valid for the life of the process. */
#define SITE_HERE                                                                                                                                    \
    __extension__({                                                                                                                                  \
        static const struct site here_ = {__func__, __FILE__, __LINE__};                                                                             \
        &here_;                                                                                                                                      \
    })
