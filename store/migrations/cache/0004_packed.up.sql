-- The size of the plain bytes when a row's bytes are packed, else 0.
ALTER TABLE object ADD COLUMN packed INTEGER NOT NULL DEFAULT 0 CHECK (packed >= 0);
ALTER TABLE answer ADD COLUMN packed INTEGER NOT NULL DEFAULT 0 CHECK (packed >= 0);
