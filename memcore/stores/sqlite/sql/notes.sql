-- name: get
SELECT key, text, revision, written, writer, sources FROM notes
WHERE owner = ? AND key = ? ORDER BY revision DESC LIMIT 1;

-- name: all
SELECT key, text, max(revision), written, writer, sources FROM notes
WHERE owner = ? GROUP BY key ORDER BY key DESC;

-- name: index
SELECT key, size FROM (SELECT key, size, max(revision) FROM notes WHERE owner = ? GROUP BY key)
ORDER BY key DESC;

-- name: history
SELECT key, text, revision, written, writer, sources FROM notes
WHERE owner = ? AND key = ? ORDER BY revision DESC;

-- name: put
INSERT INTO notes (owner, key, size, text, revision, written, writer, sources)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: delete
DELETE FROM notes WHERE owner = ? AND key = ?;

-- name: count
INSERT INTO note_revisions (owner, key, revision) VALUES (?, ?, ?)
ON CONFLICT (owner, key) DO UPDATE SET revision = excluded.revision;

-- name: last_revision
SELECT revision FROM note_revisions WHERE owner = ? AND key = ?;
