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
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from eval.arms import FIRST, Arm, arm_named, in_one_thread
from eval.curating import Host, Passes
from eval.dataset import ConversationRecord, Dataset, QuestionRecord
from eval.errors import RunError
from eval.grading import FAILED, Patience, grade
from eval.happenings import Replayed, VirtualClock, happen, happenings, turn_message
from eval.judge import Judge, judge_named
from eval.providers import Provided, provided, warm
from eval.recall import headline
from eval.run_writer import RunWriter
from eval.runs import FORMAT, Run, Tables
from eval.tables import Rows
from eval.taking import Taker, fates_of
from memcore import (
    Brain,
    Embedder,
    InvalidInput,
    Settings,
    __version__,
    brain_named,
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


@dataclass(frozen=True, slots=True)
class Plan:
    """What a replay is to do: everything that decides its tables, and the manifest it begins with.

    `asked` are the settings that the caller changed.
    """

    dataset: Dataset
    arm: Arm
    settings: Settings
    asked: dict[str, Any]
    embedder: Embedder | None
    brain: Brain | None
    judge: Judge | None
    manifest: dict[str, Any]


def plan_replay(
    dataset: Dataset,
    *,
    arm: str = FIRST,
    settings: Settings | None = None,
    changes: dict[str, Any] | None = None,
    judge: str | None = None,
    limit: int | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Plan:
    """The plan of a replay; the arguments are those of `replay`. Writes nothing."""
    chosen, asked = arm_named(arm), changes or {}
    # a slow machine must not change a run's tables, so no layer is given up for being slow
    unhurried = {"layer_seconds": None}
    base = (settings or load_settings()).vary(**{**unhurried, **asked, **chosen.settings})
    provider = _ready(base)
    if provider is not None:
        base = base.vary(provider=provider.name)
    brain = brain_named(base.brain, base) if base.brain else None
    if judge and brain is None:
        raise InvalidInput("a judge was given and no brain: nothing is answered; give --brain too")
    judging = judge_named(judge, base) if judge else None
    manifest = _manifest(dataset, chosen, base, asked, now()) | {
        "limit": limit,
        "provider": provider.described() if provider else None,
        "brain": brain.name if brain else None,
        "judge": judging.described() if judging else None,
    }
    embedder = provider.embedder if provider else None
    return Plan(dataset, chosen, base, asked, embedder, brain, judging, manifest)


def replay(
    dataset: Dataset,
    out: Path,
    *,
    arm: str = FIRST,
    settings: Settings | None = None,
    changes: dict[str, Any] | None = None,
    judge: str | None = None,
    name: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    limit: int | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Run:
    """Replays a dataset and returns the complete run, written to a folder of its own under `out`.

    `changes` are settings that differ from the defaults; the arm's own come on top. Where they name
    a brain it answers every question, and the model named by `judge` grades the answers. A folder
    `name` that holds an unfinished replay of the same dataset, arm, settings and judge is resumed.
    `limit` only notes that the dataset was loaded with one. Raises `InvalidSettings`,
    `InvalidInput` and `RunError`; nothing is written then.
    """
    made = plan_replay(
        dataset, arm=arm, settings=settings, changes=changes, judge=judge, limit=limit, now=now
    )
    name = name if name is not None else run_name(dataset, arm, now())
    return carry_out(made, out / checked_name(name), on_progress, now)


def carry_out(
    plan: Plan,
    folder: Path,
    on_progress: Callable[[Progress], None] | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Run:
    """Does what a plan says and returns the complete run; an unfinished one there is gone on with.
    Raises `RunError`."""
    with RunWriter(folder, plan.manifest) as writer:
        _replay_into(writer, plan, on_progress, now)
    return Run(folder)


def run_name(dataset: Dataset, arm: str, started: datetime) -> str:
    """The name of a run that was given none: its dataset, its arm, and when it began."""
    return f"{plain_name(dataset)}-{arm}-{started:%Y%m%d-%H%M%S-%f}"


def checked_name(name: str) -> str:
    """The name of a run as it was given. Raises `RunError` where it is none."""
    if not name or Path(name).name != name or name == ".." or not name.isprintable():
        raise RunError(
            f"{name!r} is no name for a run: it is the name of a folder, neither empty nor a path, "
            "without control characters"
        )
    return name


def plain_name(dataset: Dataset) -> str:
    """The dataset's name as a part of a folder's."""
    return (re.sub(r"[^\w.]+", "-", dataset.name).strip("-.") or "dataset")[:80]


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
    plan: Plan,
    on_progress: Callable[[Progress], None] | None,
    now: Callable[[], datetime],
) -> None:
    began = clocks.perf_counter()
    chosen, embedder = plan.arm, plan.embedder
    talks = [in_one_thread(t) if chosen.one_thread else t for t in plan.dataset.conversations]
    sizes = [
        sum(turn_message(talk, one, chosen) is not None for one in happenings(talk))
        for talk in talks
    ]
    writer.forget(FAILED)
    finished = writer.done()
    done = sum(sizes[number] for number in finished)
    patience = Patience(writer.folder.name)
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
            warm(embedder, talk, turns_of, plan.settings, partial(report, 0))
        refused: list[str] = []
        passes = Passes()
        pieces = replay_conversation(talk, plan, report, refused, passes, patience)
        writer.write_part(number, pieces, refused, passes.counts)
        done += sizes[number]
    writer.join()
    curated = writer.counts() if plan.settings.curator else None
    writer.finish(
        {
            "finished": now().isoformat(),
            "duration_seconds": round(clocks.perf_counter() - began, 3),
            "refused": writer.refused(),
            "curator": curated,
            "results": headline(Tables(writer.folder), (curated or {}).get("failed", 0)),
        }
    )


def replay_conversation(
    talk: ConversationRecord,
    plan: Plan,
    report: Callable[[int], None],
    refused: list[str],
    passes: Passes,
    patience: Patience,
) -> Iterator[dict[str, pa.Table]]:
    """One conversation's tables, a piece for every `_PIECE` turns; `refused` gets what the write
    gate refused, `passes` what the curator did. Everything is kept in a store of its own that is
    gone afterwards."""
    arm, settings = plan.arm, plan.settings
    if "timezone" not in plan.asked:
        settings = settings.vary(timezone=talk.timezone)
    # an answer takes seconds, and what a client leaves in cycles should not wait for the end
    gathering = nullcontext() if plan.brain else _uncollected()
    rows, turns = Rows(talk), 0
    with gathering, tempfile.TemporaryDirectory(prefix="mnemoscope-") as folder:
        clock = VirtualClock()
        memory = open_memory(
            Path(folder) / "memory.db",
            clock,
            arm.memory_settings(settings),
            durable=False,
            embedder=plan.embedder,
        )
        state = Replayed(memory, Host(memory, talk.owner, passes), refused)
        taker = Taker(arm, memory, settings, talk, plan.brain)
        try:
            for happening in happenings(talk):
                happen(state, clock, talk, happening)
                message = turn_message(talk, happening, arm)
                if message is None:
                    continue
                question = happening if isinstance(happening, QuestionRecord) else None
                taken = taker.take(message, state.messages, question=question is not None)
                before = len(state.messages) - (message.id in state.messages)
                if question is not None:
                    fates = fates_of(taken, arm, question, state.messages)
                    if taken.answer:
                        patience.saw(taken.answer)
                    graded = grade(taken.answer, question, plan.judge) if taken.answer else None
                    rows.add(taken, message, before, question, fates, graded)
                else:
                    rows.add(taken, message, before)
                turns += 1
                if turns % (1 if plan.brain else 25) == 0:
                    report(turns)
                if turns % _PIECE == 0:
                    rows.lines(passes.take())
                    yield rows.take()
        finally:
            memory.close()
    report(turns)
    rows.lines(passes.take())
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
