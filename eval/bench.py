"""Benchmarks: how fast, how much memory, and how both grow. Never a timed test.

Machines differ and are shared, so each figure stands beside a reference measured in the same run:
for composing, SQLite FTS5's own ranking of the same query over the same messages.
"""

from __future__ import annotations

import random
import resource
import sqlite3
import statistics
import tempfile
import time as clocks
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from eval.dataset import ConversationRecord, Dataset, MessageRecord, ThreadRecord, make_dataset
from eval.happenings import VirtualClock
from eval.loaders import load
from eval.replay import replay
from eval.runs import list_runs
from memcore import Memory, Message, Owner, Settings, open_memory, query_stems, text_stems

SIZES = (500, 5_000, 50_000)
NOTES = 400
QUERIES = 200
_OWNER = Owner("bench", "assistant", "person")
_START = datetime(2025, 1, 1, 9, tzinfo=UTC)
_PERSONA = "You are a shop's assistant. You answer briefly and from what was said."


class Spread(NamedTuple):
    """Times of one kind of work in milliseconds."""

    median: float
    p95: float
    samples: int


def spread(seconds: Sequence[float]) -> Spread:
    """Median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    p95 = ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)]
    return Spread(statistics.median(ordered) * 1000, p95 * 1000, len(ordered))


def bench_compose(
    sizes: Sequence[int] = SIZES, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Composes turns over stores of several sizes with 400 notes; a row a size."""
    texts = _sentences()
    rows = []
    for size in sizes:
        say(f"{size:,} messages …")
        with tempfile.TemporaryDirectory(prefix="mnemoscope-bench-") as folder:
            rows.append(_compose_over(Path(folder), size, texts))
    return {"notes": NOTES, "queries": QUERIES, "rows": rows}


def bench_replay(source: str | None = None) -> dict[str, Any]:
    """Replays a dataset (the bundled one, or `source`) and gives composed turns a second."""
    dataset = load(source or "shop")
    with tempfile.TemporaryDirectory(prefix="mnemoscope-bench-") as folder:
        began = clocks.perf_counter()
        run = replay(dataset, Path(folder), changes={"brain": None})
        seconds = clocks.perf_counter() - began
        size = sum(path.stat().st_size for path in run.folder.iterdir())
    turns = run.manifest["results"]["turns"]
    return {
        "dataset": dataset.name,
        "turns": turns,
        "seconds": round(seconds, 2),
        "turns_per_second": round(turns / seconds, 1),
        "run_bytes": size,
        "peak_rss_mib": _peak_rss(),
    }


