"""The way of one evidence message towards the prompt: step by step, and layer by layer."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from zoneinfo import ZoneInfo

from eval.evidence import Beside, Fate, Source, Stage
from eval.explain import LAYER_NAMES, STAGE_WORDS
from eval.turns import TurnView
from memcore import Item, Layer, Reason


class State(StrEnum):
    """How a step went. `aside` is one that the message did not need."""

    PASSED = "passed"
    LOST = "lost here"
    NOT_REACHED = "not reached"
    ASIDE = "not needed"


class Step(NamedTuple):
    """One step of the funnel, and what is known of it."""

    name: str
    state: State
    detail: str = ""


class Way(NamedTuple):
    """Whether a layer has the message, and why not where it does not."""

    layer: Source
    has: bool
    why: str


_SEARCHES = frozenset({Layer.EXCERPTS, Beside.GREP, Beside.TOOLS})

STEPS = (
    "stored",
    "searched",
    "found",
    "within the number allowed",
    "within the budget",
    "in the prompt",
)
_LOST_AT = {
    Stage.NOT_STORED: 0,
    Stage.NOT_SEARCHED: 1,
    Stage.FAILED: 1,
    Stage.NOT_FOUND: 2,
    Stage.BELOW_CUTOFF: 2,
    Stage.RANKED_LOW: 3,
    Stage.OVER_BUDGET: 4,
    Stage.CUT: 5,
}


def path(view: TurnView, fate: Fate) -> list[Step]:
    """The steps of a message's way into the prompt, in order; one at most is `LOST`.

    What reached the prompt without the search passes it by: those steps are `ASIDE`.
    """
    details = _details(view, fate)
    if fate.reached:
        beside = _SEARCHES.isdisjoint(fate.layers)
        return [
            Step(name, State.ASIDE if beside and 0 < at < 5 else State.PASSED, details[at])
            for at, name in enumerate(STEPS)
        ]
    lost = _LOST_AT[fate.stage]
    steps = []
    for at, name in enumerate(STEPS):
        if at < lost:
            steps.append(Step(name, State.PASSED, details[at]))
        elif at == lost:
            steps.append(Step(name, State.LOST, details[at] or fate.detail))
        else:
            steps.append(Step(name, State.NOT_REACHED))
    return steps


def _details(view: TurnView, fate: Fate) -> list[str]:
    said = view.messages.get(fate.message)
    stored = _moment(view, said.time) if said is not None else ""
    if fate.stage is Stage.NOT_STORED:
        stored = fate.detail
    searched = view.layer(Layer.EXCERPTS)["note"] if fate.stage in _SEARCH_FAILED else ""
    found = ""
    if fate.rank is not None:
        score = f", score {fate.score:.2f}" if fate.score is not None else ""
        found = f"number {fate.rank} of {len(_hits(view, Layer.EXCERPTS))}{score}"
    elif fate.stage is Stage.NOT_FOUND:
        found = fate.detail
    number = _before_it(view, fate) if fate.stage is Stage.RANKED_LOW else ""
    budget = fate.detail if fate.stage is Stage.OVER_BUDGET else ""
    there = ", ".join(LAYER_NAMES[layer] for layer in fate.layers) if fate.reached else ""
    if fate.only_cited:
        there += ", only cited"
    if fate.stage is Stage.CUT:
        there = fate.detail
    return [stored, str(searched), found, number, budget, there]


_SEARCH_FAILED = (Stage.NOT_SEARCHED, Stage.FAILED)


def _hits(view: TurnView, layer: Layer) -> list[Item]:
    return [item for item in view.offered if item.layer is layer]


def _before_it(view: TurnView, fate: Fate) -> str:
    """What took the places before a message that ranked too low."""
    before = [hit for hit in _hits(view, Layer.EXCERPTS) if hit.place < (fate.rank or 0)]
    quoted = sum(hit.kept for hit in before)
    in_prompt = sum(hit.reason in (Reason.IN_WINDOW, Reason.DUPLICATE) for hit in before)
    counts = (
        (quoted, "quoted"),
        (in_prompt, "in the prompt anyway"),
        (len(before) - quoted - in_prompt, "too low too"),
    )
    parts = [f"{count} {what}" for count, what in counts if count]
    return f"before it: {', '.join(parts)}" if parts else fate.detail


def ways(view: TurnView, fate: Fate) -> list[Way]:
    """For each layer that can hold a message: whether it does, and why not."""
    found = [
        Way(Layer.LAST_EXCHANGE, *_history(view, fate, Layer.LAST_EXCHANGE)),
        Way(Layer.WINDOW, *_history(view, fate, Layer.WINDOW)),
        Way(Layer.SUMMARY, *_citing(view, fate, Layer.SUMMARY)),
        Way(Layer.NOTES, *_citing(view, fate, Layer.NOTES)),
        Way(Layer.EXCERPTS, *_excerpts(view, fate)),
    ]
    if Beside.TOOLS in fate.layers:
        found.append(Way(Beside.TOOLS, fate.reached, "" if fate.reached else _lost(fate)))
    return found


def _history(view: TurnView, fate: Fate, layer: Layer) -> tuple[bool, str]:
    mine = [item for item in _hits(view, layer) if item.id == fate.message]
    if mine:
        return mine[0].kept, "" if mine[0].kept else _reason(mine[0])
    if problem := _absent(view, layer):
        return False, problem
    kept = [one for its, one in view.history if its is layer]
    if not kept:
        return False, "it holds no message"
    said = view.messages.get(fate.message)
    if said is not None and said.thread != view.row["thread"]:
        return False, "this was said in another thread"
    return False, f"it begins at {_moment(view, kept[0].time)}"


def _citing(view: TurnView, fate: Fate, layer: Layer) -> tuple[bool, str]:
    what = "summary" if layer is Layer.SUMMARY else "note"
    items = _hits(view, layer)
    mine = [item for item in items if fate.message in item.covers]
    if kept := [item.id for item in mine if item.kept]:
        names = ", ".join(kept)
        return True, "it cites the message" if what == "summary" else f"note {names} cites it"
    if mine:
        return False, f"{what} {mine[0].id} cites it but was left out: {_reason(mine[0])}"
    if problem := _absent(view, layer):
        return False, problem
    count = sum(item.kept for item in items)
    if not count:
        return False, f"there is no {what} in the prompt"
    if what == "summary":
        return False, "the summary does not cite it"
    return False, f"none of the {count} notes in the prompt cites it"


def _excerpts(view: TurnView, fate: Fate) -> tuple[bool, str]:
    if not fate.reached:
        by_tool = Beside.TOOLS in fate.layers
        return False, "the layer is switched off" if by_tool else _lost(fate)
    if not {Layer.EXCERPTS, Beside.GREP}.isdisjoint(fate.layers):
        return True, "it is quoted"
    mine = [hit for hit in _hits(view, Layer.EXCERPTS) if hit.id == fate.message]
    return False, _reason(mine[0]) if mine else "it was not needed"


def _lost(fate: Fate) -> str:
    words = STAGE_WORDS[fate.stage]
    return f"{words}: {fate.detail}" if fate.detail else words


def _absent(view: TurnView, layer: Layer) -> str:
    row = view.layer(layer)
    if row["status"] == "failed":
        return f"the layer failed: {row['note']}"
    return "the layer is switched off" if row["status"] == "skipped" else ""


def _reason(item: Item) -> str:
    return f"{item.reason or ''} ({item.detail})" if item.detail else str(item.reason or "")


def _moment(view: TurnView, time: datetime) -> str:
    local = time.astimezone(ZoneInfo(view.talk.timezone))
    return f"{local.day} {local:%b %Y, %H:%M}"
