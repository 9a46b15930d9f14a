-- No copy among the ops: those of COPY count, and are copies whatever their name.
CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT);
CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "Index" INTEGER);
INSERT INTO OPS VALUES (115, 118, 4, 0, 'step_kernel', 7, 8, 1);
CREATE TABLE COPY ("BeginNs" INTEGER, "EndNs" INTEGER, "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "Index" INTEGER);
INSERT INTO COPY VALUES (131, 189, 'async-copy', 7, 8, 0);
