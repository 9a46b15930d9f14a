/* test_views.c - SQL as people write it for Nsight Systems exports runs on our files and gives the right numbers.
 *
 *   stream 7 of device 0   |gemm 10-30|gemm 40-50|  |all_gather 60-100|   gemm carries correlations 1, 2
 *   host thread            |launch 0-5|launch 5-8|sync 8-55 (stream)|memcpy call 55-58|
 *                          |step 0-120: layer 0-58, layer 60-110 |   a mark at 70, a started range "io/load" 20-90
 */
#include "nsight_queries.h"

TEST(queries_for_nsight_exports)
{
    char path[64];
    snprintf(path, sizeof path, "views-%d.sqlite", (int)getpid());
    fill();
    struct tracefile *f = tracefile_create(path, true, &made_err);
    assert_ok(f && tracefile_finish(f, &made, &made_err), &made_err);
    ask_all(path);
    tracedata_free(&made);
    unlink(path);
}

UNIT_MAIN(UNIT(queries_for_nsight_exports))
