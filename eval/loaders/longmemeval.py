"""LongMemEval, in its original form and in ReMe's: a question over a haystack of chat sessions.

A question becomes a conversation, each session a thread of it, and the question is asked in a
thread of its own, "asked". Of the two readings of haystacks with sessions later than the question,
this is the one in which **dates are enforced**: messages keep the file's dates, so that later ones
are invisible to the question, and ReMe's labels (`golden_answer`, `answer_session_ids`) are used,
not `original_answer`. Where ReMe has emptied the answer sessions for that reason, the question
counts as unanswerable.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, TypeAdapter

from eval.dataset import Dataset, read_json
from eval.errors import DatasetError
from eval.loaders.native import (
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

LOOKS = (
    'a JSON list [{"question_id": …, "haystack_sessions": …}] or, from ReMe, an object '
    '{"case_id": …, "queries": …, "sessions": …}, or a folder of such files'
)
ASKED = "asked"
_Date = Annotated[datetime, date_reader("%Y/%m/%d (%a) %H:%M", "2023/06/06 (Tue) 08:19")]
_Id = Annotated[str, Field(min_length=1)]


class _Turn(SourceRecord):
    role: Literal["user", "assistant", "tool"]
    content: str
    name: str | None = None
    has_answer: bool | None = None
    created_at: str | None = None


class _Original(SourceRecord):
    question_id: _Id
    question_type: _Id
    question: _Id
    question_date: _Date
    answer: Answer
    answer_session_ids: list[str]
    haystack_session_ids: list[_Id]
    haystack_dates: list[_Date]
    haystack_sessions: list[list[_Turn]]


class _QueryData(SourceRecord):
    question_type: _Id
    question_date: _Date
    answer_session_ids: list[str]
    original_answer: Answer = None
    original_answer_session_ids: list[str] | None = None


class _Query(SourceRecord):
    query_id: _Id
    question: _Id
    golden_answer: Answer
    metadata: _QueryData


class _SessionData(SourceRecord):
    date: _Date


class _ReMeSession(SourceRecord):
    session_id: _Id
    metadata: _SessionData
    messages: list[_Turn]


class _ReMe(SourceRecord):
    queries: Annotated[list[_Query], Field(min_length=1, max_length=1)]
    sessions: list[_ReMeSession]


_ORIGINALS = TypeAdapter(list[_Original])
_REME = TypeAdapter(_ReMe)


class _Session(NamedTuple):
    id: str
    date: datetime
    turns: list[_Turn]


class _Case(NamedTuple):
    """A question and its haystack, whichever form they came in."""

    id: str
    kind: str
    question: str
    date: datetime
    answer: str | None
    answer_sessions: list[str]
    sessions: list[_Session]
    emptied: bool = False
    relabelled: str | None = None

    @property
    def abstention(self) -> bool:
        return self.id.endswith("_abs")


class _Placed(NamedTuple):
    """A turn with its place: the session as the file names it, the thread, and its own time."""

    id: str
    session: str
    thread: str
    time: datetime
    turn: _Turn


def recognises(path: Path, content: Any) -> bool:
    """Whether it has the keys of either form; of a folder, one of its first JSON files."""
    if path.is_dir():
        return any(_is_case(file) for file in sorted(path.glob("*.json"))[:3])
    if isinstance(content, list):
        return any(
            isinstance(item, dict)
            and "question_id" in item
            and any(key.startswith("haystack_") for key in item)
            for item in content[:10]
        )
    return isinstance(content, dict) and {"queries", "sessions"} <= content.keys()


def _is_case(file: Path) -> bool:
    try:
        return file.is_file() and recognises(file, read_json(file))
    except DatasetError:
        return False


def load(path: Path) -> Dataset:
    """The questions of a file or folder. Raises `DatasetError` with every fault of every file."""
    building = Building(path, "longmemeval")
    files = [path]
    if path.is_dir():
        files = sorted(path.glob("*.json"))
        others = sorted(one.name for one in path.iterdir() if one not in set(files))
        if others:
            building.repair(path.name, f"not .json, passed over: {', '.join(others[:20])}")
    for file in files:
        for case in _cases(building, file):
            _add(building, case, file)
    return building.dataset()


def _cases(building: Building, file: Path) -> list[_Case]:
    before = len(building.faults)
    content = building.content(file)
    if len(building.faults) > before:
        return []
    if isinstance(content, list):
        given = building.read(_ORIGINALS, content, file=file) or []
        cases = [_from_original(building, one, f"[{n}]", file) for n, one in enumerate(given)]
        return [case for case in cases if case is not None]
    reme = building.read(_REME, content, file=file)
    return [] if reme is None else [_from_reme(reme)]


def _from_original(building: Building, given: _Original, where: str, file: Path) -> _Case | None:
    ids, dates, sessions = given.haystack_session_ids, given.haystack_dates, given.haystack_sessions
    if not len(ids) == len(dates) == len(sessions):
        building.fault(
            f"{where}.haystack_sessions",
            f"has {len(sessions)} items, haystack_session_ids {len(ids)}, "
            f"haystack_dates {len(dates)}; they must be as many",
            file,
        )
        return None
    return _Case(
        given.question_id,
        given.question_type,
        given.question,
        given.question_date,
        answer_text(given.answer),
        given.answer_session_ids,
        [_Session(*one) for one in zip(ids, dates, sessions, strict=True)],
    )


def _from_reme(given: _ReMe) -> _Case:
    query = given.queries[0]
    data = query.metadata
    answer, original = answer_text(query.golden_answer), answer_text(data.original_answer)
    return _Case(
        query.query_id,
        data.question_type,
        query.question,
        data.question_date,
        answer,
        data.answer_session_ids,
        [_Session(one.session_id, one.metadata.date, one.messages) for one in given.sessions],
        emptied=bool(data.original_answer_session_ids) and not data.answer_session_ids,
        relabelled=original if original not in (None, answer) else None,
    )


def _add(building: Building, case: _Case, file: Path) -> None:
    placed = _placed(building, case)
    threads: dict[str, list[dict[str, Any]]] = {}
    for one in placed:
        turn = one.turn
        said = {"id": one.id, "role": turn.role, "speaker": turn.name or turn.role}
        threads.setdefault(one.thread, []).append(said | {"time": one.time, "text": turn.content})
    question = {
        "id": case.id,
        "text": case.question,
        "asked_at": case.date,
        "thread": ASKED,
        "answer": case.answer,
        "evidence": _evidence(building, case, placed),
        "kind": case.kind,
        "answerable": not (case.abstention or case.emptied),
    }
    _list_assumptions(building, case, placed)
    building.add(
        {
            "id": case.id,
            "title": case.question[:100],
            "team": "longmemeval",
            "person": case.id,
            "threads": [
                *({"id": id, "messages": messages} for id, messages in threads.items()),
                {"id": ASKED, "messages": []},
            ],
            "questions": [question],
        },
        file,
    )


def _placed(building: Building, case: _Case) -> list[_Placed]:
    """All turns with a text, session by session as in the file; times follow the dates."""
    threads = _thread_names(building, case)
    starts: dict[int, datetime] = {}
    last: datetime | None = None
    for number, session in sorted(enumerate(case.sessions), key=lambda pair: pair[1].date):
        if session.turns:
            starts[number] = start = following(session.date, last)
            last = start + SECOND * (len(session.turns) - 1)
            if start != session.date:
                building.repair(case.id, late_start(session.date), threads[number])
        else:
            building.repair(case.id, "has no message; left out", threads[number])
    placed, elsewhen = [], 0
    for number, session in enumerate(case.sessions):
        date = f"{session.date:%Y-%m-%dT%H:%M}"
        for index, turn in enumerate(session.turns):
            id = f"{threads[number]}:{index}"
            elsewhen += (turn.created_at or date)[:16] != date
            if turn.content.strip():
                time = starts[number] + SECOND * index
                placed.append(_Placed(id, session.id, threads[number], time, turn))
            else:
                building.repair(case.id, "holds nothing but white space; left out", id)
    if elsewhen:
        what = "messages are created at another time than their session's; its date is taken"
        building.repair(case.id, f"{elsewhen} {what}")
    return placed


def _thread_names(building: Building, case: _Case) -> list[str]:
    """A name for the thread of each session: its id, with a suffix where that is used already."""
    names: list[str] = []
    used, given = {ASKED}, {session.id for session in case.sessions}
    copies: dict[str, int] = {}
    for session in case.sessions:
        name = session.id
        while name in used or (name != session.id and name in given):
            copies[session.id] = copies.get(session.id, 1) + 1
            name = f"{session.id}#{copies[session.id]}"
        if name != session.id:
            building.repair(case.id, f"id is used already; its thread is {name}", session.id)
        used.add(name)
        names.append(name)
    return names


def _evidence(building: Building, case: _Case, placed: list[_Placed]) -> list[str]:
    named = distinct(case.answer_sessions)
    found = [one for one in placed if one.turn.has_answer]
    given, flagged = {one.id for one in case.sessions}, {one.session for one in found}
    for name in named:
        if name not in given:
            building.repair(case.id, f"answer session {name[:80]!r} is not in the haystack")
        elif found and name not in flagged:
            building.repair(case.id, "an answer session without flagged turn, not evidence", name)
    if named and not found and case.abstention:
        building.repair(case.id, "an abstention without flagged turn; it has no evidence")
    elif named and not found:
        found = [one for one in placed if one.session in named and one.turn.role == "user"]
        building.repair(case.id, "no turn is flagged; user turns of answer sessions are evidence")
    for one in found:
        if one.time >= case.date:
            building.repair(case.id, "evidence is not before the question; dropped", one.id)
    kept = [one.id for one in found if one.time < case.date]
    if not kept and not case.abstention:
        building.repair(case.id, "has no evidence, it cannot be measured")
    return kept


def _list_assumptions(building: Building, case: _Case, placed: list[_Placed]) -> None:
    building.repair(case.id, "dates have no time zone; taken as UTC")
    building.repair(case.id, "turns have no time; one second apart from their session's start")
    late = [session for session in case.sessions if session.date >= case.date]
    if late:
        count = sum(one.time >= case.date for one in placed)
        what = f"{len(late)} of {len(case.sessions)} sessions are not before the question"
        building.repair(case.id, f"{what}; {count} messages stay invisible to it")
    if case.relabelled is not None:
        original = case.relabelled[:80]
        building.repair(case.id, f"ReMe's answer is used, not the original {original!r}")
    if case.emptied:
        what = "ReMe names no answer session where the original does; counted as unanswerable"
        building.repair(case.id, what)
