-- 0002_stacks.sql - call stacks of host waits, and how much of a recording's rings is in the file.

-- frame: the call stack `stack`, depth 0 the innermost. A native frame has the function of its symbol and the file of its
-- module, a Python one its line.
CREATE TABLE frame (stack INTEGER NOT NULL, depth INTEGER NOT NULL, site INTEGER NOT NULL, PRIMARY KEY (stack, depth)) STRICT;
ALTER TABLE sync ADD COLUMN stack INTEGER;

-- Bytes of each ring (schemas/ringfile.h) whose events are here. Of no meaning once the recording is finished.
CREATE TABLE ring (id INTEGER PRIMARY KEY, read INTEGER NOT NULL) STRICT;

CREATE VIEW CUDA_CALLCHAINS AS
    SELECT f.stack AS id, s.function AS symbol, s.file AS module, 0 AS unresolved, f.depth AS stackDepth
    FROM frame f LEFT JOIN site s ON s.id = f.site;
DROP VIEW CUPTI_ACTIVITY_KIND_RUNTIME;
CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS
    SELECT e.start, e."end", NULL AS eventClass, (t.pid & 0xFFFFFF) << 24 | (t.tid & 0xFFFFFF) AS globalTid,
        e.correlation AS correlationId, e.name AS nameId, NULL AS returnValue, y.stack AS callchainId
    FROM event e LEFT JOIN thread t ON t.id = e.thread LEFT JOIN sync y ON y.event = e.id
    WHERE e.kind = 5;
