"""The yardstick `grep`: what a plain substring search puts into the excerpts' place.

Case is ignored, nothing else: no stems, no weights, no neighbours. So it finds a word inside a
longer one and misses another form of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from memcore import (
    Composition,
    Item,
    Layer,
    LayerAccount,
    Message,
    PromptLayer,
    Reason,
    Settings,
    real_words,
    render,
)

ORDER = "grep: most different words found, then newest"


def words_of(text: str) -> list[str]:
    """The words of a message that are looked for: case-folded, each once, without stop words and
    courtesies, which stand in nearly every message."""
    words = dict.fromkeys(word.casefold() for word in re.findall(r"\w+", text))
    return [word for word in words if real_words(word)]


def ranked(text: str, said: Iterable[Message]) -> list[tuple[int, Message]]:
    """The messages that hold a word of a text, each with how many different ones it holds: most
    words first, then newest, then the greatest id."""
    words = words_of(text)
    counts = [(sum(word in one.text.casefold() for word in words), one) for one in said]
    found = [(count, one) for count, one in counts if count]
    return sorted(found, key=lambda pair: (pair[0], pair[1].time, pair[1].id), reverse=True)


def with_grep(
    composition: Composition, message: Message, said: Iterable[Message], settings: Settings
) -> Composition:
    """A composition without excerpts, with what `grep` finds for its message among `said` as that
    layer: the text, the items and the account.

    At most `excerpts_limit` whole messages within `excerpts_cap` characters and what the ceiling
    leaves; what the history shows already is left out, and of the rest what fits is taken in order.
    """
    if not settings.excerpts_cap or not settings.excerpts_limit:
        return composition
    shown = {item.id for item in composition.items if item.kept and item.layer in _HISTORY}
    hits = ranked(message.text, (one for one in said if one.id != message.id))
    account, overhead = composition.account, render.cost_of(Layer.EXCERPTS)
    room = min(settings.excerpts_cap, max(account.ceiling - account.spent, 0))
    taken: list[tuple[Message, str]] = []
    items: list[Item] = []
    spent = overhead
    for place, (count, one) in enumerate(hits[: settings.search_depth], start=1):
        quoted = render.quotation(one)
        piece = render.dated(one.time, settings.zone, [quoted])
        cost = len(piece) + (1 if taken else 0)
        reason, detail = None, ""
        if one.id in shown:
            reason = Reason.IN_WINDOW
        elif len(taken) >= settings.excerpts_limit:
            reason, detail = Reason.OVER_LIMIT, f"{settings.excerpts_limit} are allowed"
        elif spent + cost > room:
            reason = Reason.OVER_BUDGET
            detail = f"{max(room - spent, 0)} characters were left of the layer's"
        else:
            spent += cost
            taken.append((one, piece))
        kind, size = ("message", len(one.text)) if reason else ("excerpt", len(piece))
        items.append(
            Item(Layer.EXCERPTS, one.id, kind, size, reason is None, place, reason, detail,
                 float(count), (one.id,))
        )  # fmt: skip
    taken.sort(key=lambda pair: (pair[0].time, pair[0].id))
    text = render.section(Layer.EXCERPTS, [piece for _, piece in taken])
    if text and composition.system:
        text = render.SEPARATOR + text
    note = f"{len(hits)} messages found" if hits else "no earlier message holds a word of it"
    row = LayerAccount(
        Layer.EXCERPTS, len(text), settings.excerpts_cap, len(text), len(text), len(items),
        len(taken), len(items) - len(taken), ORDER, "ok" if text else "empty", note,
    )  # fmt: skip
    return replace(
        composition,
        layers=tuple(
            PromptLayer(Layer.EXCERPTS, text) if one.layer is Layer.EXCERPTS else one
            for one in composition.layers
        ),
        system=composition.system + text,
        items=(*composition.items, *items),
        account=replace(
            account,
            layers=tuple(row if one.layer is Layer.EXCERPTS else one for one in account.layers),
            spent=account.spent + len(text),
            total=account.total + len(text),
        ),
    )


_HISTORY = (Layer.WINDOW, Layer.LAST_EXCHANGE)
