-- Strings alone are no trace.
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
