"""How long curating takes: looking whether a pass is due, a pass without a model, and a replay."""

from __future__ import annotations

import tempfile
import time as clocks
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from eval.bench import _START, _sentences, _timed, spread
from eval.happenings import VirtualClock
from eval.loaders import load
from eval.replay import replay
from memcore import Memory, Message, Owner, Settings, open_memory

PASS = 8_000
"""Characters that one pass reads."""

_LOOKS = 2_000
_PASSES = 20
_OWNER = Owner("bench", "assistant", "person")


def bench_curator(source: str | None = None) -> dict[str, Any]:
    """Median times of `due` where no pass is due (µs) and of a pass over 8,000 characters (ms), and
    composed turns a second of a replay without and with the curator."""
    with tempfile.TemporaryDirectory(prefix="mnemoscope-bench-") as folder:
        clock = VirtualClock()
        clock.time = _START
        settings = Settings(curator=True)
        memory = open_memory(Path(folder) / "memory.db", clock, settings, durable=False)
        lines = 0
        numbers, passes, texts = count(), [], _sentences()
        for at in range(_PASSES):
            _say(memory, clock, texts[at * 70 :] + texts, numbers, PASS)
            began = clocks.perf_counter()
            lines += memory.curator.run(_OWNER, "main").proposed
            passes.append(clocks.perf_counter() - began)
        _say(memory, clock, texts, numbers, 600)
        looks = [_timed(memory.curator.due, _OWNER, "main") for _ in range(_LOOKS)]
        assert not memory.curator.due(_OWNER, "main")
        memory.close()
    due, passed = spread(looks), spread(passes)
    return {
        "due_microseconds": round(due.median * 1000, 1),
        "due_p95_microseconds": round(due.p95 * 1000, 1),
        "pass_milliseconds": round(passed.median, 2),
        "pass_p95_milliseconds": round(passed.p95, 2),
        "lines_proposed": lines,
        "replay_turns_per_second": _replayed(source, False),
        "replay_with_curator": _replayed(source, True),
    }


def _say(
    memory: Memory, clock: VirtualClock, texts: list[str], numbers: count[int], size: int
) -> None:
    """Appends finished exchanges of about so many characters."""
    said = 0
    for text in texts:
        number = next(numbers)
        clock.time += timedelta(minutes=1)
        role = "assistant" if number % 2 else "user"
        message = Message(f"m{number:06d}", "main", role, role.title(), clock.time, text)  # type: ignore[arg-type]
        memory.conversation.append(_OWNER, message)
        said += len(text)
        if said >= size and number % 2:
            return


def _replayed(source: str | None, curated: bool) -> float:
    dataset = load(source or "shop")
    with tempfile.TemporaryDirectory(prefix="mnemoscope-bench-") as folder:
        began = clocks.perf_counter()
        run = replay(dataset, Path(folder), changes={"curator": curated, "brain": None})
        seconds = clocks.perf_counter() - began
    turns: int = run.manifest["results"]["turns"]
    return round(turns / seconds, 1)
