"""Small conversations of a test's own, and runs as bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eval.dataset import (
    ConversationRecord,
    Dataset,
    MessageRecord,
    QuestionRecord,
    ThreadRecord,
    make_dataset,
    to_line,
)

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def at(days: float, seconds: float = 0) -> datetime:
    """A moment so many days after `START`."""
    return START + timedelta(days=days, seconds=seconds)


def said(id: str, when: float | datetime, text: str, role: Any = "user") -> MessageRecord:
    """A message, said so many days after `START` or at a moment."""
    time = when if isinstance(when, datetime) else at(when)
    speaker = {"user": "Ann", "assistant": "Shop", "tool": "till"}[role]
    return MessageRecord(id=id, role=role, speaker=speaker, time=time, text=text)


def asked(
    id: str, when: float | datetime, text: str, evidence: Sequence[str] = (), **more: Any
) -> QuestionRecord:
    """A question, asked so many days after `START` or at a moment."""
    time = when if isinstance(when, datetime) else at(when)
    return QuestionRecord(id=id, text=text, asked_at=time, evidence=list(evidence), **more)


def talk(
    messages: Sequence[MessageRecord] = (), questions: Sequence[QuestionRecord] = (), **more: Any
) -> ConversationRecord:
    """A conversation with one thread, `main`, unless it is given others."""
    given = {"id": "talk", "persona": "You are a shop's assistant.", "person": "ann"}
    threads = {"threads": [ThreadRecord(id="main", messages=list(messages))]}
    return ConversationRecord(**{**given, **threads, "questions": list(questions), **more})


def chatter(count: int, first: float, step: float = 0.5, prefix: str = "c") -> list[MessageRecord]:
    """Alternating messages about the weather, long enough to fill a window."""
    roles = ("user", "assistant")
    return [
        said(
            f"{prefix}{n}", first + n * step, f"Rain again, number {n}? " + "." * 180, roles[n % 2]
        )
        for n in range(count)
    ]


def dataset(*talks: ConversationRecord, name: str = "made") -> Dataset:
    return make_dataset(name, "native", talks)


def write_dataset(path: Path, *talks: ConversationRecord) -> Path:
    """The conversations as a native file."""
    path.write_text("".join(f"{to_line(one)}\n" for one in talks), encoding="utf-8")
    return path


def tables_of(folder: Path) -> dict[str, bytes]:
    """The bytes of a run's tables, those that tell times apart."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.glob("*.parquet"))
        if path.name != "timings.parquet"
    }


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def manifest_of(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return read


def write_manifest(folder: Path, value: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    (folder / "manifest.json").write_text(text, encoding="utf-8")
