# rows.sh - what a trace holds against what the stand-in says it delivered. Sourced: rows_differ TRACE LOG prints the lines that only
# one of them has; times of device rows are exact, a call lies between the stand-in's two readings around it.
trace_rows() {
    sqlite3 -separator ' ' "$1" "
        CREATE TEMP VIEW x AS SELECT e.id, e.kind, s.value AS name, e.start + t0.value AS start, e.\"end\" + t0.value AS stop, e.device, e.correlation,
            e.bytes, st.native, t.tid, e.thread FROM event e LEFT JOIN string s ON s.id = e.name LEFT JOIN stream st ON st.id = e.stream
            LEFT JOIN thread t ON t.id = e.thread, (SELECT cast(value AS INTEGER) AS value FROM meta WHERE key = 't0_ns') t0;
        SELECT 'kernel', name, start, stop, device, native, correlation, grid_x || ',' || grid_y || ',' || grid_z,
            block_x || ',' || block_y || ',' || block_z, registers, static_shared, dynamic_shared, coalesce(graph, 0), coalesce(graph_node, 0)
            FROM x JOIN kernel k ON k.event = x.id WHERE kind = 0 AND name NOT LIKE 'nccl%';
        SELECT 'collective', name, start, stop, device, native, correlation FROM x WHERE kind = 1 OR (kind = 0 AND name LIKE 'nccl%');
        SELECT 'memcpy', CASE c.kind WHEN 3 THEN 8 WHEN 5 THEN 10 ELSE c.kind END, src, dst, bytes, start, stop, device, native, correlation
            FROM x JOIN copy c ON c.event = x.id WHERE x.kind = 2;
        SELECT 'memset', dst, bytes, start, stop, device, native, correlation FROM x JOIN copy c ON c.event = x.id WHERE x.kind = 3;
        SELECT 'sync', CASE name WHEN 'Event Sync' THEN 1 WHEN 'Stream Wait Event' THEN 2 WHEN 'Stream Sync' THEN 3 ELSE 4 END, start, stop,
            coalesce(native, -1), coalesce(y.wait_event, -1), correlation, coalesce(y.wait_stream, -1) FROM x JOIN sync y ON y.event = x.id WHERE x.kind = 4;
        SELECT 'call', name, correlation, tid, start, stop FROM x WHERE kind = 5;"
}

rows_differ() {
    grep -vE '^(call|task) ' "$2" | c++filt | sort > log.device
    trace_rows "$1" > trace.rows
    grep -v '^call ' trace.rows | c++filt | sort > trace.device
    diff log.device trace.device | grep '^[<>]'
    awk '$1 != "call" {next}
        FNR == NR {from[$3] = $5; to[$3] = $6; name[$3] = $2 " " $4; next}
        name[$3] != $2 " " $4 {print "> " $0; next}
        {seen[$3] = 1; if ($5 < from[$3] || $6 > to[$3] || $6 < $5) print "outside its time: " $0}
        END {for (i in name) if (!seen[i]) print "< call " i " " name[i]}' "$2" trace.rows
}
