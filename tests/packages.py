"""Memory packages made by hand, right and wrong ones."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
from typing import Any

NOTE = {
    "key": "page",
    "revision": 1,
    "written": "2026-03-02T09:00:00+00:00",
    "writer": "remember",
    "sources": ["m1"],
    "text": "Anna likes roses.",
}
MESSAGE = {
    "id": "m1",
    "thread": "t1",
    "role": "user",
    "speaker": "Anna",
    "time": "2026-03-02T09:00:00+00:00",
    "text": "I like roses",
}
SUMMARY = {
    "thread": "t1",
    "written": "2026-03-02T09:00:00+00:00",
    "sources": [],
    "text": "Roses were spoken of.",
}
EVENT = {
    "time": "2026-03-02T09:00:00+00:00",
    "actor": "remember",
    "action": "note written",
    "subject": "page",
    "sources": ["m1"],
    "detail": "revision 1, 17 characters",
}
GOOD: dict[str, list[Any]] = {
    "notes.jsonl": [NOTE],
    "messages.jsonl": [MESSAGE],
    "summaries.jsonl": [SUMMARY],
    "journal.jsonl": [EVENT],
}


def lines(rows: list[Any]) -> bytes:
    """A member; a row given as bytes is a line as it stands."""
    given = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in rows)
    return b"".join(one + b"\n" for one in given)


def members(changes: dict[str, Any] | None = None, **manifest: Any) -> dict[str, bytes]:
    """The members of a good package, some rows or members (as bytes) changed, sums and counts
    right; `manifest` replaces entries of the manifest."""
    rows = {**GOOD, **(changes or {})}
    found = {name: one if isinstance(one, bytes) else lines(one) for name, one in rows.items()}

    def count(name: str) -> int:
        return found[name].count(b"\n")

    entries = {
        "kind": "mnemoscope memory package",
        "format": 1,
        "owner": {"team": "home", "agent": "helper", "person": "anna"},
        "counts": {
            "notes": len({one["key"] for one in rows["notes.jsonl"] if isinstance(one, dict)}),
            "revisions": count("notes.jsonl"),
            "messages": count("messages.jsonl"),
            "summaries": count("summaries.jsonl"),
            "events": count("journal.jsonl"),
        },
        "members": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in found.items()
        },
        **manifest,
    }  # fmt: skip
    return {"manifest.json": json.dumps(entries).encode(), **found}


def zipped(
    content: dict[str, bytes], method: int = zipfile.ZIP_STORED, mode: int = stat.S_IFREG | 0o644
) -> bytes:
    """A zip of these members; `mode` is that of the last one."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in content.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            info.create_system = 3
            last = name == list(content)[-1]
            info.external_attr = (mode if last else stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)
    return file.getvalue()


def package(changes: dict[str, Any] | None = None, **manifest: Any) -> bytes:
    """A good package, changed as in `members`."""
    return zipped(members(changes, **manifest))


def with_row(name: str, **changes: Any) -> bytes:
    """A package whose only row of a member is changed."""
    return package({name: [{**GOOD[name][0], **changes}]})
