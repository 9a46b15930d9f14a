-- trace.sql - version 1 of the trace file.
-- Law: tables and columns are only added (NNNN_what.sql); a name keeps its meaning for good; a reader asks for what it
-- needs and says "not in this trace" for the rest. Times: integer ns relative to meta t0_ns, half open [start, end).
-- NULL means "not in this trace", never 0.

CREATE TABLE string (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE process (id INTEGER PRIMARY KEY, pid INTEGER, host INTEGER, name INTEGER, rank INTEGER) STRICT;
CREATE TABLE thread (id INTEGER PRIMARY KEY, process INTEGER, pid INTEGER, tid INTEGER, name INTEGER) STRICT;
CREATE TABLE stream (id INTEGER PRIMARY KEY, process INTEGER, device INTEGER, native INTEGER) STRICT;
CREATE TABLE site (id INTEGER PRIMARY KEY, function INTEGER, file INTEGER, line INTEGER) STRICT;

-- kind: numbers of events.def (event_kind holds their names). name: string. thread, stream, site: keys above.
CREATE TABLE event (id INTEGER PRIMARY KEY, start INTEGER NOT NULL, "end" INTEGER NOT NULL, kind INTEGER NOT NULL,
    name INTEGER, rank INTEGER, device INTEGER, stream INTEGER, thread INTEGER, correlation INTEGER, bytes INTEGER,
    site INTEGER) STRICT;
CREATE TABLE event_kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL, class INTEGER NOT NULL) STRICT;

-- side tables, keyed by event
CREATE TABLE sync (event INTEGER PRIMARY KEY, class INTEGER, did_block INTEGER, wait_stream INTEGER,
    wait_event INTEGER) STRICT;
CREATE TABLE kernel (event INTEGER PRIMARY KEY, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER,
    block_y INTEGER, block_z INTEGER, registers INTEGER, static_shared INTEGER, dynamic_shared INTEGER, graph INTEGER,
    graph_node INTEGER) STRICT;
CREATE TABLE comm (event INTEGER PRIMARY KEY, communicator INTEGER, function INTEGER, dtype INTEGER, peer INTEGER,
    group_size INTEGER, sequence INTEGER, message_bytes INTEGER) STRICT;
CREATE TABLE copy (event INTEGER PRIMARY KEY, kind INTEGER, src INTEGER, dst INTEGER) STRICT;
CREATE TABLE range (event INTEGER PRIMARY KEY, domain INTEGER, flavour INTEGER, idx INTEGER) STRICT;

-- facts of the trace as a whole
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE clock (clock TEXT NOT NULL, before INTEGER, other INTEGER, after INTEGER) STRICT;
CREATE TABLE loss (reason TEXT NOT NULL, count INTEGER, start INTEGER, "end" INTEGER) STRICT;
CREATE TABLE memory (time INTEGER, rank INTEGER, device INTEGER, what TEXT NOT NULL, bytes INTEGER) STRICT;

-- Views with the names and columns of an Nsight Systems export. Rank r of our runs shows as its device; globalTid and
-- globalPid hold the pid in bits 24..47 as there. Columns that we do not know are NULL.
CREATE VIEW StringIds AS SELECT id, value FROM string;

CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
    SELECT e.start, e."end", e.device AS deviceId, NULL AS contextId, s.native AS streamId,
        e.correlation AS correlationId, (p.pid & 0xFFFFFF) << 24 AS globalPid, e.name AS demangledName,
        e.name AS shortName, e.name AS mangledName, k.registers AS registersPerThread, k.grid_x AS gridX,
        k.grid_y AS gridY, k.grid_z AS gridZ, k.block_x AS blockX, k.block_y AS blockY, k.block_z AS blockZ,
        k.static_shared AS staticSharedMemory, k.dynamic_shared AS dynamicSharedMemory, k.graph AS graphId,
        k.graph_node AS graphNodeId
    FROM event e LEFT JOIN stream s ON s.id = e.stream LEFT JOIN process p ON p.id = s.process
        LEFT JOIN kernel k ON k.event = e.id
    WHERE e.kind IN (0, 1);

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS
    SELECT e.start, e."end", e.device AS deviceId, NULL AS contextId, s.native AS streamId,
        e.correlation AS correlationId, (p.pid & 0xFFFFFF) << 24 AS globalPid, e.bytes,
        CASE c.kind WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 8 WHEN 4 THEN 9 WHEN 5 THEN 10 ELSE 0 END AS copyKind,
        CASE c.src WHEN 1 THEN 0 WHEN 2 THEN 1 WHEN 3 THEN 2 WHEN 4 THEN 3 WHEN 5 THEN 4 ELSE 7 END AS srcKind,
        CASE c.dst WHEN 1 THEN 0 WHEN 2 THEN 1 WHEN 3 THEN 2 WHEN 4 THEN 3 WHEN 5 THEN 4 ELSE 7 END AS dstKind
    FROM event e LEFT JOIN stream s ON s.id = e.stream LEFT JOIN process p ON p.id = s.process
        LEFT JOIN copy c ON c.event = e.id
    WHERE e.kind = 2;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS
    SELECT e.start, e."end", e.device AS deviceId, NULL AS contextId, s.native AS streamId,
        e.correlation AS correlationId, (p.pid & 0xFFFFFF) << 24 AS globalPid, NULL AS value, e.bytes,
        CASE c.dst WHEN 1 THEN 0 WHEN 2 THEN 1 WHEN 3 THEN 2 WHEN 4 THEN 3 WHEN 5 THEN 4 ELSE 7 END AS memKind
    FROM event e LEFT JOIN stream s ON s.id = e.stream LEFT JOIN process p ON p.id = s.process
        LEFT JOIN copy c ON c.event = e.id
    WHERE e.kind = 3;

CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS
    SELECT e.start, e."end", NULL AS eventClass, (t.pid & 0xFFFFFF) << 24 | (t.tid & 0xFFFFFF) AS globalTid,
        e.correlation AS correlationId, e.name AS nameId, NULL AS returnValue, NULL AS callchainId
    FROM event e LEFT JOIN thread t ON t.id = e.thread
    WHERE e.kind = 5;

-- syncType as in the Nsight enumeration: 1 event, 2 stream wait event, 3 stream, 4 context. A wait once: CUPTI's row where there is
-- one, else that of its call.
CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS
    SELECT e.start, e."end", e.device AS deviceId, NULL AS contextId, coalesce(s.native, y.wait_stream) AS streamId,
        e.correlation AS correlationId, (t.pid & 0xFFFFFF) << 24 AS globalPid,
        CASE y.class WHEN 1 THEN 3 WHEN 2 THEN 1 WHEN 3 THEN 4 ELSE 2 END AS syncType, y.wait_event AS eventId
    FROM event e LEFT JOIN sync y ON y.event = e.id LEFT JOIN stream s ON s.id = e.stream
        LEFT JOIN thread t ON t.id = e.thread
    WHERE e.kind = 4 OR (e.kind = 5 AND y.class IN (1, 2, 3) AND (e.correlation IS NULL OR (t.process, e.correlation) NOT IN (
        SELECT s4.process, e4.correlation FROM event e4 LEFT JOIN stream s4 ON s4.id = e4.stream
        WHERE e4.kind = 4 AND e4.correlation IS NOT NULL)));

-- eventType 59 push/pop, 60 start/end, 34 mark, 75 the name of a domain
CREATE VIEW NVTX_EVENTS AS
    SELECT e.start, CASE WHEN r.flavour = 2 THEN NULL ELSE e."end" END AS "end",
        CASE r.flavour WHEN 1 THEN 60 WHEN 2 THEN 34 ELSE 59 END AS eventType, NULL AS rangeId, NULL AS category,
        NULL AS color, x.value AS text, (t.pid & 0xFFFFFF) << 24 | (t.tid & 0xFFFFFF) AS globalTid,
        NULL AS endGlobalTid, e.name AS textId, coalesce(r.domain, 0) AS domainId
    FROM event e LEFT JOIN range r ON r.event = e.id LEFT JOIN thread t ON t.id = e.thread
        LEFT JOIN string x ON x.id = e.name
    WHERE e.kind = 7
    UNION ALL
    SELECT 0, NULL, 75, NULL, NULL, NULL, x.value, NULL, NULL, x.id, x.id
    FROM (SELECT DISTINCT domain FROM range WHERE domain IS NOT NULL) r JOIN string x ON x.id = r.domain;

CREATE VIEW ENUM_CUDA_MEMCPY_OPER AS
    SELECT column1 AS id, column2 AS name, column3 AS label FROM (VALUES (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'),
        (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'), (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'),
        (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'), (9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'),
        (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer'));

CREATE VIEW TARGET_INFO_SESSION_START_TIME AS
    SELECT cast((SELECT value FROM meta WHERE key = 'utc_epoch_ns') AS INTEGER) AS utcEpochNs;
