/* asset.h - the texts of this folder (page.html, page.css, page.js, *.gp, *.rules) inside the program. */
#pragma once

struct asset {
    const char *name, *text;
};

extern const struct asset assets[]; /* made by the Makefile; ends with {0} */

const char *asset_text(const char *name); /* NULL: no such file */
