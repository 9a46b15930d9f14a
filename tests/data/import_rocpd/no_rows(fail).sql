-- All tables, no row.
CREATE TABLE rocpd_string_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
INSERT INTO rocpd_string_00000e3a_7c1d VALUES (1, '00000e3a_7c1d', 'HIP_RUNTIME_API_EXT'), (2, '00000e3a_7c1d', 'hipLaunchKernel'), (3, '00000e3a_7c1d', 'hipMemcpyWithStream'), (4, '00000e3a_7c1d', 'MARKER_CORE_RANGE_API'), (5, '00000e3a_7c1d', 'step 1'), (6, '00000e3a_7c1d', 'MEMORY_COPY_DEVICE_TO_HOST');
CREATE TABLE rocpd_info_process_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, command TEXT, environment TEXT);
INSERT INTO rocpd_info_process_00000e3a_7c1d VALUES (1, '00000e3a_7c1d', 700, 'planted_secret', '{"TOKEN": "planted_secret"}');
CREATE TABLE rocpd_info_thread_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER);
INSERT INTO rocpd_info_thread_00000e3a_7c1d VALUES (1, '00000e3a_7c1d', 1, 701);
CREATE TABLE rocpd_info_agent_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, type TEXT, absolute_index INTEGER, name TEXT, product_name TEXT);
INSERT INTO rocpd_info_agent_00000e3a_7c1d VALUES (1, '00000e3a_7c1d', 'CPU', 0, 'EPYC', 'EPYC'), (2, '00000e3a_7c1d', 'GPU', 4, 'gfx942', 'MI300X');
CREATE TABLE rocpd_info_kernel_symbol_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, display_name TEXT);
INSERT INTO rocpd_info_kernel_symbol_00000e3a_7c1d VALUES (1, '00000e3a_7c1d', 'gemm(float*)');
CREATE TABLE rocpd_metadata_00000e3a_7c1d (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata_00000e3a_7c1d VALUES (1, 'schema_version', '3');
CREATE TABLE rocpd_event_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, extdata TEXT);
INSERT INTO rocpd_event_00000e3a_7c1d VALUES (1, '00000e3a_7c1d', 1, 5, '{}'), (2, '00000e3a_7c1d', 1, 6, '{}'), (3, '00000e3a_7c1d', 4, 7, '{}'), (4, '00000e3a_7c1d', NULL, 5, '{}'), (5, '00000e3a_7c1d', NULL, 6, '{}');
CREATE TABLE rocpd_region_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER, start INTEGER, "end" INTEGER, name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_kernel_dispatch_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, agent_id INTEGER, kernel_id INTEGER, queue_id INTEGER, start INTEGER, "end" INTEGER, event_id INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, group_segment_size INTEGER);
CREATE TABLE rocpd_memory_copy_00000e3a_7c1d (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, start INTEGER, "end" INTEGER, name_id INTEGER, src_agent_id INTEGER, dst_agent_id INTEGER, size INTEGER, queue_id INTEGER, event_id INTEGER);
