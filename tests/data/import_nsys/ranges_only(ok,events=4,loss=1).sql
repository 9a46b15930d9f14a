-- No CUDA table at all. A range that never ends is left out and counted.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float *)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaStreamSynchronize_v3020'), (5, 'cuMemFree_v2'), (6, 'step'),
    (7, 'cudaEventQuery_v3020'), (8, 'cudaDeviceSynchronize_v3020'), (9, 'cudaEventSynchronize_v3020'), (10, 'cudaStreamWaitEvent_v3020'), (11, 'main thread');
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.24.14'), ('EXPORT_HOST', 'secret-host'), ('EXPORT_PARAM_INPUT_PATH', '/data/secret-path');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, binaryData TEXT);
INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, NULL, NULL, 'NCCL', 281483365319157, NULL, NULL, 3, NULL), (10, 90, 59, NULL, NULL, NULL, NULL, 281483365319157, NULL, 6, 0, NULL), (20, 30, 59, NULL, NULL, NULL, 'ncclAllReduce', 281483365319157, NULL, NULL, 3, NULL),
    (25, 95, 60, 1, NULL, NULL, 'open', 281483365319157, 281483365319158, NULL, 0, NULL), (40, NULL, 34, NULL, NULL, NULL, 'mark', 281483365319157, NULL, NULL, 0, NULL), (50, NULL, 59, NULL, NULL, NULL, 'cut off', 281483365319157, NULL, NULL, 0, NULL), (1, NULL, 33, NULL, 2, NULL, 'category', 281483365319157, NULL, NULL, 0, NULL);
