/* tablecmd.h - the one command behind every result table: cpscope TABLE [OPTIONS] FILE...
 */
#pragma once
#include "analyzer/trace.h"

enum status table_main(const struct table_desc *d, int argc, char **argv, struct err *e);
