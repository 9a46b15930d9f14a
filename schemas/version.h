/* version.h - the one version of everything in this repository. */
#pragma once
#define CPSCOPE_VERSION "0.1.0"
