-- HIP, OPS and COPY; KERN is the empty shell. COPY repeats the copies of OPS and is left out.
CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT);
CREATE TABLE HIP ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "args" TEXT, "Index" INTEGER);
INSERT INTO HIP VALUES (100, 110, 7, 8, 'hipLaunchKernel', '( TOKEN=planted_secret)', 1), (120, 200, 7, 8, 'hipMemcpyWithStream', '', 2), (210, 260, 7, 8, 'hipDeviceSynchronize', '', 3);
CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "Index" INTEGER);
INSERT INTO OPS VALUES (115, 118, 4, 0, 'step_kernel', 7, 8, 1), (130, 190, 4, 0, 'CopyDeviceToHost', 7, 8, 2), (191, 192, 4, 0, 'FillBuffer', 7, 8, 9), (193, 194, 4, 0, 'Marker', 7, 8, 10);
CREATE TABLE COPY ("BeginNs" INTEGER, "EndNs" INTEGER, "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "Index" INTEGER);
INSERT INTO COPY VALUES (131, 189, 'async-copy', 7, 8, 0);
