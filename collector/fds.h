/* fds.h - keeps the descriptors of the recording out of the way of the program's. */
#pragma once

/* From now on the files of the recording are opened at high numbers: a program that counts on the lowest free number still
 * gets it, and one that closes and opens descriptors by number does not find ours. Where it closes them all, and opens files of its own
 * under these numbers, the recording's use of them fails, and the program's files are not touched. Once per process. */
void fds_move_up(void);
void fds_forked(void);
