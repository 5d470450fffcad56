-- What an owner's vectors of one kind and one provider identity have in common. The owner's key
-- stands for its team as well. A row stays when its vectors go, so that its counters never repeat.
CREATE TABLE namespaces (
    key INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL REFERENCES owners (key),
    kind TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    width INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,    -- rises with every change
    removals INTEGER NOT NULL DEFAULT 0,   -- rises with every change that took vectors away
    passages INTEGER NOT NULL DEFAULT 0,   -- vectors it holds
    UNIQUE (owner, kind, provider, model, revision, width)
) STRICT;

-- AUTOINCREMENT: a number is never used again, so whoever has read up to one misses nothing.
CREATE TABLE vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace INTEGER NOT NULL REFERENCES namespaces (key),
    item TEXT NOT NULL,
    part INTEGER NOT NULL,                 -- the item's passages from 0; -1 where it has none
    revision INTEGER NOT NULL,             -- of the item
    vector BLOB,                           -- L2-normalised float32, little-endian; NULL for part -1
    CHECK ((part < 0) = (vector IS NULL))
) STRICT;
CREATE UNIQUE INDEX vectors_by_item ON vectors (namespace, item, part, revision);
CREATE INDEX vectors_by_number ON vectors (namespace, number) WHERE part >= 0;

ALTER TABLE queue ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;  -- how often it was refused
ALTER TABLE queue ADD COLUMN error TEXT NOT NULL DEFAULT '';       -- what the provider said last
CREATE INDEX queue_by_owner ON queue (owner, number);

CREATE TABLE learnt (
    owner INTEGER NOT NULL REFERENCES owners (key),
    provider TEXT NOT NULL,
    learnt BLOB NOT NULL,
    PRIMARY KEY (owner, provider)
) STRICT, WITHOUT ROWID;
