-- An older program would take packed bytes for plain ones: what is packed is fetched anew.
UPDATE scope SET complete = 0, resource_version = ''
  WHERE id IN (SELECT scope FROM object WHERE packed > 0);
DELETE FROM object WHERE packed > 0;
DELETE FROM answer WHERE packed > 0;
-- '12+' is 12, or the version of the newest object: an older program knows plain numbers only.
UPDATE scope SET resource_version = CAST(max(
    CAST(rtrim(resource_version, '+') AS INTEGER),
    coalesce((SELECT max(CAST(object.resource_version AS INTEGER)) FROM object
              WHERE object.scope = scope.id), 0)) AS TEXT)
  WHERE resource_version LIKE '%+';
ALTER TABLE object DROP COLUMN packed;
ALTER TABLE answer DROP COLUMN packed;
