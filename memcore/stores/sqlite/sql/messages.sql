-- name: insert
INSERT INTO messages (number, owner, thread, id, role, speaker, time, place, size, text)
VALUES (:number, :owner, :thread, :id, :role, :speaker, :time, :place, :size, :text);

-- name: last_number
SELECT max(number) FROM messages;

-- name: index
INSERT INTO message_stems (rowid, stems) VALUES (?, ?);

-- name: count
UPDATE owners SET documents = documents + 1, stems = stems + ? WHERE key = ?;

-- name: newest
SELECT time, id, place FROM messages WHERE owner = ? AND thread = ? ORDER BY place DESC LIMIT 1;

-- name: earlier
SELECT count(*) FROM messages WHERE owner = ? AND thread = ? AND (time, id) < (?, ?);

-- name: shift
UPDATE messages SET place = place + 1
WHERE owner = ? AND thread = ? AND place >= ? AND number <> ?;

-- name: get
SELECT id, thread, role, speaker, time, text, place FROM messages WHERE owner = ? AND id = ?;

-- name: ids
SELECT id FROM messages WHERE owner = ? AND id > ? ORDER BY id LIMIT ?;

-- name: recent
SELECT id, thread, role, speaker, time, text, place FROM messages
WHERE owner = ? AND thread = ? AND place < ? ORDER BY place DESC LIMIT ?;

-- name: span
SELECT id, thread, role, speaker, time, text, place FROM messages
WHERE owner = ? AND thread = ? AND place BETWEEN ? AND ? ORDER BY place;

-- name: place_of
SELECT place FROM messages WHERE owner = ? AND id = ? AND thread = ?;

-- name: totals
SELECT documents, stems FROM owners WHERE key = ?;

-- name: postings
SELECT doc FROM message_postings WHERE term = ?;

-- name: located
-- CROSS JOIN keeps the order of the tables: a look-up by number each, not a scan of the owner's.
SELECT m.number, m.id, m.thread, m.place, m.time, m.size
FROM json_each(?) AS n CROSS JOIN messages AS m ON m.number = n.value
WHERE m.owner = ?;

-- name: located_by_id
SELECT m.number, m.id, m.thread, m.place, m.time, m.size
FROM json_each(?) AS n CROSS JOIN messages AS m ON m.owner = ? AND m.id = n.value;
