-- A view of the right name is not an export: nothing of a foreign schema is run.
CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end;
