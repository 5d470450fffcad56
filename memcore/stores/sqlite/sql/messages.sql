-- name: insert
INSERT INTO messages (owner, thread, id, role, speaker, time, place, length, size, text)
VALUES (:owner, :thread, :id, :role, :speaker, :time, :place, :length, :size, :text);

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
SELECT m.id, m.thread, m.place, m.time, count(*), m.length, m.size
FROM message_postings AS p CROSS JOIN messages AS m ON m.number = p.doc
WHERE p.term = ? AND m.time BETWEEN ? AND ?
GROUP BY p.doc;
