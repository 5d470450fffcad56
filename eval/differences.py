"""What differs between two prompts of one conversation: a turn and the one before, or a turn and
the same turn composed with other settings."""

from __future__ import annotations

import difflib
from itertools import takewhile
from typing import NamedTuple

import pandas as pd

from eval.turns import HISTORY_LAYERS, TurnView
from memcore import Layer

COLUMNS = ("layer", "change", "id", "size")


class Line(NamedTuple):
    """A line of a difference: sign is `+`, `-` or ` `; ` ` also for lines left out (`skipped`)."""

    sign: str
    text: str
    skipped: int = 0


def items_changed(before: TurnView, after: TurnView) -> pd.DataFrame:
    """What entered the prompt, left it or moved: layer, change (`entered`, `left`, `moved`), id,
    size.

    An item is the same where layer, id and size are: a note that was rewritten leaves and enters. A
    message has moved where the one history layer had it before and the other has it now.
    """
    old, new = _kept(before), _kept(after)
    left = [key for key in old if key not in new]
    entered = [key for key in new if key not in old]
    moved = {id for layer, id, _ in left if layer in HISTORY_LAYERS} & {
        id for layer, id, _ in entered if layer in HISTORY_LAYERS
    }

    def is_moved(layer: str, id: str) -> bool:
        return layer in HISTORY_LAYERS and id in moved

    rows = [(layer, "left", id, size) for layer, id, size in left if not is_moved(layer, id)]
    rows += [
        (layer, "moved" if is_moved(layer, id) else "entered", id, size)
        for layer, id, size in entered
    ]
    order = {str(layer): number for number, layer in enumerate(Layer)}
    rows.sort(key=lambda row: (order[row[0]], row[1], row[2]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def unchanged(before: TurnView, after: TurnView) -> int:
    """How many leading characters both prompts share, as sent: the system prompt, and where that
    is the same throughout, also the history after it. A provider can serve them from its cache."""
    shared = _common(before.system, after.system)
    if before.system != after.system:
        return shared
    for old, new in zip(before.turns, after.turns, strict=False):
        if old.role != new.role:
            break
        shared += _common(old.content, new.content)
        if old != new:
            break
    return shared


def lines_changed(before: str, after: str, context: int = 1) -> list[Line]:
    """The difference of two texts by lines, with `context` unchanged lines around each change.

    Empty where the texts are the same.
    """
    if before == after:
        return []
    old, new = before.splitlines(), after.splitlines()
    lines: list[Line] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    last_old = 0
    for group in matcher.get_grouped_opcodes(context):
        if (skipped := group[0][1] - last_old) > 0:
            lines.append(Line(" ", "", skipped))
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                lines += [Line(" ", text) for text in old[i1:i2]]
            else:
                lines += [Line("-", text) for text in old[i1:i2]]
                lines += [Line("+", text) for text in new[j1:j2]]
            last_old = i2
    if (skipped := len(old) - last_old) > 0:
        lines.append(Line(" ", "", skipped))
    return lines


def _common(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _kept(view: TurnView) -> dict[tuple[str, str, int], None]:
    return {(str(one.layer), one.id, one.size): None for one in view.offered if one.kept}
