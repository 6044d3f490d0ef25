-- An older program would take sealed bytes for plain ones: what is sealed is fetched anew.
UPDATE scope SET complete = 0, resource_version = ''
  WHERE id IN (SELECT scope FROM object WHERE sealed = 1);
DELETE FROM object WHERE sealed = 1;
DELETE FROM answer WHERE sealed = 1;
ALTER TABLE object DROP COLUMN sealed;
ALTER TABLE answer DROP COLUMN sealed;
