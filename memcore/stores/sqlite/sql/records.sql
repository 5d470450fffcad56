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
INSERT INTO queue (owner, kind, item, revision, attempts, error) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (owner, kind, item) DO UPDATE
SET revision = excluded.revision, attempts = excluded.attempts, error = excluded.error;

-- name: queue_remove
DELETE FROM queue WHERE owner = ? AND kind = ? AND item = ?;

-- name: queue_done
DELETE FROM queue WHERE owner = ? AND kind = ? AND item = ? AND revision = ?;

-- name: queue_refused
UPDATE queue SET attempts = attempts + 1, error = ?
WHERE owner = ? AND kind = ? AND item = ? AND revision = ?;

-- name: queue_waiting
SELECT kind, item, revision, attempts, error FROM queue
WHERE owner = ? AND attempts < ? ORDER BY number LIMIT ?;

-- name: queue_count
SELECT count(*) FROM queue WHERE owner = ?;

-- name: summary
SELECT thread, text, written, sources FROM summaries WHERE owner = ? AND thread = ?;

-- name: summaries
SELECT thread, text, written, sources FROM summaries WHERE owner = ? ORDER BY thread;

-- name: put_summary
INSERT INTO summaries (owner, thread, text, written, sources) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (owner, thread) DO UPDATE
SET text = excluded.text, written = excluded.written, sources = excluded.sources;

-- name: learnt
SELECT learnt FROM learnt WHERE owner = ? AND provider = ?;

-- name: put_learnt
INSERT INTO learnt (owner, provider, learnt) VALUES (?, ?, ?)
ON CONFLICT (owner, provider) DO UPDATE SET learnt = excluded.learnt;

-- name: owners
SELECT team, agent, person FROM owners ORDER BY team, agent, person;
