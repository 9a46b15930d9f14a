-- As programs write tables back that know no integers beside NULL; a time beyond 2^53 is not exact as a real.
CREATE TABLE StringIds (id, value);
INSERT INTO StringIds VALUES (1.0, 'gemm'), (3.0, 'cudaStreamSynchronize_v3020'), (6.0, 'step');
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (120.0, 150.0, 2.0, 1.0, 7.0, 7.0, 281483365318656.0, 1.0), ('90', '95', '2', '1', '7', '6', '281483365318656', 1),
    (1700000000000000000.0, 1700000000000000100.0, 2.0, 1.0, 7.0, 8.0, 281483365318656.0, 1.0);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100.0, 160.0, 281483365319157.0, 7.0, 3.0);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, domainId, globalTid);
INSERT INTO NVTX_EVENTS VALUES (50.0, 200.0, 59.0, NULL, 6.0, 0.0, 281483365319157.0);
