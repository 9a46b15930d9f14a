-- Markers are ranges, the writer's rows are overhead, barriers are no work, an unknown op is counted, a NULL time too.
CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_metadata (id integer PRIMARY KEY, tag varchar(4096) NOT NULL, value varchar(4096) NOT NULL);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer, completionSignal varchar(18), start integer, end integer, description_id integer, opType_id integer);
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, end integer, apiName_id integer, args_id integer);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id integer, op_id integer);
CREATE TABLE rocpd_kernelapi (api_ptr_id integer PRIMARY KEY, stream varchar(18), gridX integer, gridY integer, gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer, groupSegmentSize integer, privateSegmentSize integer, kernelName_id integer);
CREATE TABLE rocpd_copyapi (api_ptr_id integer PRIMARY KEY, stream varchar(18), size integer, kind integer);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'hipMemcpyWithStream'), (4, 'KernelExecution'), (5, 'CopyHostToDevice'), (6, 'CopyDeviceToHost'), (7, 'FillBuffer'), (8, 'gemm_kernel'), (9, 'Task'), (10, 'hipGraphLaunch'), (11, 'UserMarker'), (12, 'train step 3'), (13, 'Barrier'), (14, 'OpTable::writeRows'), (15, 'TOKEN=planted_secret'), (16, 'Teleport');
INSERT INTO rocpd_api VALUES (1, 50, 51, 1000, 2000, 11, 12), (2, 50, 52, 1500, 1600, 14, 1);
INSERT INTO rocpd_op VALUES (1, 0, 0, 0, '', 1100, 1200, 1, 13), (2, 0, 0, 0, '', 1100, 1200, 1, 16), (3, 0, 0, 0, '', NULL, 1200, 8, 4), (4, 0, 0, 0, '', 1300, 1200, 8, 4);
