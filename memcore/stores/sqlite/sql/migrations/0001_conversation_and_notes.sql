CREATE TABLE owners (
    key INTEGER PRIMARY KEY,
    team TEXT NOT NULL,
    agent TEXT NOT NULL,
    person TEXT NOT NULL,
    documents INTEGER NOT NULL DEFAULT 0,  -- messages, for BM25
    stems INTEGER NOT NULL DEFAULT 0,      -- of all messages together, for BM25
    UNIQUE (team, agent, person)
) STRICT;

CREATE TABLE messages (
    number INTEGER PRIMARY KEY,            -- rising; the number of stems in its lowest 12 bits
    owner INTEGER NOT NULL REFERENCES owners (key),
    thread TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
    speaker TEXT NOT NULL,
    time INTEGER NOT NULL,                 -- microseconds since 1970, UTC
    place INTEGER NOT NULL,                -- position in the thread by (time, id), from 0
    size INTEGER NOT NULL,                 -- number of characters
    text TEXT NOT NULL,
    UNIQUE (owner, id)
) STRICT;
CREATE INDEX messages_by_place ON messages (owner, thread, place);

-- An inverted index of stems, each with its owner's key before it, so that the postings of one
-- owner are apart from all others'. The ascii tokenizer leaves stems as they are.
CREATE VIRTUAL TABLE message_stems USING fts5 (stems, tokenize = 'ascii');
CREATE VIRTUAL TABLE message_postings USING fts5vocab (message_stems, instance);

CREATE TABLE notes (
    owner INTEGER NOT NULL REFERENCES owners (key),
    key TEXT NOT NULL,                     -- 'page' or the local day
    revision INTEGER NOT NULL,
    written INTEGER NOT NULL,
    writer TEXT NOT NULL CHECK (writer IN ('import', 'remember', 'curator')),
    sources TEXT NOT NULL,                 -- JSON list of message ids
    text TEXT NOT NULL,
    PRIMARY KEY (owner, key, revision)
) STRICT, WITHOUT ROWID;

-- Each note's newest revision and its size. The row outlives the note, without a size, so that a
-- writer who holds a revision of a deleted note is never taken for one who has read the next one.
CREATE TABLE note_heads (
    owner INTEGER NOT NULL REFERENCES owners (key),
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    size INTEGER,                          -- number of characters
    PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    number INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL REFERENCES owners (key),
    time INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    sources TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX journal_by_owner ON journal (owner, number);

CREATE TABLE queue (
    number INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL REFERENCES owners (key),
    kind TEXT NOT NULL,
    item TEXT NOT NULL,
    revision INTEGER NOT NULL,
    UNIQUE (owner, kind, item)
) STRICT;

CREATE TABLE summaries (
    owner INTEGER NOT NULL REFERENCES owners (key),
    thread TEXT NOT NULL,
    written INTEGER NOT NULL,
    sources TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (owner, thread)
) STRICT, WITHOUT ROWID;
