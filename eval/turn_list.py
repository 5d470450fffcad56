"""A conversation's turns as a list to choose from: how each fared, and which to open first."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from eval.evidence import Stage
from eval.runs import records
from memcore import NotFound

Which = Literal["all", "questions", "lost"]
Standing = Literal["turn", "unmeasured", "reached", "partly", "lost"]


def standing(turn: dict[str, Any]) -> Standing:
    """How a turn of `turn_list` fared: `turn` (nothing was asked about the past), `unmeasured` (a
    question that names no evidence), `reached`, `partly` or `lost`."""
    if not turn["is_question"]:
        return "turn"
    if pd.isna(turn["stage"]):
        return "unmeasured"
    if turn["stage"] == Stage.REACHED:
        return "reached"
    return "partly" if turn["some"] else "lost"


def turns_of(listed: pd.DataFrame, which: Which) -> list[int]:
    """The numbers of the turns of `turn_list` that are `all`, `questions` or `lost` (wholly or in
    part)."""
    if which == "all":
        return [int(turn) for turn in listed["turn"]]
    wanted = {"lost", "partly"} if which == "lost" else {"reached", "partly", "lost", "unmeasured"}
    return [int(turn["turn"]) for turn in records(listed) if standing(turn) in wanted]


def most_telling(listed: pd.DataFrame) -> int:
    """The turn to open where none is named: the first lost answer, else the first question, else
    the last turn. Raises `NotFound` where there is no turn."""
    if listed.empty:
        raise NotFound("this conversation has no turn")
    kinds: tuple[Which, ...] = ("lost", "questions")
    for which in kinds:
        if found := turns_of(listed, which):
            return found[0]
    return int(listed["turn"].iloc[-1])
