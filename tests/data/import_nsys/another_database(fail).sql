CREATE TABLE people (name TEXT);
INSERT INTO people VALUES ('Ann');
