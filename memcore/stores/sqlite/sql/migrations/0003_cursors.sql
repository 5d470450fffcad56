-- How far background passes have read each thread: the last message read, by time and id.
CREATE TABLE cursors (
    owner INTEGER NOT NULL REFERENCES owners (key),
    thread TEXT NOT NULL,
    reader TEXT NOT NULL,                  -- which pass
    time INTEGER NOT NULL,                 -- microseconds since 1970, UTC
    message TEXT NOT NULL,                 -- its id; it may be gone
    PRIMARY KEY (owner, thread, reader)
) STRICT, WITHOUT ROWID;
