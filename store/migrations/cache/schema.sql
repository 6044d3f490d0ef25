-- cache.db: what was last seen upstream. The sum of the migrations, for readers.

-- What was asked for, by whom. The objects of a scope are an answer only once it was complete.
CREATE TABLE scope (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a stale id must not find another scope
  owner TEXT NOT NULL,
  api_group TEXT NOT NULL,
  api_version TEXT NOT NULL,
  resource TEXT NOT NULL,
  namespace TEXT NOT NULL,
  label_selector TEXT NOT NULL,
  field_selector TEXT NOT NULL,
  encoding TEXT NOT NULL,
  resource_version TEXT NOT NULL,
  complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
  last_used_wall INTEGER NOT NULL,
  UNIQUE (owner, api_group, api_version, resource, namespace, label_selector, field_selector,
          encoding)
) STRICT;

CREATE TABLE object (
  scope INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  uid TEXT NOT NULL,
  resource_version TEXT NOT NULL,
  local_version INTEGER NOT NULL,
  checksum INTEGER NOT NULL,  -- of names, uid, resource_version and bytes
  bytes BLOB NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1)),
  packed INTEGER NOT NULL DEFAULT 0 CHECK (packed >= 0),  -- size of the plain bytes; 0: not packed
  PRIMARY KEY (scope, namespace, name)
) STRICT;

-- Answers that are not lists: discovery documents, tokens.
CREATE TABLE answer (
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  status INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  expires_wall INTEGER,  -- NULL: never
  checksum INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1)),
  packed INTEGER NOT NULL DEFAULT 0 CHECK (packed >= 0),  -- size of the plain bytes; 0: not packed
  PRIMARY KEY (owner, key)
) STRICT;

-- Numbers that never repeat, reserved in blocks: the first one that is not.
CREATE TABLE counter (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row once everything that a key seals is sealed, under names that tell owner and scope.
CREATE TABLE sealing (
  complete INTEGER PRIMARY KEY CHECK (complete = 1)
) STRICT;
