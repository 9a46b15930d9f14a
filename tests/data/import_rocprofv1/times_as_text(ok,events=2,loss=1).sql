-- Times that are text are read, times that are none are counted; an end before its start stays as it is.
CREATE TABLE KERN ("KernelName" TEXT, "gpu-id" INTEGER, "queue-id" INTEGER, "BeginNs", "EndNs");
INSERT INTO KERN VALUES ('a', 0, 0, '100', '150'), ('b', 0, 0, 'soon', 200), ('c', 0, 0, 300, 250);
