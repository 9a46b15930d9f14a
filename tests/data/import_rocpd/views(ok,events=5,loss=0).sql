-- The public views, here as tables: calls, a marker with its text in extdata, a kernel, a copy.
CREATE TABLE rocpd_info_process (id INTEGER PRIMARY KEY, pid INTEGER, command TEXT, environment TEXT);
INSERT INTO rocpd_info_process VALUES (1, 700, 'train --token=planted_secret', '{"TOKEN": "planted_secret"}');
CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '3');
CREATE TABLE regions (id INTEGER PRIMARY KEY, category TEXT, name TEXT, pid INTEGER, tid INTEGER, start INTEGER, "end" INTEGER, stack_id INTEGER, extdata TEXT);
INSERT INTO regions VALUES (1, 'HIP_RUNTIME_API_EXT', 'hipLaunchKernel', 700, 701, 1000, 1010, 5, '{}'), (2, 'HIP_RUNTIME_API_EXT', 'hipMemcpyWithStream', 700, 701, 1100, 1200, 6, NULL), (3, 'MARKER_CORE_API', 'roctxRangePushA', 700, 701, 990, 1490, 7, '{"message": "step 1"}');
CREATE TABLE kernels (id INTEGER PRIMARY KEY, name TEXT, pid INTEGER, agent_abs_index INTEGER, stream_id INTEGER, queue_id INTEGER, stack_id INTEGER, start INTEGER, "end" INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER);
INSERT INTO kernels VALUES (1, 'gemm(float*)', 700, 4, 9, 2, 5, 1020, 1050, 64, 1, 1);
CREATE TABLE memory_copies (id INTEGER PRIMARY KEY, name TEXT, pid INTEGER, start INTEGER, "end" INTEGER, queue_id INTEGER, size INTEGER, dst_agent_abs_index INTEGER, dst_agent_type TEXT, src_agent_abs_index INTEGER, src_agent_type TEXT, stack_id INTEGER);
INSERT INTO memory_copies VALUES (1, 'MEMORY_COPY_DEVICE_TO_HOST', 700, 1120, 1180, 2, 64, 0, 'CPU', 4, 'GPU', 6);
