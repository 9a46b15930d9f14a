-- Columns that are no times may lack: the rows count as what they are.
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
INSERT INTO rocpd_string VALUES (1, 'hipLaunchKernel'), (2, 'KernelExecution'), (3, 'gemm'), (4, 'CopyDeviceToHost');
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, start INTEGER, end INTEGER, apiName_id INTEGER);
INSERT INTO rocpd_api VALUES (7, 100, 110, 1);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, start INTEGER, end INTEGER, opType_id INTEGER);
INSERT INTO rocpd_op VALUES (1, 2, 120, 150, 2), (2, 2, 160, 170, 4);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
INSERT INTO rocpd_api_ops VALUES (1, 7, 1);
CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, gridX INTEGER, kernelName_id INTEGER);
INSERT INTO rocpd_kernelapi VALUES (7, 64, 3);
CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY);
