-- end < start and time zero are handed on; a time that is none is counted; a name of bad bytes is text; ids that lead nowhere are absent.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float *)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaStreamSynchronize_v3020'), (5, 'cuMemFree_v2'), (6, 'step'),
    (7, 'cudaEventQuery_v3020'), (8, 'cudaDeviceSynchronize_v3020'), (9, 'cudaEventSynchronize_v3020'), (10, 'cudaStreamWaitEvent_v3020'), (11, 'main thread');
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0'), ('EXPORT_HOST', 'secret-host'), ('EXPORT_PARAM_INPUT_PATH', '/data/secret-path');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL,
    blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER);
INSERT INTO StringIds VALUES (40, CAST(x'6bff' AS TEXT));
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (120, 50, 0, 1, 7, 7, 281483365318656, 1, 2, 32, 1, 1, 1, 1, 1, 1, 0, 0, NULL), (0, 50, 0, 1, 7, 7, 281483365318656, 40, 2, 32, 1, 1, 1, 1, 1, 1, 0, 0, NULL), (3, 5, 0, 1, 4294967295, 7, 281483365318656, 999, 999, 32, 1, 1, 1, 1, 1, 1, 0, 0, NULL),
    (9223372036854775807, 9223372036854775807, 0, 1, 7, 7, 281483365318656, 1, 2, 32, 1, 1, 1, 1, 1, 1, 0, 0, NULL);
