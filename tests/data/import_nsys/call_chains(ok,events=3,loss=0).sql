-- The site is the innermost frame that is not the runtime's.
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float *)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaStreamSynchronize_v3020'), (5, 'cuMemFree_v2'), (6, 'step'),
    (7, 'cudaEventQuery_v3020'), (8, 'cudaDeviceSynchronize_v3020'), (9, 'cudaEventSynchronize_v3020'), (10, 'cudaStreamWaitEvent_v3020'), (11, 'main thread');
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0'), ('EXPORT_HOST', 'secret-host'), ('EXPORT_PARAM_INPUT_PATH', '/data/secret-path');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
INSERT INTO StringIds VALUES (20, 'cudaStreamSynchronize'), (21, '/usr/lib/libcudart.so.12'), (22, 'train_step(int)'), (23, '/opt/app/train'), (24, 'main');
CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER, module INTEGER, unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER NOT NULL);
INSERT INTO CUDA_CALLCHAINS VALUES (1, 24, 23, NULL, 3, 2), (1, 20, 21, NULL, 1, 0), (1, 22, 23, NULL, 2, 1), (2, 20, 21, NULL, 1, 0);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, 281483365319157, 1, 4, 0, 1), (3, 4, 0, 281483365319157, 2, 4, 0, 1), (5, 6, 0, 281483365319157, 3, 4, 0, 2);
