"""BEAM: long chats in dated batches, with probing questions in ten categories.

A chat is a folder with `chat.json` and `probing_questions.json`; it becomes a conversation with one
thread, "main". Its dates are days (`time_anchor`), carried forward to the messages after them.
Questions have no date: they are asked after the last message. Gold answers are machine-made, and
some contradict themselves: measure by the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt, StrictStr, TypeAdapter

from eval.dataset import Dataset, Shape
from eval.loaders.native import (
    MINUTE,
    SECOND,
    Answer,
    Building,
    SourceRecord,
    answer_text,
    date_reader,
    distinct,
    following,
    late_start,
)

LOOKS = "a folder with chat.json and probing_questions.json, or a folder of such folders"
CHAT, QUESTIONS = "chat.json", "probing_questions.json"
DAY_BEGINS = timedelta(hours=9)
ABSTENTION = "abstention"
ANSWERS = ("answer", "ideal_response", "ideal_answer", "ideal_summary", "expected_compliance")
_MARK = "->->"
_AFTER_MARK = re.compile(r"[\d,A/N) ]{0,20}", re.ASCII)
_Anchor = Annotated[datetime | None, date_reader("%B-%d-%Y", "March-15-2024")]


class _Message(SourceRecord):
    role: Literal["user", "assistant", "tool"]
    id: StrictInt | StrictStr
    content: str
    time_anchor: _Anchor = None


class _Batch(SourceRecord):
    turns: list[list[_Message]]
    time_anchor: _Anchor = None


class _Question(SourceRecord):
    question: Annotated[str, Field(min_length=1)]
    source_chat_ids: Any = None
    answer: Answer = None
    ideal_response: Answer = None
    ideal_answer: Answer = None
    ideal_summary: Answer = None
    expected_compliance: Answer = None


_CHAT = TypeAdapter(list[_Batch])
_QUESTIONS = TypeAdapter(dict[str, list[_Question]])


def recognises(path: Path, _content: Any = None) -> bool:
    """Whether the folder holds a chat, or a folder that does."""
    return path.is_dir() and (
        (path / CHAT).is_file() or any((one / CHAT).is_file() for one in path.iterdir())
    )


def load(path: Path) -> Dataset:
    """The chat of a folder, or those of its folders in the order of their numbers.

    Raises `DatasetError` with every fault of every file.
    """
    building = Building(path, "beam")
    folders = [path]
    if path.is_dir() and not (path / CHAT).exists():
        inside = sorted(path.iterdir(), key=_by_number)
        folders = [one for one in inside if (one / CHAT).exists()]
        others = [one.name for one in inside if one not in set(folders)]
        if others:
            building.repair(path.name, f"no chat in it, passed over: {', '.join(others[:20])}")
    for folder in folders:
        _add(building, folder)
    return building.dataset()


def _by_number(path: Path) -> tuple[int, str]:
    return (int(path.name) if re.fullmatch(r"[0-9]{1,18}", path.name) else 10**18, path.name)


def _read(building: Building, file: Path, shape: TypeAdapter[Shape]) -> Shape | None:
    before = len(building.faults)
    content = building.content(file)
    return building.read(shape, content, file=file) if len(building.faults) == before else None


def _add(building: Building, folder: Path) -> None:
    id = f"beam-{folder.resolve().name}"
    chat = folder / CHAT
    batches = _read(building, chat, _CHAT)
    probes = _read(building, folder / QUESTIONS, _QUESTIONS)
    messages = _messages(building, id, batches, chat) if batches is not None else []
    if not messages or probes is None:
        return
    asked = {"asked_at": messages[-1]["time"] + MINUTE}
    known = {message["id"] for message in messages}
    questions = [
        _question(building, id, f"{id}_{kind}_{n}", kind, question, known) | asked
        for kind, group in probes.items()
        for n, question in enumerate(group)
    ]
    for what in (
        "dates are days without a time zone; taken as 09:00 UTC",
        "messages have no time; one second apart from their session's start",
        "questions have no date; asked one minute after the last message",
        "not taken over: rubrics, difficulties and other notes on the questions, topic",
    ):
        building.repair(id, what)
    building.add(
        {
            "id": id,
            "title": f"BEAM chat {folder.resolve().name}",
            "team": "beam",
            "person": id,
            "threads": [{"id": "main", "messages": messages}],
            "questions": questions,
        },
        chat,
    )


def _messages(
    building: Building, id: str, batches: list[_Batch], file: Path
) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    day: datetime | None = None
    time: datetime | None = None
    marks = 0
    for where, anchor, message in _dated(batches):
        name = str(message.id)
        if anchor is not None and anchor != day:
            day, last = anchor, time
            time = following(day + DAY_BEGINS, last)
            if time != day + DAY_BEGINS:
                building.repair(id, late_start(day + DAY_BEGINS), name)
        elif time is None:
            building.fault(where, "has no time_anchor, and there is none before it", file)
            return []
        else:
            time += SECOND
        text = _without_mark(message)
        marks += text != message.content
        if _MARK in text:
            building.repair(id, f"{_MARK!r} stands within the text, which is kept", name)
        if text.strip():
            said = {"id": name, "role": message.role, "speaker": message.role}
            messages.append(said | {"time": time, "text": text})
        else:
            building.repair(id, "holds nothing but white space; left out", name)
    if not messages:
        building.fault("", "there is no message in it", file)
    if marks:
        building.repair(id, f"the mark {_MARK!r} and what follows cut from {marks} user messages")
    return messages


def _dated(batches: list[_Batch]) -> Iterator[tuple[str, datetime | None, _Message]]:
    """All messages in order, each with the anchor that begins at it, and its place in the file."""
    for b, batch in enumerate(batches):
        anchor = batch.time_anchor
        for t, turn in enumerate(batch.turns):
            for m, message in enumerate(turn):
                yield f"[{b}].turns[{t}][{m}]", message.time_anchor or anchor, message
                anchor = None


def _without_mark(message: _Message) -> str:
    text, mark, after = message.content.rpartition(_MARK)
    if mark and message.role == "user" and _AFTER_MARK.fullmatch(after.rstrip()):
        return text.rstrip()
    return message.content


def _question(
    building: Building, talk: str, id: str, kind: str, question: _Question, known: set[str]
) -> dict[str, Any]:
    named = list(_ids(question.source_chat_ids))
    evidence = [str(one) for one in named if str(one) in known]
    for one in named:
        if str(one) not in known:
            building.repair(talk, f"evidence {str(one)[:80]!r} is no message; dropped", id)
    if len(set(evidence)) < len(evidence):
        building.repair(talk, "evidence names a message twice; kept once", id)
    answerable = kind != ABSTENTION
    if answerable and not evidence:
        building.repair(talk, "has no evidence, it cannot be measured", id)
    answers = [key for key in ANSWERS if getattr(question, key) is not None]
    if not answers:
        building.repair(talk, "has no answer", id)
    elif len(answers) > 1:
        building.repair(talk, f"has several answers; {answers[0]} is taken", id)
    return {
        "id": id,
        "text": question.question,
        "answer": answer_text(getattr(question, answers[0])) if answers else None,
        "evidence": distinct(evidence),
        "kind": kind,
        "answerable": answerable,
    }


def _ids(source: Any) -> Iterator[Any]:
    """What stands in lists and objects of any depth, in order."""
    waiting = [source]
    while waiting:
        match waiting.pop():
            case dict() as labelled:
                waiting += reversed(labelled.values())
            case list() as several:
                waiting += reversed(several)
            case None:
                pass
            case one:
                yield one
