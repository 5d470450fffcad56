-- name: namespace
SELECT key, version, removals, passages FROM namespaces
WHERE owner = ? AND kind = ? AND provider = ? AND model = ? AND revision = ? AND width = ?;

-- name: new_namespace
INSERT INTO namespaces (owner, kind, provider, model, revision, width) VALUES (?, ?, ?, ?, ?, ?);

-- name: of_kind
SELECT key FROM namespaces WHERE owner = ? AND kind = ?;

-- name: of_identity
SELECT key, passages FROM namespaces
WHERE owner = ? AND provider = ? AND model = ? AND revision = ? AND width = ?;

-- name: changed
UPDATE namespaces SET version = version + 1, removals = removals + ?, passages = passages + ?
WHERE key = ?;

-- name: insert
INSERT INTO vectors (namespace, item, part, revision, vector) VALUES (?, ?, ?, ?, ?);

-- name: remove
DELETE FROM vectors WHERE namespace = ? AND item = ? RETURNING part;

-- name: remove_all
DELETE FROM vectors WHERE namespace = ?;

-- name: numbers
SELECT number FROM vectors WHERE namespace = ? AND part >= 0;

-- name: rows
SELECT number, item, vector FROM vectors
WHERE namespace = ? AND number > ? AND part >= 0 ORDER BY number;

-- name: revisions
SELECT item, revision FROM vectors WHERE namespace = ? AND part <= 0;

-- name: counts
SELECT provider, model, revision, width, kind, passages FROM namespaces
WHERE owner = ? AND passages > 0;
