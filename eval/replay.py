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
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from eval.arms import Arm, arm_named, in_one_thread
from eval.curating import Host, Passes
from eval.dataset import ConversationRecord, Dataset, QuestionRecord
from eval.errors import RunError
from eval.evidence import trace
from eval.happenings import Replayed, VirtualClock, happen, happenings, turn_message
from eval.providers import Provided, provided, warm
from eval.recall import headline
from eval.run_writer import RunWriter
from eval.runs import FORMAT, Run, Tables
from eval.tables import Rows
from memcore import (
    Embedder,
    Settings,
    __version__,
    load_settings,
    open_memory,
)

_PIECE = 500
"""Turns whose rows are held in memory before they are written."""


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
                    fates = trace(composition, happening.evidence, state.messages)
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
