-- Every table, no row.
CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_metadata (id integer PRIMARY KEY, tag varchar(4096) NOT NULL, value varchar(4096) NOT NULL);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer, completionSignal varchar(18), start integer, end integer, description_id integer, opType_id integer);
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, end integer, apiName_id integer, args_id integer);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id integer, op_id integer);
CREATE TABLE rocpd_kernelapi (api_ptr_id integer PRIMARY KEY, stream varchar(18), gridX integer, gridY integer, gridZ integer, workgroupX integer, workgroupY integer, workgroupZ integer, groupSegmentSize integer, privateSegmentSize integer, kernelName_id integer);
CREATE TABLE rocpd_copyapi (api_ptr_id integer PRIMARY KEY, stream varchar(18), size integer, kind integer);
