-- Its kernels are not in the file: the row is the work.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float *)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaStreamSynchronize_v3020'), (5, 'cuMemFree_v2'), (6, 'step'),
    (7, 'cudaEventQuery_v3020'), (8, 'cudaDeviceSynchronize_v3020'), (9, 'cudaEventSynchronize_v3020'), (10, 'cudaStreamWaitEvent_v3020'), (11, 'main thread');
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.13.2'), ('EXPORT_HOST', 'secret-host'), ('EXPORT_PARAM_INPUT_PATH', '/data/secret-path');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (100, 900, 0, 5, 6, 1, 7, 8, 281483365318656);
