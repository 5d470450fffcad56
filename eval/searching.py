"""The search tool as an arm's model sees it, and what of the evidence its results showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from eval.evidence import Beside, Fate, Stage
from memcore import (
    Brain,
    CallRecord,
    Layer,
    Message,
    Outcome,
    Reply,
    Spoken,
    Toolbox,
    ToolCall,
    ToolSpec,
    shows,
)

SEARCH = "search_messages"
LONGEST_QUERY = 1_000
"""Characters that the tool takes."""

Asked = tuple[str, Mapping[str, Any]]
"""A call that is to be made: the tool's name and its arguments."""

_STAMP = len("- 2026-03-01 09:00")


def whole_message(text: str) -> Asked:
    """The call that a policy makes: the whole message as the query, all else as the tool has it."""
    return SEARCH, {"query": text[:LONGEST_QUERY]}


def made(tools: Toolbox, calls: Sequence[Asked]) -> tuple[CallRecord, ...]:
    """The calls, run one after the other."""
    records = []
    for name, arguments in calls:
        began = perf_counter()
        outcome = tools.run(name, arguments)
        taken = (perf_counter() - began) * 1000
        records.append(CallRecord(name, dict(arguments), outcome.text, outcome.error, taken))
    return tuple(records)


class SearchAlone:
    """Of the tools of a turn the search alone: a question must leave no trace in the notes."""

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return tuple(spec for spec in self._tools.specs if spec.name == SEARCH)

    def run(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        if name != SEARCH:
            return Outcome(f"error: there is no tool {name[:60]!r}; there is {SEARCH}", True)
        return self._tools.run(name, arguments)


class SearchesFirst:
    """A brain that calls the search with the whole message before the model is asked at all."""

    def __init__(self, brain: Brain, message: str) -> None:
        self._brain = brain
        self._message: str | None = message

    @property
    def name(self) -> str:
        return self._brain.name

    def complete(
        self,
        system: str,
        messages: Sequence[Spoken],
        tools: Sequence[ToolSpec] = (),
        *,
        seconds: float | None = None,
    ) -> Reply:
        if self._message is not None and tools:
            name, arguments = whole_message(self._message)
            self._message = None
            return Reply("", (ToolCall("first-search", name, dict(arguments)),), "tools")
        return self._brain.complete(system, messages, tools, seconds=seconds)


def with_calls(
    fates: Sequence[Fate], calls: Sequence[CallRecord], stored: Mapping[str, Message]
) -> list[Fate]:
    """What became of evidence in a turn whose search is the tool's.

    A message that stands whole in a result is reached by the tool too. What nothing has was lost
    by the tool: it was not called, it failed, it did not return the message, or only a part of it.
    """
    return [_with_calls(fate, calls, stored.get(fate.message)) for fate in fates]


def _with_calls(fate: Fate, calls: Sequence[CallRecord], said: Message | None) -> Fate:
    if said is None:
        return fate
    results = [call.result for call in calls if not call.error]
    found = [part for result in results for part in _parts(result, said.id)]
    if any(shows(Layer.EXCERPTS, part, said) for part in found):
        layers = fate.layers if fate.reached else ()
        return fate._replace(stage=Stage.REACHED, layers=(*layers, Beside.TOOLS), detail="")
    if fate.reached:
        return fate
    if found:
        stage, detail = Stage.CUT, "the tool returned only a part of it"
    elif results:
        stage, detail = Stage.NOT_FOUND, "it is not in what the tool returned"
    elif calls:
        stage, detail = Stage.FAILED, calls[-1].result
    else:
        stage, detail = Stage.NOT_SEARCHED, "the search tool was not called"
    return fate._replace(stage=stage, layers=(Beside.TOOLS,), detail=detail)


def _parts(result: str, id: str) -> list[str]:
    """What a result quotes of the message of that id. A quotation's lines are indented, so only
    the line that names a message begins at the margin."""
    named = f", id {' '.join(id.split())}, thread "
    parts = [f"- {part}" for part in result.split("\n- ")[1:]]
    return [part for part in parts if part.startswith(named, _STAMP)]
