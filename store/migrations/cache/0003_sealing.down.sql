-- An older program seals under other names: what is sealed is fetched anew.
UPDATE scope SET complete = 0, resource_version = ''
  WHERE id IN (SELECT scope FROM object WHERE sealed = 1);
DELETE FROM object WHERE sealed = 1;
DROP TABLE sealing;
