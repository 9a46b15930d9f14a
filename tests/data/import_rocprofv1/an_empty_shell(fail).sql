-- KERN without times, and nothing else.
CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT);
