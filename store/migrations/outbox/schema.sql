-- outbox.db: what must still reach upstream, and what happened. The sum of the migrations.

CREATE TABLE entry (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: the journal names it
  place INTEGER NOT NULL UNIQUE,         -- in the queue; taken over from a superseded entry
  api_group TEXT NOT NULL,
  api_version TEXT NOT NULL,
  resource TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  subresource TEXT NOT NULL,
  verb TEXT NOT NULL,
  target TEXT NOT NULL,
  content_type TEXT NOT NULL,
  body BLOB NOT NULL,
  precondition_uid TEXT NOT NULL,      -- empty: none
  precondition_version TEXT NOT NULL,  -- empty: none
  created_wall INTEGER NOT NULL,
  urgency INTEGER NOT NULL,  -- 0 is the most urgent
  journalled INTEGER NOT NULL CHECK (journalled IN (0, 1)),
  sending INTEGER NOT NULL CHECK (sending IN (0, 1)),
  maybe_sent INTEGER NOT NULL CHECK (maybe_sent IN (0, 1)),
  attempts INTEGER NOT NULL,
  bytes INTEGER NOT NULL,    -- what the entry counts for in the limits
  checksum INTEGER NOT NULL  -- of all text and the body
) STRICT;

-- Finds what of one object comes first; version and subresource do not make another object.
CREATE INDEX entry_by_object ON entry (api_group, resource, namespace, name, place);

-- The journal: a ring, the oldest rows go first.
CREATE TABLE record (
  seq INTEGER PRIMARY KEY,
  at_wall INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  what TEXT NOT NULL,
  detail TEXT NOT NULL,   -- JSON
  entry INTEGER NOT NULL  -- the outbox entry it tells of; 0: none
) STRICT;
