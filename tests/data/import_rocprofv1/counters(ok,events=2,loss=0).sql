-- A run for counters: names in double quotes.
CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT, "gpu-id" INTEGER, "queue-id" INTEGER, "queue-index" INTEGER, "pid" INTEGER, "tid" INTEGER, "grd" INTEGER, "wgr" INTEGER, "lds" INTEGER, "scr" INTEGER, "arch_vgpr" INTEGER, "DispatchNs" INTEGER, "BeginNs" INTEGER, "EndNs" INTEGER, "CompleteNs" INTEGER);
INSERT INTO KERN VALUES (0, '"initialize_kernel"', 8, 0, 0, 3593551, 3593551, 1024, 256, 16, 0, 40, 90, 100, 150, 160), (1, '"step_kernel.kd"', 8, 1, 1, 3593551, 3593551, 512, 256, 0, 0, 12, 95, 150, 250, 260);
