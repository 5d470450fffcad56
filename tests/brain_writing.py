"""A memory in a real file whose curator and summary are written by a model at a loopback server."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from memcore import Memory, Message, Settings, open_memory
from memcore.backoff import LONGEST_PASS
from memcore.testing import SettableClock
from tests.brain_server import Behaviour, BrainServer, Request, says
from tests.support import at, say

SAID = (
    "My name is Anna.",
    "I prefer tea to coffee.",
    "The blue jacket costs 40 euros.",
    "We moved to Riga.",
)
TEA = "Anna: I prefer tea to coffee."
DAY = "2026-03-02"
KINDS = ("openai", "anthropic")


def settings(url: str, kind: str, **changes: Any) -> Settings:
    brain = f"openai:m@{url}/v1" if kind == "openai" else f"anthropic:m@{url}"
    return Settings(layer_seconds=None, curator=True, brain=brain, brain_seconds=20).vary(**changes)


@contextmanager
def opened(path: Path, server: BrainServer, kind: str, **changes: Any) -> Iterator[Memory]:
    clock = SettableClock(at(500))
    memory = open_memory(path, clock, settings(server.url, kind, **changes), durable=False)
    with closing(memory):
        yield memory


def later(memory: Memory) -> None:
    """When a model that failed may be asked again."""
    assert isinstance(memory.clock, SettableClock)
    memory.clock.advance(timedelta(seconds=LONGEST_PASS))


def exchanges(*texts: str, start: int = 0, reply: str = "Noted.") -> list[Message]:
    made = []
    for n, text in enumerate(texts, start=start):
        made += [say(f"u{n}", text, n * 2), say(f"a{n}", reply, n * 2 + 1, "assistant")]
    return made


def lines(*said: tuple[str, Sequence[str]], **more: Any) -> str:
    return json.dumps({"lines": [{"text": t, "sources": list(ids), **more} for t, ids in said]})


def proposes(*said: tuple[str, Sequence[str]], **more: Any) -> Behaviour:
    return says(lines(*said, **more))


def shown(request: Request) -> tuple[str, str]:
    """The system text of a request, and the one message that it sends."""
    messages = request.asked["messages"]
    system = request.asked.get("system") or messages[0]["content"]
    return system, messages[-1]["content"]


def ids_in(prompt: str) -> list[str]:
    return [json.loads(id) for id in re.findall(r'^- id ("[^\n]*?"), \d', prompt, re.MULTILINE)]


def rows(path: Path, *tables: str) -> list[list[tuple[Any, ...]]]:
    """All that stands in these tables of the file."""
    with closing(sqlite3.connect(path)) as connection:
        return [list(connection.execute(f"SELECT * FROM {table}")) for table in tables]


def forget_message(path: Path, id: str) -> None:
    """Deletes a message behind the memory's back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("DELETE FROM messages WHERE id = ?", (id,)).rowcount == 1
