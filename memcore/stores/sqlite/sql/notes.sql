-- name: get
SELECT key, text, revision, written, writer, sources FROM notes
WHERE owner = ? AND key = ? ORDER BY revision DESC LIMIT 1;

-- name: all
SELECT key, text, max(revision), written, writer, sources FROM notes
WHERE owner = ? GROUP BY key ORDER BY key DESC;

-- name: index
SELECT key, size FROM note_heads WHERE owner = ? AND size IS NOT NULL ORDER BY key DESC;

-- name: history
SELECT key, text, revision, written, writer, sources FROM notes
WHERE owner = ? AND key = ? ORDER BY revision DESC;

-- name: put
INSERT INTO notes (owner, key, text, revision, written, writer, sources)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: delete
DELETE FROM notes WHERE owner = ? AND key = ?;

-- name: put_head
INSERT INTO note_heads (owner, key, revision, size) VALUES (?, ?, ?, ?)
ON CONFLICT (owner, key) DO UPDATE SET revision = excluded.revision, size = excluded.size;

-- name: delete_head
UPDATE note_heads SET size = NULL WHERE owner = ? AND key = ?;

-- name: last_revision
SELECT revision FROM note_heads WHERE owner = ? AND key = ?;
