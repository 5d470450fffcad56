-- name: owner_key
SELECT key FROM owners WHERE team = ? AND agent = ? AND person = ?;

-- name: new_owner
INSERT INTO owners (team, agent, person) VALUES (?, ?, ?);

-- name: journal_append
INSERT INTO journal (owner, time, actor, action, subject, sources, detail)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: journal_events
SELECT time, actor, action, subject, sources, detail FROM journal
WHERE owner = ? ORDER BY number DESC LIMIT ?;

-- name: queue_add
INSERT INTO queue (owner, kind, item, revision) VALUES (?, ?, ?, ?)
ON CONFLICT (owner, kind, item) DO UPDATE SET revision = excluded.revision;

-- name: queue_remove
DELETE FROM queue WHERE owner = ? AND kind = ? AND item = ?;

-- name: queue_waiting
SELECT kind, item, revision FROM queue WHERE owner = ? ORDER BY number LIMIT ?;

-- name: summary
SELECT thread, text, written, sources FROM summaries WHERE owner = ? AND thread = ?;

-- name: put_summary
INSERT INTO summaries (owner, thread, text, written, sources) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (owner, thread) DO UPDATE
SET text = excluded.text, written = excluded.written, sources = excluded.sources;