def bench_runs(turns: int = 50_000, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Makes a run of many turns, then measures how long listing it takes: manifests alone are read.

    Also reports how much memory the replay and its joining took at most.
    """
    dataset = _long_dataset(turns, _sentences())
    with tempfile.TemporaryDirectory(prefix="mnemoscope-bench-") as folder:
        out = Path(folder)
        say(f"replaying {turns:,} turns …")
        began = clocks.perf_counter()
        run = replay(dataset, out, settings=Settings(search_depth=20, brain=None))
        replayed = clocks.perf_counter() - began
        began = clocks.perf_counter()
        listed = list_runs(out)
        listing = clocks.perf_counter() - began
        size = sum(path.stat().st_size for path in run.folder.iterdir())
    return {
        "turns": listed[0].manifest["results"]["turns"],
        "replay_seconds": round(replayed, 1),
        "turns_per_second": round(turns / replayed, 1),
        "list_milliseconds": round(listing * 1000, 2),
        "run_bytes": size,
        "peak_rss_mib": _peak_rss(),
    }


def as_text(measured: dict[str, Any]) -> str:
    """A benchmark's result as text: a table of sizes, or a line a figure."""
    if "rows" not in measured:
        return "\n".join(f"{name:<20} {value}" for name, value in measured.items())
    lines = [
        f"{measured['queries']} turns a row, {measured['notes']} notes; milliseconds, median (p95)",
        f"{'messages':>9}  {'append':>15}  {'compose':>15}  {'FTS5 ranking':>15}  ratio  store MiB",
    ]
    for row in measured["rows"]:
        times = [
            f"{row[name]['median']:.2f} ({row[name]['p95']:.2f})"
            for name in ("append", "compose", "fts5_ranking")
        ]
        lines.append(
            f"{row['messages']:>9,}  {times[0]:>15}  {times[1]:>15}  {times[2]:>15}  "
            f"{row['compose_to_fts5']:>5}  {row['store_bytes'] / 2**20:>9.1f}"
        )
    return "\n".join(lines)


def _compose_over(folder: Path, size: int, texts: list[str]) -> dict[str, Any]:
    chance = random.Random(size)
    clock = VirtualClock()
    memory = open_memory(folder / "memory.db", clock, Settings(), durable=False)
    appended = [
        _timed(memory.conversation.append, _OWNER, one) for one in _messages(size, chance, texts)
    ]
    clock.time = _START + timedelta(days=NOTES)
    _write_notes(memory, chance, texts)
    asked = [_mix(chance, texts) for _ in range(QUERIES)]
    clock.time += timedelta(days=1)
    for text in asked[:20]:
        memory.compose(_OWNER, "main", text, _PERSONA)
    composed = [_timed(memory.compose, _OWNER, "main", text, _PERSONA) for text in asked]
    memory.close()
    reference = _reference(folder / "fts.db", size, texts, asked)
    ours = spread(composed)
    return {
        "messages": size,
        "append": spread(appended)._asdict(),
        "compose": ours._asdict(),
        "fts5_ranking": reference._asdict(),
        "compose_to_fts5": round(ours.median / reference.median, 2),
        "store_bytes": sum(path.stat().st_size for path in folder.glob("memory.db*")),
        "peak_rss_mib": _peak_rss(),
    }


def _reference(path: Path, size: int, texts: list[str], asked: list[str]) -> Spread:
    """SQLite FTS5's own bm25 ranking of the same queries, top 100, over the same stems."""
    chance = random.Random(size)
    store = sqlite3.connect(path)
    store.execute("CREATE VIRTUAL TABLE texts USING fts5 (stems, tokenize = 'ascii')")
    rows = ((" ".join(text_stems(one.text)),) for one in _messages(size, chance, texts))
    store.executemany("INSERT INTO texts VALUES (?)", rows)
    store.commit()
    sql = "SELECT rowid FROM texts WHERE stems MATCH ? ORDER BY rank LIMIT 100"
    queries = [" OR ".join(f'"{one}"' for one in query_stems(text)) for text in asked]
    taken = [_timed(lambda q=query: store.execute(sql, (q,)).fetchall()) for query in queries]
    store.close()
    return spread(taken)


def _timed(work: Callable[..., Any], *arguments: Any) -> float:
    began = clocks.perf_counter()
    work(*arguments)
    return clocks.perf_counter() - began


def _sentences() -> list[str]:
    """What the bundled conversations say: text of real shape and word frequencies."""
    return [
        message.text
        for talk in load("shop").conversations
        for thread in talk.threads
        for message in thread.messages
    ]


def _mix(chance: random.Random, texts: list[str]) -> str:
    """A new text of two halves of bundled ones, so that large stores do not repeat themselves."""
    first, second = chance.choice(texts).split(), chance.choice(texts).split()
    return " ".join(first[: len(first) // 2 + 1] + second[len(second) // 2 :])[:600]


def _messages(size: int, chance: random.Random, texts: list[str]) -> list[Message]:
    step = timedelta(days=NOTES) / size
    roles = ("user", "assistant")
    return [
        Message(f"m{number:06d}", "main", roles[number % 2], roles[number % 2].title(),  # type: ignore[arg-type]
                _START + number * step, _mix(chance, texts))
        for number in range(size)
    ]  # fmt: skip


def _write_notes(memory: Memory, chance: random.Random, texts: list[str]) -> None:
    for number in range(NOTES):
        day = (date(2025, 1, 1) + timedelta(days=number)).isoformat()
        text = "\n".join(_mix(chance, texts)[:160] for _ in range(2))
        memory.notes.write(_OWNER, day, text, writer="import", expected_revision=0)


def _long_dataset(turns: int, texts: list[str]) -> Dataset:
    chance, each = random.Random(turns), 500
    talks = []
    for number in range(-(-turns // each)):
        count = min(each, turns - number * each) * 2
        messages = [
            MessageRecord(
                id=one.id, role=one.role, speaker=one.speaker, time=one.time, text=one.text
            )
            for one in _messages(count, chance, texts)
        ]
        thread = ThreadRecord(id="main", messages=messages)
        talks.append(ConversationRecord(id=f"talk-{number:04d}", threads=[thread]))
    return make_dataset("long", "native", talks)


def _peak_rss() -> float:
    """The most memory this process has held so far, in MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
