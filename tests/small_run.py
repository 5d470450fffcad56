"""A small conversation in which every kind of turn occurs, and the run of it.

Over forty days: an answer that the search ranks too low, one that it does not find, one that it
quotes, one in a note, one in the window, one that is partly there, a question too short to be
searched, one that cannot be answered; and text that must never be taken for markup.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eval.dataset import (
    ConversationRecord,
    Dataset,
    MessageRecord,
    NoteRecord,
    QuestionRecord,
    ThreadRecord,
    make_dataset,
)
from eval.replay import replay
from eval.runs import Run

HOSTILE = "<script>alert(1)</script> $x^2$ **bold** מה שלומך <b>tag</b> # heading"
START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SETTINGS = {"window_cap": 600, "excerpts_limit": 2}


def at(days: float, minutes: float = 0) -> datetime:
    return START + timedelta(days=days, minutes=minutes)


def _said(id: str, days: float, text: str, reply: str = "Noted.") -> list[MessageRecord]:
    return [
        MessageRecord(id=id, role="user", speaker="Нина", time=at(days), text=text),
        MessageRecord(
            id=f"{id}r", role="assistant", speaker="Shop", time=at(days, 2), text=reply
        ),
    ]  # fmt: skip


def _question(id: str, days: float, text: str, evidence: list[str], **more: Any) -> QuestionRecord:
    return QuestionRecord(id=id, text=text, asked_at=at(days), evidence=evidence, **more)


def talk() -> ConversationRecord:
    """The conversation."""
    messages = [
        *_said("jacket", 0, "The jacket for Timofey is size 134, in dark blue."),
        *_said("hostile", 1, HOSTILE),
        *_said("phone", 2, "My number is 555-0142, call after six."),
        *_said("cat", 3, "Кошка Муська столкнула рассаду с подоконника."),
    ]
    for number in range(8):
        text = f"Which jacket size did the catalogue say for model {number}? A jacket, a size."
        messages += _said(f"noise{number}", 5 + number, text, "A jacket of size M, the jacket.")
    for number in range(6):
        messages += _said(f"rain{number}", 30 + number, f"It rains again, day {number} " + "." * 90)
    messages += _said("parcel", 39.9, "The parcel comes on Friday at noon.")
    messages += _said("thanks", 39.95, "Thank you.", "Any time.")
    return ConversationRecord(
        id="nina",
        title="Нина & the <i>shop</i>",
        language="mixed",
        timezone="Europe/Moscow",
        person="nina",
        persona="You are the shop's assistant.",
        threads=[ThreadRecord(id="main", messages=messages)],
        notes=[
            NoteRecord(kind="page", time=at(4), text="Нина. Two children."),
            NoteRecord(
                kind="dated", time=at(4), text="Her phone: 555-0142.", sources=["phone"]
            ),
        ],
        questions=[
            _question("q-low", 40, "Which jacket size for the boy?", ["jacket"], answer="134"),
            _question("q-unfound", 40.1, "Who ruined the seedlings?", ["cat"]),
            _question("q-quoted", 40.2, "Что натворила кошка Муська?", ["cat"]),
            _question("q-note", 40.3, "What is my telephone digits string?", ["phone"]),
            _question("q-window", 40.4, "When does the parcel come?", ["parcel"]),
            _question("q-part", 40.5, "Parcel day, and whose jacket?", ["parcel", "jacket"]),
            _question("q-short", 40.6, "Jacket?", ["jacket"]),
            _question("q-none", 40.7, "What is my favourite opera?", [], answerable=False),
        ],
    )  # fmt: skip


def dataset(*more: ConversationRecord) -> Dataset:
    return make_dataset("small", "native", [talk(), *more])


def make_run(out: Path, name: str = "small", **changes: Any) -> Run:
    """Replays it into a folder of runs."""
    return replay(dataset(), out, name=name, changes={**SETTINGS, **changes})
