-- Tables and no row.
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO STRING_IDS VALUES (1, 'AI_CORE'), (2, 'KERNEL_AIVEC'), (3, 'MEMCPY_ASYNC'), (4, 'EVENT_WAIT'), (5, 'SDMA'), (6, 'Notify Wait'), (7, 'aclnnAdd_Add'), (8, 'hcom_allReduce__210_0_1'), (9, 'group_a'),
 (10, 'aclrtSynchronizeStreamWithTimeout'), (11, 'StreamSynchronize'), (12, 'aten::item'), (13, 'ProfilerStep#4'), (14, 'train.py(20): step'), (15, '/x/lib/python3.9/site-packages/torch/_ops.py(692): __call__'),
 (16, '/home/me/work/run.py(33): train'), (17, 'EVENT_RECORD'), (18, 'mark'), (19, 'dom'), (20, 'aclnnMul_Mul');
CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_API_TYPE VALUES (5000, 'runtime'), (20000, 'acl'), (50001, 'op'), (50002, 'queue'), (50003, 'trace'), (50004, 'mstx');
CREATE TABLE META_DATA (name TEXT, value TEXT);
INSERT INTO META_DATA VALUES ('SCHEMA_VERSION', '1.0.0'), ('ENV_VARIABLES', '{"HF_TOKEN": "planted_secret"}');
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
INSERT INTO NPU_INFO VALUES (0, 'Ascend910B');
CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);
INSERT INTO HOST_INFO VALUES ('1', 'node7');
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
INSERT INTO RANK_DEVICE_MAP VALUES (5, 1);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, taskType INTEGER, opType INTEGER);
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, groupName INTEGER, opId INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, opId INTEGER PRIMARY KEY, dataType INTEGER, count NUMERIC);
CREATE TABLE ENUM_HCCL_DATA_TYPE (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (4, 'FP32');
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER);
