"""A composed turn asked of a model: what it replies, what it calls, and whether it was shown what
answers the question.

What is sent is the prompt that the run keeps. The tools work on the memory as it stood at that
turn, built in memory for this one answer and gone afterwards: `remember` changes nothing of a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from eval.evidence import Fate, Stage
from eval.explain import LAYER_NAMES
from eval.turns import TurnView, memory_at, settings_of
from memcore import (
    Account,
    Answer,
    Brain,
    CallsTurn,
    Composition,
    InvalidInput,
    Layer,
    Limits,
    Message,
    PromptLayer,
    Reply,
    Settings,
    Spoken,
    ToolSpec,
    answer,
    brain_named,
    load_settings,
    shows,
)

KINDS = ("openai", "anthropic")
_URL = re.compile(r".*@(https?://.*)", re.DOTALL)
_MAKERS = ("api.openai.com", "api.anthropic.com")
_HERE = ("127.0.0.1", "localhost", "::1")

_TODAYS = re.compile(r"brain_\w+|agent_\w+")

Report = Callable[[int, int], None]
"""Told before each request: its number, from 1, and how many tool calls were made by then."""


def asking_settings(view: TurnView) -> Settings:
    """The settings of the run, by which the tools work. How long and how often a model may be asked
    is the environment's, unless the run was made with its own. Raises `InvalidSettings`."""
    own, today = settings_of(view.run, view.talk), load_settings()
    chosen = view.run.manifest["changed_settings"]
    names = [name for name in type(own).model_fields if _TODAYS.fullmatch(name)]
    return own.vary(**{name: getattr(today, name) for name in names if name not in chosen})


def usual_brain(view: TurnView) -> str:
    """The brain that `MNEMOSCOPE_BRAIN` names, empty where it names none. Not the run's: a run that
    somebody sent must not choose which server gets the prompts. Raises `InvalidSettings`."""
    asking_settings(view)
    return load_settings().brain or ""


def brain_for(view: TurnView, name: str) -> Brain:
    """The brain of that name; nothing is asked yet. Raises `InvalidInput`, which repeats nothing of
    a name that may be a key pasted into the wrong place."""
    name = name.strip()
    if name.partition(":")[0] not in KINDS:
        raise InvalidInput("the name of a model begins with openai: or anthropic:")
    brain = brain_named(name, asking_settings(view))
    known = {_server(load_settings().brain or ""), *_MAKERS, *_HERE, ""}
    if _server(name) not in known:
        raise InvalidInput(
            "from here a model is asked at its maker's server, on this machine, or where "
            "MNEMOSCOPE_BRAIN says: the key of the environment goes to no other"
        )
    return brain


def _server(name: str) -> str:
    """The host of a brain's name, empty where it names none."""
    url = _URL.fullmatch(name)
    return (urlsplit(url[1].strip()).hostname or "") if url else ""


def ask(view: TurnView, brain: Brain, tools: bool = True, report: Report | None = None) -> Answer:
    """The brain's answer to the turn as the run composed it.

    With `tools` it may search, read back and remember. Raises what `memory_at` raises; what goes
    wrong with the brain or a tool is in the answer. What `report` raises ends it.
    """
    limits = Limits.of(asking_settings(view))
    watched = brain if report is None else _Watched(brain, report)
    if not tools:
        return answer(watched, sent(view), None, limits)
    at = memory_at(view.run, view.talk.id, view.number)
    source = () if view.row["is_question"] else (at.message.id,)
    toolbox = at.state.memory.tools(at.talk.owner, at.message.thread, source)
    return answer(watched, sent(view), toolbox, limits)


def sent(view: TurnView) -> Composition:
    """The turn as it was composed, to be sent; for its account see the view's own tables."""
    row, turns = view.row, view.turns
    return Composition(
        tuple(PromptLayer(layer, view.text(layer)) for layer in Layer),
        view.system,
        tuple(turns[:-1]),
        Account((), int(row["ceiling"]), int(row["spent"]), int(row["total"])),
        view.offered,
        turns[-1].content,
    )


class _Watched:
    """A brain that says before each request that it is asked."""

    def __init__(self, brain: Brain, report: Report) -> None:
        self._brain = brain
        self._report = report
        self._requests = 0

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
        self._requests += 1
        calls = sum(len(turn.calls) for turn in messages if isinstance(turn, CallsTurn))
        self._report(self._requests, calls)
        return self._brain.complete(system, messages, tools, seconds=seconds)


