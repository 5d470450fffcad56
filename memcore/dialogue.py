"""What a brain is sent, what it replies, and what an answer took, as frozen records.

A brain is sent the turns of a composition, followed by what happened since: the calls that it made
and their results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from memcore.types import Turn

Stop = Literal["end", "tools", "length", "refused", "other"]
"""Why a reply ended: it was done, it calls tools, it reached the most output, the model refused."""

Stopped = Literal["done", "too many calls", "too slow", "error"]
"""Why an answer ended."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function that a model may call. `parameters` is the JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model made. `broken` says why its arguments cannot be used, empty where they
    can; they are then empty."""

    id: str
    name: str
    arguments: dict[str, Any]
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool gave: the text for the model, and whether it is an error."""

    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The outcome of the call of that id."""

    id: str
    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class CallsTurn:
    """A reply that called tools. `kept` is what else stood in it and is sent back as it came."""

    content: str
    calls: tuple[ToolCall, ...]
    kept: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ResultsTurn:
    """The results of all calls of the turn before it."""

    results: tuple[ToolResult, ...]


Spoken = Turn | CallsTurn | ResultsTurn


@dataclass(frozen=True, slots=True)
class Reply:
    """What a brain replied.

    `tokens_in` and `tokens_out` are as the provider counted them, None where it did not. `kept` is
    for `CallsTurn`: a model that thinks wants its thoughts back with the results.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = "end"
    tokens_in: int | None = None
    tokens_out: int | None = None
    kept: tuple[dict[str, Any], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One tool call of an answer: what was asked, what the model was told, how long it took.

    Secrets are masked in it."""

    name: str
    arguments: dict[str, Any]
    result: str
    error: bool
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a brain answered, and what that took.

    `rounds` counts the requests. `error` says what went wrong or was left out, empty where nothing
    was. `tokens_in` and `tokens_out` are of all requests, None where the provider does not count.
    """

    text: str
    calls: tuple[CallRecord, ...]
    rounds: int
    stopped: Stopped
    error: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
