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

-- name: remove_summary
DELETE FROM summaries WHERE owner = ? AND thread = ?;

-- name: cursor
SELECT time, message FROM cursors WHERE owner = ? AND thread = ? AND reader = ?;

-- name: first_cursor
INSERT INTO cursors (time, message, owner, thread, reader) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (owner, thread, reader) DO NOTHING;

-- name: move_cursor
UPDATE cursors SET time = ?, message = ?
WHERE owner = ? AND thread = ? AND reader = ? AND time = ? AND message = ?;

-- name: unread
-- The place of the cursor's message; of the last one before it where that is gone.
SELECT place, role, size FROM messages
WHERE owner = :owner AND thread = :thread AND place > coalesce((
    SELECT coalesce(
        (SELECT m.place FROM messages AS m
         WHERE m.owner = c.owner AND m.id = c.message AND m.thread = c.thread),
        (SELECT max(m.place) FROM messages AS m
         WHERE m.owner = c.owner AND m.thread = c.thread AND (m.time, m.id) < (c.time, c.message)))
    FROM cursors AS c WHERE c.owner = :owner AND c.thread = :thread AND c.reader = :reader
), -1) ORDER BY place;

-- name: learnt
SELECT learnt FROM learnt WHERE owner = ? AND provider = ?;

-- name: put_learnt
INSERT INTO learnt (owner, provider, learnt) VALUES (?, ?, ?)
ON CONFLICT (owner, provider) DO UPDATE SET learnt = excluded.learnt;

-- name: owners
SELECT team, agent, person FROM owners ORDER BY team, agent, person;
