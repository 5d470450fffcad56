"""Arms: the ways of remembering that are measured side by side on one dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.dataset import ConversationRecord, ThreadRecord
from eval.policy import Policy
from memcore import MnemoscopeError, Settings

UNBOUNDED = 10**9
"""Characters; more than any conversation has."""

FIRST = "first-search"
"""The arm that the others are compared with."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A way of remembering: what it changes in the settings, in the conversation, in the turn.

    `one_thread` sends all threads as one, for a history that spans them. With a `policy` the tool
    `search_messages` can be called: a brain decides that, or the policy where none answers
    (`eval.policy`; `always` makes the call for a brain too). `grep` puts what a plain substring
    search finds in the place of the excerpts. A `yardstick` is there to be measured against and is
    never called best.
    """

    name: str
    about: str
    settings: dict[str, Any] = field(default_factory=dict)
    one_thread: bool = False
    questions_only: bool = False
    yardstick: bool = False
    policy: Policy | None = None
    grep: bool = False

    def memory_settings(self, settings: Settings) -> Settings:
        """What the memory itself is given: with `grep`, the excerpts' budget is not its own."""
        return settings.vary(excerpts_cap=0) if self.grep else settings


ARMS = {
    arm.name: arm
    for arm in (
        Arm(FIRST, "the turn searches before the model sees anything"),
        Arm(
            "tool-only",
            "the turn does not search; the model may call the search tool. Without a brain the "
            "tool is called where the message is a question with words that point to the past "
            "(did, ago, I told you; помнишь, договорились, я заказывала)",
            {"excerpts_cap": 0},
            policy="points-back",
        ),
        Arm(
            "tool-always",
            "bound of tool-only: the search tool is called in every turn, with the whole message",
            {"excerpts_cap": 0},
            policy="always",
        ),
        Arm(
            "no-search",
            "nothing is searched: notes, summary and window alone",
            {"excerpts_cap": 0},
        ),
        Arm("no-summary", "as first-search, without the summary", {"summary_cap": 0}),
        Arm("no-notes", "as first-search, without the notes", {"notes_cap": 0}),
        Arm(
            "no-window",
            "as first-search, without the deeper window; the last exchange stays",
            {"window_cap": 0},
        ),
        Arm(
            "grep",
            "yardstick: messages that hold most of the message's words as plain substrings, newest "
            "first, in the excerpts' place and budget",
            yardstick=True,
            grep=True,
        ),
        Arm(
            "full-context",
            "yardstick: everything said so far is sent as history, whatever it costs",
            {
                "ceiling": UNBOUNDED,
                "window_cap": UNBOUNDED,
                "excerpts_cap": 0,
                "notes_cap": 0,
                "summary_cap": 0,
            },
            one_thread=True,
            questions_only=True,
            yardstick=True,
        ),
    )
}


def arm_named(name: str) -> Arm:
    """The arm of that name. Raises `MnemoscopeError` with the names there are."""
    if name not in ARMS:
        raise MnemoscopeError(f"there is no arm {name!r}; there are {', '.join(ARMS)}")
    return ARMS[name]


def arms_named(names: str | Sequence[str]) -> list[str]:
    """The names of arms given as a list or with commas between, each once; all for none.

    Raises `MnemoscopeError` for a name that is no arm's.
    """
    given = names.split(",") if isinstance(names, str) else names
    wanted = [name.strip() for name in given if name.strip()]
    return list(dict.fromkeys(arm_named(name).name for name in wanted)) or list(ARMS)


def in_one_thread(talk: ConversationRecord) -> ConversationRecord:
    """The conversation with the messages of all its threads in one."""
    if len(talk.threads) == 1:
        return talk
    name = talk.threads[-1].id
    messages = [message for thread in talk.threads for message in thread.messages]
    return talk.model_copy(
        update={
            "threads": [ThreadRecord(id=name, messages=messages)],
            "summaries": [one.model_copy(update={"thread": name}) for one in talk.summaries],
            "questions": [one.model_copy(update={"thread": name}) for one in talk.questions],
        }
    )
