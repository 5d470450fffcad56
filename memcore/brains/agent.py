"""The tool loop: a brain is asked, its calls are run, their results sent back, until it answers.

Calls are bounded in rounds, number and time. Nothing that a tool or the model does wrong ends the
answer: the model is told, and may do better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic, perf_counter

from memcore.dialogue import (
    Answer,
    CallRecord,
    CallsTurn,
    Outcome,
    Reply,
    ResultsTurn,
    Spoken,
    Stopped,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from memcore.errors import MnemoscopeError
from memcore.ports import Brain, Toolbox
from memcore.screening import mask, mask_within
from memcore.settings import Settings
from memcore.types import Composition


@dataclass(frozen=True, slots=True)
class Limits:
    """What one answer may take: requests with tools, tool calls run, seconds."""

    rounds: int = 8
    calls: int = 16
    seconds: float = 60.0

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """Those of the settings."""
        return cls(settings.agent_rounds, settings.agent_calls, settings.agent_seconds)


def answer(
    brain: Brain,
    composition: Composition,
    tools: Toolbox | None = None,
    limits: Limits | None = None,
) -> Answer:
    """The brain's answer to a composition's message, with every tool call that it took.

    Never raises for what a brain or a tool does wrong: `stopped` and `error` say how it ended.

    - `done`: the model answered.
    - `too many calls`: it went on calling tools; `text` is what it answered without them.
    - `too slow`: the time was over; `text` is what it had said beside its calls.
    - `error`: the provider failed, or the model refused or said nothing.
    """
    return _Loop(brain, composition, tools, limits or Limits()).run()


class _Loop:
    def __init__(
        self, brain: Brain, composition: Composition, tools: Toolbox | None, limits: Limits
    ) -> None:
        self._brain = brain
        self._system = composition.system
        self._messages: list[Spoken] = list(composition.messages)
        self._tools = tools
        self._limits = limits
        self._until = monotonic() + limits.seconds
        self._records: list[CallRecord] = []
        self._rounds = 0
        self._text = ""
        self._tokens: dict[str, int | None] = {"in": None, "out": None}

    def run(self) -> Answer:
        specs = tuple(self._tools.specs) if self._tools is not None else ()
        try:
            while specs and self._rounds < self._limits.rounds:
                reply = self._ask(specs)
                if reply is None:
                    return self._ended("too slow", self._slow())
                if not reply.calls:
                    return self._said(reply, "done")
                self._take(reply)
                if len(self._records) > self._limits.calls:
                    break
            reply = self._ask(())
        except MnemoscopeError as error:
            if self._left() <= 0:
                return self._ended("too slow", f"{self._slow()}: {error}")
            return self._ended("error", f"{type(error).__name__}: {error}")
        if reply is None:
            return self._ended("too slow", self._slow())
        return self._said(reply, "too many calls" if self._records else "done")

    def _ask(self, specs: Sequence[ToolSpec]) -> Reply | None:
        """The next reply, None where there is no time for it. Raises what the brain raises."""
        if (left := self._left()) <= 0:
            return None
        self._rounds += 1
        reply = self._brain.complete(self._system, self._messages, specs, seconds=left)
        for name, counted in (("in", reply.tokens_in), ("out", reply.tokens_out)):
            if counted is not None:
                self._tokens[name] = (self._tokens[name] or 0) + counted
        self._text = reply.text or self._text
        return reply

    def _take(self, reply: Reply) -> None:
        """Runs a reply's calls, and puts them and their results at the end of the messages."""
        results = []
        last = self._rounds == self._limits.rounds
        for call in reply.calls:
            began = perf_counter()
            outcome = self._run(call)
            taken = (perf_counter() - began) * 1000
            # A record is shown and kept; the tool was given the arguments as they came.
            asked, told = mask_within(call.arguments), mask(outcome.text)
            self._records.append(CallRecord(mask(call.name), asked, told, outcome.error, taken))
            text = outcome.text
            if last and call is reply.calls[-1]:
                text += "\n\nNo more calls are possible. Answer now with what there is."
            results.append(ToolResult(call.id, text, outcome.error))
        self._messages += [
            CallsTurn(reply.text, reply.calls, reply.kept),
            ResultsTurn(tuple(results)),
        ]

    def _run(self, call: ToolCall) -> Outcome:
        if len(self._records) >= self._limits.calls:
            return Outcome(
                f"error: not run, {self._limits.calls} calls were made and no more are possible. "
                "Answer now with what there is.",
                True,
            )
        if self._left() <= 0:
            return Outcome("error: not run, the time for this answer is over", True)
        if call.broken:
            return Outcome(f"error: {call.broken}", True)
        assert self._tools is not None
        try:
            return self._tools.run(call.name, call.arguments)
        except Exception as error:  # a tool that breaks its promise costs the call, not the answer
            return Outcome(f"error: the tool failed ({type(error).__name__})", True)

    def _said(self, reply: Reply, stopped: Stopped) -> Answer:
        """The answer that a reply without calls, or the last one, is."""
        if reply.stop == "refused":
            return self._ended("error", "the model refused to answer", reply.text)
        if not reply.text.strip():
            said = "the model said nothing"
            if reply.stop == "length":
                said += ": its output was used up before its text began"
            return self._ended("error" if stopped == "done" else stopped, said, "")
        cut = "the answer was cut off at its most output" if reply.stop == "length" else ""
        return self._ended(stopped, cut, reply.text)

    def _ended(self, stopped: Stopped, error: str, text: str | None = None) -> Answer:
        return Answer(
            self._text if text is None else text, tuple(self._records), self._rounds, stopped,
            error, self._tokens["in"], self._tokens["out"],
        )  # fmt: skip

    def _left(self) -> float:
        return self._until - monotonic()

    def _slow(self) -> str:
        return f"no answer within {self._limits.seconds:g} seconds"
