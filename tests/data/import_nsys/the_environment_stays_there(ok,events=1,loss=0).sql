-- Tokens in the tables of the capture, as real exports have them.
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
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (120, 150, 0, 1, 7, 7, 281483365318656, 1, 2, 32, 1, 1, 1, 1, 1, 1, 0, 0, NULL);
INSERT INTO StringIds VALUES (30, 'HF_TOKEN=hf_secret');
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_CAPTURE VALUES ('CAPTURE_ENVIRONMENT', 'AWS_SECRET=aws_secret');
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Environment', 0, 'WANDB_API_KEY=wandb_secret');
CREATE TABLE ProcessStreams (globalPid INTEGER NOT NULL, filenameId INTEGER NOT NULL, contentId INTEGER NOT NULL);
INSERT INTO ProcessStreams VALUES (281483365318656, 30, 30);
