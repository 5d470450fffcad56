"""Arms: the ways of remembering that are measured side by side on one dataset."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eval.dataset import ConversationRecord, ThreadRecord
from memcore import MnemoscopeError

UNBOUNDED = 10**9
"""Characters; more than any conversation has."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A way of remembering: what it changes in the settings, and in the conversation.

    `one_thread` sends all threads as one, for a history that spans them. A `yardstick` is there to
    be measured against and is never called best.
    """

    name: str
    about: str
    settings: dict[str, Any] = field(default_factory=dict)
    one_thread: bool = False
    questions_only: bool = False
    yardstick: bool = False


ARMS = {
    arm.name: arm
    for arm in (
        Arm("first-search", "the turn searches before the model sees anything"),
        Arm("no-search", "nothing is searched: notes, summary and window alone", {
            "excerpts_cap": 0,
        }),
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
}  # fmt: skip


def arm_named(name: str) -> Arm:
    """The arm of that name. Raises `MnemoscopeError` with the names there are."""
    if name not in ARMS:
        raise MnemoscopeError(f"there is no arm {name!r}; there are {', '.join(ARMS)}")
    return ARMS[name]


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
