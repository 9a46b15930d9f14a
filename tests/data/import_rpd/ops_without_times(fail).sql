-- A table without its times.
CREATE TABLE rocpd_string (id integer PRIMARY KEY, string varchar(4096));
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, end integer, apiName_id integer, args_id integer);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, description_id integer, opType_id integer);
