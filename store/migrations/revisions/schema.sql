-- revisions.db: keys with the history of their values. The sum of the migrations, for readers.

-- Every put and delete, in order. Compaction removes what a newer event of the same key replaced.
CREATE TABLE event (
  revision INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL CHECK (kind IN (0, 1)),  -- 0: put, 1: delete
  key TEXT NOT NULL,
  create_revision INTEGER NOT NULL,
  previous INTEGER NOT NULL,  -- the put that this event replaced or deleted; 0: none
  value BLOB NOT NULL
) STRICT;

CREATE INDEX event_by_key ON event (key, revision);

-- The keys that exist now.
CREATE TABLE latest (
  key TEXT PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: up to where history was compacted.
CREATE TABLE progress (
  compacted INTEGER NOT NULL
) STRICT;
