"""Replays dated conversations through `memcore` under a virtual clock and writes a run.

Every user message is a turn, composed as it came; every question is a turn of its own, composed as
of the moment it is asked, and leaves no trace. What is dated later does not exist yet.
"""

from __future__ import annotations

import gc
import platform
import re
import sqlite3
import tempfile
import time as clocks
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from eval.arms import Arm, arm_named, in_one_thread
from eval.curating import Host, Passes
from eval.dataset import ConversationRecord, Dataset, NoteRecord, QuestionRecord, SummaryRecord
from eval.errors import RunError
from eval.evidence import trace
from eval.providers import Provided, provided, warm
from eval.recall import headline
from eval.runs import FORMAT, Run, RunWriter, Tables
from eval.tables import Rows
from memcore import (
    PAGE,
    Embedder,
    InvalidInput,
    Memory,
    Message,
    Settings,
    Summary,
    __version__,
    load_settings,
    local_day,
    open_memory,
)

_PIECE = 500
"""Turns whose rows are held in memory before they are written."""

Happening = Message | NoteRecord | SummaryRecord | QuestionRecord


class VirtualClock:
    """A clock that stands where the replay has come to."""

    def __init__(self) -> None:
        self.time = datetime(1970, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a replay has come. While a conversation is embedded ahead, `embedded` of `of_texts`
    texts are."""

    turns: int
    of_turns: int
    conversation: str
    seconds: float
    embedded: int = 0
    of_texts: int = 0

    @property
    def share(self) -> float:
        return self.turns / self.of_turns if self.of_turns else 1.0

    @property
    def seconds_left(self) -> float | None:
        return self.seconds * (1 - self.share) / self.share if self.turns else None


@dataclass(slots=True)
class Replayed:
    """The memory as a conversation left it, what the gate refused on the way, and what the curator
    did."""

    memory: Memory
    host: Host
    refused: list[str] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)


def replay(
    dataset: Dataset,
    out: Path,
    *,
    arm: str = "first-search",
    settings: Settings | None = None,
    changes: dict[str, Any] | None = None,
    name: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    limit: int | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Run:
    """Replays a dataset and returns the complete run, written to a folder of its own under `out`.

    `changes` are settings that differ from the defaults; the arm's own come on top. A folder `name`
    that holds an unfinished replay of the same dataset, arm and settings is resumed. `limit` only
    notes that the dataset was loaded with one. Raises
    `InvalidSettings` and `RunError`; nothing is written then.
    """
    chosen, asked = arm_named(arm), changes or {}
    # a slow machine must not change a run's tables, so no layer is given up for being slow
    unhurried = {"layer_seconds": None}
    base = (settings or load_settings()).vary(**{**unhurried, **asked, **chosen.settings})
    provider = _ready(base)
    if provider is not None:
        base = base.vary(provider=provider.name)
    started = now()
    name = name if name is not None else run_name(dataset, arm, started)
    if not name or Path(name).name != name or name == ".." or not name.isprintable():
        raise RunError(
            f"{name!r} is no name for a run: it is the name of a folder, neither empty nor a path, "
            "without control characters"
        )
    manifest = _manifest(dataset, chosen, base, asked, started) | {
        "limit": limit,
        "provider": provider.described() if provider else None,
    }
    embedder = provider.embedder if provider else None
    with RunWriter(out / name, manifest) as writer:
        _replay_into(writer, dataset, chosen, base, asked, embedder, on_progress, now)
    return Run(out / name)


def run_name(dataset: Dataset, arm: str, started: datetime) -> str:
    """The name of a run that was given none: its dataset, its arm, and when it began."""
    plain = re.sub(r"[^\w.]+", "-", dataset.name).strip("-.") or "dataset"
    return f"{plain[:80]}-{arm}-{started:%Y%m%d-%H%M%S-%f}"


def _ready(settings: Settings) -> Provided | None:
    """The provider that the settings name, after it has embedded a text: a key that is wrong is
    told before anything is replayed. Raises `ProviderError` and `InvalidInput`."""
    if not settings.provider:
        return None
    provider = provided(settings.provider)
    provider.embedder.embed(["ready?"], "query")
    return provider


def _replay_into(
    writer: RunWriter,
    dataset: Dataset,
    chosen: Arm,
    base: Settings,
    asked: dict[str, Any],
    embedder: Embedder | None,
    on_progress: Callable[[Progress], None] | None,
    now: Callable[[], datetime],
) -> None:
    began = clocks.perf_counter()
    talks = [in_one_thread(t) if chosen.one_thread else t for t in dataset.conversations]
    sizes = [
        sum(turn_message(talk, one, chosen) is not None for one in happenings(talk))
        for talk in talks
    ]
    finished = writer.done()
    done = sum(sizes[number] for number in finished)
    for number, talk in enumerate(talks):
        if number in finished:
            continue

        def report(
            turns: int,
            embedded: int = 0,
            of_texts: int = 0,
            talk: ConversationRecord = talk,
            before: int = done,
        ) -> None:
            if on_progress is not None:
                seconds = clocks.perf_counter() - began
                now_at = Progress(before + turns, sum(sizes), talk.id, seconds, embedded, of_texts)
                on_progress(now_at)

        if embedder is not None:
            said = [turn_message(talk, one, chosen) for one in happenings(talk)]
            turns_of = [message for message in said if message is not None]
            warm(embedder, talk, turns_of, base, partial(report, 0))
        refused: list[str] = []
        passes = Passes()
        pieces = replay_conversation(talk, chosen, base, asked, report, refused, embedder, passes)
        writer.write_part(number, pieces, refused, passes.counts)
        done += sizes[number]
    writer.join()
    writer.finish(
        {
            "finished": now().isoformat(),
            "duration_seconds": round(clocks.perf_counter() - began, 3),
            "refused": writer.refused(),
            "curator": writer.counts() if base.curator else None,
            "results": headline(Tables(writer.folder)),
        }
    )


def replay_conversation(
    talk: ConversationRecord,
    arm: Arm,
    settings: Settings,
    asked: dict[str, Any],
    report: Callable[[int], None],
    refused: list[str],
    embedder: Embedder | None = None,
    passes: Passes | None = None,
) -> Iterator[dict[str, pa.Table]]:
    """One conversation's tables, a piece for every `_PIECE` turns; `refused` gets what the write
    gate refused, `passes` what the curator did. Everything is kept in a store of its own that is
    gone afterwards."""
    if "timezone" not in asked:
        settings = settings.vary(timezone=talk.timezone)
    rows, turns = Rows(talk), 0
    with _uncollected(), tempfile.TemporaryDirectory(prefix="mnemoscope-") as folder:
        clock = VirtualClock()
        path = Path(folder) / "memory.db"
        memory = open_memory(path, clock, settings, durable=False, embedder=embedder)
        state = Replayed(memory, Host(memory, talk.owner, passes or Passes()), refused)
        try:
            for happening in happenings(talk):
                happen(state, clock, talk, happening)
                message = turn_message(talk, happening, arm)
                if message is None:
                    continue
                began = clocks.perf_counter()
                composition = memory.compose(talk.owner, message.thread, message, talk.persona)
                spent = (clocks.perf_counter() - began) * 1000
                before = len(state.messages) - (message.id in state.messages)
                if isinstance(happening, QuestionRecord):
                    fates = trace(composition, happening.evidence, state.messages, happening.answer)
                    rows.add(composition, message, before, spent, happening, fates)
                else:
                    rows.add(composition, message, before, spent)
                turns += 1
                if turns % 25 == 0:
                    report(turns)
                if turns % _PIECE == 0:
                    yield rows.take()
        finally:
            memory.close()
    report(turns)
    yield rows.tables()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the cycle collector: the rows gathered make it look through them again and again,
    a fifth of a replay's time, and a conversation leaves no cycles worth the search."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def happenings(talk: ConversationRecord) -> Iterator[Happening]:
    """Everything that happens in a conversation, in time order: at one moment messages come before
    notes, notes before questions."""
    found: list[tuple[datetime, int, str, Happening]] = [
        *((one.time, 0, one.id, one) for one in talk.messages()),
        *((one.time, 1, f"{n:06d}", one) for n, one in enumerate(talk.notes)),
        *((one.time, 2, f"{n:06d}", one) for n, one in enumerate(talk.summaries)),
        *((one.asked_at, 3, one.id, one) for one in talk.questions),
    ]
    return (one for _, _, _, one in sorted(found, key=lambda row: row[:3]))


def happen(
    state: Replayed, clock: VirtualClock, talk: ConversationRecord, happening: Happening
) -> None:
    """Moves the clock to what happens and brings it into the memory.

    Before the person speaks again, the exchange that has ended is followed up, at the time it
    ended: so a question, which is said to nobody, leaves no trace in what is written.
    """
    speaks = isinstance(happening, QuestionRecord) or (
        isinstance(happening, Message) and happening.role == "user"
    )
    if speaks and (ended := state.host.ended):
        clock.time = ended.time
        state.host.follow_up()
    clock.time = _moment(happening)
    apply(state, talk, happening)


def apply(state: Replayed, talk: ConversationRecord, happening: Happening) -> None:
    """Brings what happened into the memory; a question leaves it as it is."""
    try:
        if isinstance(happening, Message):
            stored = state.memory.conversation.append(talk.owner, happening)
            state.messages[stored.id] = stored
            state.host.said(stored)
        elif isinstance(happening, NoteRecord):
            _write_note(state.memory, talk, happening)
        elif isinstance(happening, SummaryRecord):
            summary = Summary(
                happening.thread, happening.text, happening.time, tuple(happening.sources)
            )
            state.memory.summaries.save(talk.owner, summary)
    except InvalidInput as error:
        state.refused.append(f"{talk.id}, {_moment(happening).isoformat()}: {error}")


def _write_note(memory: Memory, talk: ConversationRecord, record: NoteRecord) -> None:
    """Writes a dated note to its day, joined to what that day has; the page is replaced."""
    day = local_day(record.time, memory.settings.zone).isoformat()
    key = PAGE if record.kind == "page" else day
    current = memory.notes.get(talk.owner, key)
    text, sources = record.text, tuple(record.sources)
    if current is not None and key != PAGE:
        text, sources = f"{current.text}\n{text}", (*current.sources, *sources)
    memory.notes.write(
        talk.owner,
        key,
        text,
        writer="import",
        expected_revision=current.revision if current else 0,
        sources=sources,
    )


def turn_message(talk: ConversationRecord, happening: Happening, arm: Arm) -> Message | None:
    """The message of the turn that a happening begins, None where it begins none.

    A question's has no id: it is never stored, and a message may have the question's id.
    """
    if isinstance(happening, QuestionRecord):
        thread = talk.asked_in(happening)
        return Message("", thread, "user", talk.person, happening.asked_at, happening.text)
    if isinstance(happening, Message) and happening.role == "user" and not arm.questions_only:
        return happening
    return None


def _moment(happening: Happening) -> datetime:
    return happening.asked_at if isinstance(happening, QuestionRecord) else happening.time


def _manifest(
    dataset: Dataset, arm: Arm, settings: Settings, asked: dict[str, Any], started: datetime
) -> dict[str, Any]:
    return {
        "dataset": {
            "name": dataset.name,
            "format": dataset.format,
            "sha256": dataset.sha256,
            "source": dataset.source,
            "repairs": [f"{one.where}: {one.what}" for one in dataset.repairs],
        },
        "counts": dataset.counts,
        "arm": arm.name,
        "settings": settings.model_dump(mode="json"),
        "changed_settings": {name: str(value) for name, value in sorted(asked.items())},
        "seed": None,
        "versions": {
            "mnemoscope": __version__,
            "run_format": FORMAT,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        },
        "started": started.isoformat(),
    }
