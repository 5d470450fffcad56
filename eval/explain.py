"""A turn in words: when the answer was given, whether it is in the prompt, and what lost it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from eval.dataset import ConversationRecord
from eval.evidence import Beside, Fate, Source, Stage
from memcore import Item, Layer, Message, Reason

LAYER_NAMES: dict[Source, str] = {
    Layer.PERSONA: "persona",
    Layer.LAST_EXCHANGE: "last exchange",
    Layer.SUMMARY: "summary",
    Layer.NOTES: "notes",
    Layer.EXCERPTS: "excerpts",
    Layer.WINDOW: "window",
    Beside.TOOLS: "search tool",
    Beside.GREP: "grep",
}

STAGE_WORDS = {
    Stage.NOT_STORED: "it was not stored yet",
    Stage.NOT_SEARCHED: "nothing was searched",
    Stage.FAILED: "the search failed",
    Stage.NOT_FOUND: "the search did not find it",
    Stage.BELOW_CUTOFF: "it scored below the cutoff",
    Stage.RANKED_LOW: "it was found but ranked too low",
    Stage.OVER_BUDGET: "it was found but did not fit",
    Stage.CUT: "only a part of it was quoted",
}


def source_in_words(name: str) -> str:
    """The name of a layer, or of a way beside the layers, as it is shown; an unknown one itself."""
    return next((words for source, words in LAYER_NAMES.items() if source == name), name)


def age_in_words(days: float) -> str:
    """`27 days back`, `1 day back`, `5 hours back`, `12 minutes back`."""
    seconds = max(round(days * 86_400), 0)
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        count = seconds // size
        if count or unit == "minute":
            return f"{count} {unit}{'' if count == 1 else 's'} back"
    raise AssertionError


def verdict(
    talk: ConversationRecord,
    messages: dict[str, Message],
    asked_at: datetime,
    fates: Sequence[Fate],
) -> str:
    """One or two sentences on a question's evidence: where it is in the prompt or what lost it."""
    if not fates:
        return "This question names no evidence, so there is nothing to look for in the prompt."
    times = [messages[fate.message].time for fate in fates if fate.message in messages]
    newest = max(times).astimezone(ZoneInfo(talk.timezone))
    age = (asked_at - max(times)).total_seconds() / 86_400
    given = f"The answer was given {age_in_words(age)} ({newest.day} {newest:%b %Y})."
    return f"{given} {_found(fates)}"


def _found(fates: Sequence[Fate]) -> str:
    reached = [fate for fate in fates if fate.reached]
    lost = [fate for fate in fates if not fate.reached]
    where = ", ".join(
        dict.fromkeys(LAYER_NAMES[layer] for fate in reached for layer in fate.layers)
    )
    if not lost and any(fate.only_cited for fate in fates):
        return (
            f"It is NOT QUOTED whole in this prompt, but cited by what is there: {where}; "
            "that it tells the answer is judged by its words alone."
        )
    if not lost:
        by_tool = any(Beside.TOOLS in fate.layers for fate in fates)
        return f"It IS in this prompt{' or in what a tool returned' if by_tool else ''}: {where}."
    worst = min(lost, key=lambda fate: list(Stage).index(fate.stage))
    reason = loss_in_words(worst)
    if not reached:
        return f"It is NOT in this prompt: {reason}."
    return (
        f"{len(reached)} of its {len(fates)} messages are in this prompt ({where}); "
        f"of the rest: {reason}."
    )


def loss_in_words(fate: Fate) -> str:
    """Why a piece of evidence is not in the prompt: how far it came, the layer, and the detail."""
    parts = [LAYER_NAMES[layer] for layer in fate.layers[:1]]
    if fate.detail:
        parts.append(fate.detail.removeprefix("not searched: "))
    words = STAGE_WORDS[fate.stage]
    return f"{words} ({': '.join(parts)})" if parts else words


def search_in_words(search: Mapping[str, Any], items: Sequence[Item]) -> str:
    """One sentence on a turn's own search: what it found, what is quoted, what became of the rest.

    `search` is the excerpts' row of the account, `items` what was offered to the turn's layers.
    """
    if search["status"] == "failed":
        return f"The search failed: {search['note']}."
    if search["status"] == "skipped":
        return f"Nothing was searched: {_why_not_searched(str(search['note']))}."
    hits = [item for item in items if item.layer is Layer.EXCERPTS]
    if not hits:
        return "The search found nothing that has a word in common with it."
    quoted = sum(hit.kept for hit in hits)
    rest = Counter(hit.reason for hit in hits if hit.reason is not None)
    parts = [f"{count} {_REST_WORDS.get(why, str(why))}" for why, count in rest.most_common()]
    left = f"; {', '.join(parts)}" if parts else ""
    found = f"The search found {len(hits)} message{'' if len(hits) == 1 else 's'}"
    spent = f" in {search['received']:,} characters" if quoted else ""
    return f"{found} and quoted {quoted or 'none'}{spent}{left}."


_REST_WORDS = {
    Reason.IN_WINDOW: "stood in the window already",
    Reason.DUPLICATE: "came along with those",
    Reason.OVER_LIMIT: "ranked too low",
    Reason.OVER_BUDGET: "did not fit",
}


def _why_not_searched(note: str) -> str:
    return note.removeprefix("not searched: ") or "the layer is switched off"
