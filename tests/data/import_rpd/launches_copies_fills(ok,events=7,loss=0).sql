-- A launch with its kernel, a blocking copy with its op, a fill that no call claims, a kernel without a name of its own.
CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_metadata (id integer PRIMARY KEY, tag varchar(4096) NOT NULL, value varchar(4096) NOT NULL);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer, completionSignal varchar(18), start integer, end integer, description_id integer, opType_id integer);
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, end integer, apiName_id integer, args_id integer);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id integer, op_id integer);
CREATE TABLE rocpd_kernelapi (api_ptr_id integer PRIMARY KEY, stream varchar(18), gridX integer, gridY integer, gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer, groupSegmentSize integer, privateSegmentSize integer, kernelName_id integer);
CREATE TABLE rocpd_copyapi (api_ptr_id integer PRIMARY KEY, stream varchar(18), size integer, kind integer);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'hipMemcpyWithStream'), (4, 'KernelExecution'), (5, 'CopyHostToDevice'), (6, 'CopyDeviceToHost'), (7, 'FillBuffer'), (8, 'gemm_kernel'), (9, 'Task'), (10, 'hipGraphLaunch'), (11, 'UserMarker'), (12, 'train step 3'), (13, 'Barrier'), (14, 'OpTable::writeRows'), (15, 'TOKEN=planted_secret'), (16, 'Teleport');
INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '2'), (2, 'hostname', 'planted_secret'), (3, 'environment', 'TOKEN=planted_secret');
INSERT INTO rocpd_api VALUES (1, 50, 51, 8306017478773569, 8306017478773600, 2, 15), (2, 50, 51, 8306017478774000, 8306017478775000, 3, 15), (3, 60, 61, 8306017478773700, 8306017478773750, 2, 1);
INSERT INTO rocpd_op VALUES (1, 2, 0, 0, '', 8306017478773610, 8306017478773700, 8, 4), (2, 2, 0, 0, '', 8306017478774100, 8306017478774900, 1, 5), (3, 2, 1, 0, '', 8306017478774950, 8306017478774960, 1, 7), (4, 3, 0, 0, '', 8306017478773800, 8306017478773801, 1, 4);
INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (2, 2, 2), (3, 3, 4);
INSERT INTO rocpd_kernelapi VALUES (1, '0x0', 1792, 2, 1, 256, 1, 1, 64, 0, 8), (3, '0x0', 1, 1, 1, 128, 1, 1, 0, 0, 8);
INSERT INTO rocpd_copyapi VALUES (2, '0x0', 2000000000, 1);