class Source(StrEnum):
    """Where a model had a message before it; the first that holds."""

    PROMPT = "in the prompt"
    TOOL = "in a tool result"
    CITED = "only cited in the prompt"
    PART = "only in part"
    NOWHERE = "nowhere"


class Shown(NamedTuple):
    """A message that answers the question, and where the model had it: `where` names the layers or
    the calls, such as `call 2, search_messages`."""

    message: str
    source: Source
    where: str = ""


def shown(view: TurnView, answer: Answer) -> list[Shown]:
    """Where the model had each message that answers the turn's question."""
    return [_shown(view.messages.get(fate.message), fate, answer) for fate in view.fates]


def _shown(message: Message | None, fate: Fate, answer: Answer) -> Shown:
    layers = ", ".join(LAYER_NAMES[layer] for layer in fate.layers)
    if fate.reached and not fate.only_cited:
        return Shown(fate.message, Source.PROMPT, layers)
    told: dict[Source, str] = {}
    for place, call in enumerate(answer.calls, 1):
        held = holds(call.result, message) if message is not None else None
        if held is not None:
            told.setdefault(held, f"call {place}, {call.name}")
    if Source.TOOL in told:
        return Shown(fate.message, Source.TOOL, told[Source.TOOL])
    if fate.reached:
        return Shown(fate.message, Source.CITED, layers)
    if Source.PART in told:
        return Shown(fate.message, Source.PART, told[Source.PART])
    if fate.stage is Stage.CUT:
        return Shown(fate.message, Source.PART, layers)
    return Shown(fate.message, Source.NOWHERE)


def holds(result: str, message: Message) -> Source | None:
    """Whether the result of a tool has the whole of a message, only a part of it, or nothing."""
    if shows(Layer.EXCERPTS, result, message):  # tools quote as excerpts do
        return Source.TOOL
    named = rf"^- \d.*, id {re.escape(message.id)}(, thread .*)?$"
    return Source.PART if re.search(named, result, re.MULTILINE) else None


def shown_in_words(view: TurnView, answer: Answer, tools: bool) -> str:
    """One sentence on whether the model had before it what answers the question; empty where the
    turn is none."""
    if view.question is None:
        return ""
    if not view.question["answerable"]:
        return "Nothing in this conversation answers it: a right reply says so."
    found = shown(view, answer)
    if not found:
        return "The dataset names no message as its answer, so there is nothing to look for."
    if len(found) == 1:
        return _one_in_words(found[0], answer, tools)
    parts = []
    for source in Source:
        where = [one.where for one in found if one.source is source]
        if where:
            names = ", ".join(dict.fromkeys(name for name in where if name))
            parts.append(f"{len(where)} {source}" + (f" ({names})" if names else ""))
    return f"Of the {len(found)} messages that answer it, the model had {'; '.join(parts)}."


def _one_in_words(one: Shown, answer: Answer, tools: bool) -> str:
    subject = "The message that answers it"
    if one.source is Source.PROMPT:
        return f"{subject} was in the prompt ({one.where})."
    if one.source is Source.TOOL:
        return f"{subject} was not in the prompt; the model found it with a tool ({one.where})."
    if one.source is Source.CITED:
        return f"{subject} was not quoted in the prompt, only cited there ({one.where})."
    if one.source is Source.PART:
        return f"Only a part of the message that answers it was before the model ({one.where})."
    if not tools:
        return f"{subject} was nowhere: not in the prompt, and the model had no tools to search."
    if not answer.calls:
        return f"{subject} was nowhere: not in the prompt, and the model called no tool."
    return f"{subject} was nowhere: not in the prompt, and in no tool result."


def exchange(view: TurnView, brain: str, tools: bool, answer: Answer) -> dict[str, Any]:
    """All of it as one record for JSON: what was sent, called, replied, and how it ended."""
    question = view.question
    return {
        "run": view.run.name,
        "conversation": view.talk.id,
        "turn": view.number,
        "brain": brain,
        "tools": tools,
        "system": view.system,
        "messages": [{"role": turn.role, "content": turn.content} for turn in view.turns],
        "calls": [
            {
                "name": call.name,
                "arguments": call.arguments,
                "result": call.result,
                "error": call.error,
                "milliseconds": round(call.milliseconds, 3),
            }
            for call in answer.calls
        ],
        "reply": answer.text,
        "stopped": answer.stopped,
        "error": answer.error,
        "requests": answer.rounds,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "expected": question["answer"] if question else None,
        "evidence": [one._asdict() for one in shown(view, answer)],
        "in_words": shown_in_words(view, answer, tools),
    }
