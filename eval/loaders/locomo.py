"""LoCoMo (`locomo10.json` and parts of it): two friends over months, with questions.

A sample becomes a conversation with one thread, "main". Who speaks first is the user. A caption is
part of its message, since much evidence is only there. Category numbers are the file's, which are
not in the paper's order. Questions have no date: they are asked after the last message.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, TypeAdapter

from eval.dataset import Dataset, read_json
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

LOOKS = 'a JSON list of samples: [{"sample_id": …, "conversation": {"session_1": …}, "qa": …'
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
_SESSION = re.compile(r"session_\d{1,6}", re.ASCII)
_DATE = re.compile(r"(session_\d{1,6})_date_time", re.ASCII)
_REFERENCE = re.compile(r"D:?(\d+):0*(\d+)", re.ASCII)
_WELL_FORMED = re.compile(r"D\d+:\d+", re.ASCII)


class _Turn(SourceRecord):
    speaker: str
    dia_id: Annotated[str, Field(min_length=1)]
    text: str | None = None
    blip_caption: str | None = None


class _Question(SourceRecord):
    question: Annotated[str, Field(min_length=1)]
    category: Literal[1, 2, 3, 4, 5]
    evidence: list[str]
    answer: Answer = None


class _Speakers(SourceRecord):
    speaker_a: Annotated[str, Field(min_length=1)]
    speaker_b: Annotated[str, Field(min_length=1)]


class _Sample(SourceRecord):
    sample_id: Annotated[str, Field(min_length=1)]
    conversation: dict[str, Any]
    qa: list[_Question]


_Date = Annotated[datetime, date_reader("%I:%M %p on %d %B, %Y", "1:56 pm on 8 May, 2023")]
_SAMPLES = TypeAdapter(list[_Sample])
_SPEAKERS = TypeAdapter(_Speakers)
_DATES = TypeAdapter(dict[str, _Date])
_TURNS = TypeAdapter(dict[str, list[_Turn]])


class _Session(NamedTuple):
    name: str
    date: datetime
    turns: list[_Turn]


def recognises(_path: Path, content: Any) -> bool:
    """Whether one of the first items has a conversation and its sample id or questions."""
    return isinstance(content, list) and any(
        isinstance(item, dict) and "conversation" in item and ("qa" in item or "sample_id" in item)
        for item in content[:10]
    )


def load(path: Path) -> Dataset:
    """The samples of a file. Raises `DatasetError` with every fault found in it."""
    building = Building(path, "locomo")
    samples = building.read(_SAMPLES, read_json(path)) or []
    for number, sample in enumerate(samples):
        _add(building, sample, f"[{number}]")
    return building.dataset()


def _add(building: Building, sample: _Sample, where: str) -> None:
    id, where = sample.sample_id, f"{where}.conversation"
    speakers = _speakers(building, sample, where)
    sessions = _sessions(building, sample, where)
    if speakers is None or sessions is None:
        return
    messages = _messages(building, id, sessions)
    if not messages:
        building.fault(where, "there is no message in it")
        return
    first = messages[0]["speaker"]
    second = next(name for name in speakers if name != first)
    for message in messages:
        message["role"] = "user" if message["speaker"] == first else "assistant"
    _list_assumptions(building, id, first, second)
    known = {message["id"] for message in messages}
    asked = {"asked_at": messages[-1]["time"] + MINUTE}
    building.add(
        {
            "id": id,
            "title": " and ".join(speakers),
            "team": "locomo",
            "agent": second,
            "person": first,
            "persona": f"You are {second}, a friend of {first}. "
            "You answer from what the two of you have said.",
            "threads": [{"id": "main", "messages": messages}],
            "questions": [
                _question(building, id, index, question, known) | asked
                for index, question in enumerate(sample.qa)
            ],
        }
    )


def _speakers(building: Building, sample: _Sample, where: str) -> tuple[str, str] | None:
    found = building.read(_SPEAKERS, sample.conversation, where)
    if found is None:
        return None
    if found.speaker_a == found.speaker_b:
        building.fault(f"{where}.speaker_b", "is the same as speaker_a")
        return None
    return found.speaker_a, found.speaker_b


def _sessions(building: Building, sample: _Sample, where: str) -> list[_Session] | None:
    """The sessions that exist, by number; None where they have faults."""
    talk, before = sample.conversation, len(building.faults)
    names = sorted(filter(_SESSION.fullmatch, talk), key=lambda name: (len(name), name))
    keys = {name: f"{name}_date_time" for name in names}
    for name, key in keys.items():
        if key not in talk:
            building.fault(f"{where}.{key}", f"is missing, and {name} is there")
    given = {key: talk[key] for key in keys.values() if key in talk}
    dates = building.read(_DATES, given, where)
    turns = building.read(_TURNS, {name: talk[name] for name in names}, where)
    speakers = [talk.get("speaker_a"), talk.get("speaker_b")]
    for name, said in (turns or {}).items():
        for t, turn in enumerate(said):
            if turn.speaker not in speakers:
                reason = f"{turn.speaker[:60]!r} is neither speaker_a nor speaker_b"
                building.fault(f"{where}.{name}[{t}].speaker", reason)
    lone = [match[1] for match in map(_DATE.fullmatch, talk) if match and match[1] not in keys]
    if lone:
        building.repair(sample.sample_id, f"no such session, date passed over: {', '.join(lone)}")
    if len(building.faults) > before or dates is None or turns is None:
        return None
    return [_Session(name, dates[keys[name]], turns[name]) for name in names]


def _messages(building: Building, id: str, sessions: list[_Session]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    last: datetime | None = None
    for session in sessions:
        time = following(session.date, last)
        if time != session.date:
            building.repair(id, late_start(session.date), session.name)
        for turn in session.turns:
            text = _text(turn)
            if not text:
                building.repair(id, "has neither text nor caption; left out", turn.dia_id)
                continue
            messages.append(
                {"id": turn.dia_id, "speaker": turn.speaker, "time": time, "text": text}
            )
            last, time = time, time + SECOND
    return messages


def _text(turn: _Turn) -> str:
    text, caption = turn.text or "", (turn.blip_caption or "").strip()
    shown = [text] if text.strip() else []
    return "\n".join([*shown, f"[image: {caption}]"] if caption else shown)


def _question(
    building: Building, sample: str, index: int, question: _Question, known: set[str]
) -> dict[str, Any]:
    id, adversarial = f"{sample}_q{index}", question.category == ADVERSARIAL
    evidence: list[str] = []
    for reference in question.evidence:
        found = [f"D{session}:{turn}" for session, turn in _REFERENCE.findall(reference)]
        kept = [one for one in found if one in known]
        if not (_WELL_FORMED.fullmatch(reference) and found == kept == [reference]):
            read = f"read as {', '.join(kept)}" if kept else "dropped"
            lost = ", ".join(one for one in found if one not in known)
            reason = f"; no turn {lost}" if lost else ""
            building.repair(sample, f"evidence {reference[:80]!r} {read}{reason}", id)
        evidence += kept
    if len(set(evidence)) < len(evidence):
        building.repair(sample, "evidence names a turn twice; kept once", id)
    if not evidence:
        building.repair(sample, "has no evidence, it cannot be measured", id)
    if adversarial and question.answer is not None:
        building.repair(sample, "is adversarial and has an answer too; the answer is dropped", id)
    elif not adversarial and question.answer is None:
        building.repair(sample, "has no answer", id)
    return {
        "id": id,
        "text": question.question,
        "answer": None if adversarial else answer_text(question.answer),
        "evidence": distinct(evidence),
        "kind": KINDS[question.category],
        "answerable": not adversarial,
    }


def _list_assumptions(building: Building, id: str, first: str, second: str) -> None:
    for what in (
        f"{first} speaks first and has role user, {second} has role assistant",
        "session dates have no time zone; taken as UTC",
        "turns have no time; one second apart from their session's start",
        "questions have no date; asked one minute after the last message",
        "not taken over: adversarial answers, summaries, observations, events, image addresses",
    ):
        building.repair(id, what)
