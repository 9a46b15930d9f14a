-- 0 pageable, 1 pinned, 2 device: the numbers of Nsight Systems, not those of CUPTI.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float *)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaStreamSynchronize_v3020'), (5, 'cuMemFree_v2'), (6, 'step'),
    (7, 'cudaEventQuery_v3020'), (8, 'cudaDeviceSynchronize_v3020'), (9, 'cudaEventSynchronize_v3020'), (10, 'cudaStreamWaitEvent_v3020'), (11, 'main thread');
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.13.2'), ('EXPORT_HOST', 'secret-host'), ('EXPORT_PARAM_INPUT_PATH', '/data/secret-path');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 1, 7, 1, 281483365318656, 64, 1, 0, 2), (3, 4, 0, 1, 7, 2, 281483365318656, 65, 2, 2, 1), (5, 6, 0, 1, 7, 3, 281483365318656, 66, 8, 2, 2);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (7, 8, 0, 1, 7, 4, 281483365318656, 0, 67, 2);
