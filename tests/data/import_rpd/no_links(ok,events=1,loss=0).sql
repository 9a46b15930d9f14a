-- Ops and strings only: what older writers leave.
CREATE TABLE rocpd_string (id integer PRIMARY KEY, string varchar(4096));
INSERT INTO rocpd_string VALUES (4, 'KernelExecution'), (8, 'gemm_kernel');
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, end integer, apiName_id integer, args_id integer);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, start integer, end integer, description_id integer, opType_id integer);
INSERT INTO rocpd_op VALUES (1, 0, 0, 10, 20, 8, 4);
