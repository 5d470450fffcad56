"""Evidence recall, without a model: did what answers a question reach the prompt, and if not, where
was it lost?

A message counts as reached where its whole text stands in the composed prompt or in what a tool
returned, or where a note or summary that cites it does and has the answer's words that the message
has. Only a part of it is `cut`, and does not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from memcore import Composition, Item, Layer, Message, Reason, query_stems, shows


class Stage(StrEnum):
    """How far a piece of evidence came; in the order of the funnel."""

    NOT_STORED = "not stored"
    NOT_SEARCHED = "not searched"
    FAILED = "failed"
    NOT_FOUND = "not found"
    BELOW_CUTOFF = "below cutoff"
    RANKED_LOW = "ranked too low"
    OVER_BUDGET = "over budget"
    CUT = "cut"
    REACHED = "reached"


class Beside(StrEnum):
    """Ways to what the model is sent that are no layers of the memory's own."""

    TOOLS = "tools"
    GREP = "grep"


Source = Layer | Beside
"""By what a piece of evidence was reached, or what lost it."""


def source_named(name: str) -> Source:
    """The layer, or the way beside the layers, of that name. Raises `ValueError`."""
    return Beside(name) if name in set(Beside) else Layer(name)


_TELLING = frozenset({Layer.NOTES, Layer.SUMMARY})
CITING: frozenset[Source] = _TELLING
"""Layers that tell in fewer or other words what was said, and name the messages it comes from."""

_ENOUGH = 0.5
"""Share of the answer's words that a note or summary has where it counts as telling the answer."""

_STAGES = {
    Reason.BELOW_CUTOFF: Stage.BELOW_CUTOFF,
    Reason.OVER_LIMIT: Stage.RANKED_LOW,
}


class Fate(NamedTuple):
    """What became of one evidence message: how far it came, and why no further.

    `layers` are those that have it, or the one that lost it; none where it was never stored. `rank`
    and `score` are the search's, None where the search did not find it.
    """

    message: str
    stage: Stage
    layers: tuple[Source, ...]
    detail: str = ""
    rank: int | None = None
    score: float | None = None

    @property
    def reached(self) -> bool:
        return self.stage is Stage.REACHED

    @property
    def only_cited(self) -> bool:
        """Whether no layer quotes it, and a note or summary that cites it is all there is."""
        return self.reached and CITING.issuperset(self.layers)


def trace(
    composition: Composition,
    evidence: Sequence[str],
    stored: Mapping[str, Message],
    answer: str | None = None,
) -> list[Fate]:
    """The fate of each evidence message in a composed turn. `stored` is what was stored by then.

    A note or summary that cites a message counts where it has every number and at least half of the
    other words that the expected `answer` and that message share. Where they share none, as when
    the answer is told in other words, citing is enough.
    """
    texts = {one.layer: one.text for one in composition.layers}
    words = {layer: frozenset(query_stems(texts.get(layer, ""))) for layer in _TELLING}
    wanted_words = frozenset(query_stems(answer or ""))
    covering: dict[str, list[Item]] = {}
    wanted = set(evidence)
    for item in composition.items:
        for id in wanted.intersection(item.covers):
            covering.setdefault(id, []).append(item)
    found = []
    for id in evidence:
        said = frozenset(query_stems(stored[id].text)) if id in stored and wanted_words else None
        shared = wanted_words & said if said else frozenset()
        telling = frozenset(layer for layer in _TELLING if _tells(words[layer], shared))
        found.append(_fate(composition, id, covering.get(id, []), texts, stored, telling))
    return found


def _tells(words: frozenset[str], shared: frozenset[str]) -> bool:
    numbers = frozenset(one for one in shared if any(map(str.isdigit, one)))
    others = shared - numbers
    return numbers <= words and len(others & words) >= _ENOUGH * len(others)


def _fate(
    composition: Composition,
    id: str,
    items: list[Item],
    texts: Mapping[Layer, str],
    stored: Mapping[str, Message],
    telling: frozenset[Layer],
) -> Fate:
    found = next((item for item in items if item.layer is Layer.EXCERPTS and item.id == id), None)
    rank, score = (found.place, found.score) if found else (None, None)
    kept = [item for item in items if item.kept]
    holding: list[Source] = [
        item.layer for item in kept if not item.cut and _stands(item, id, texts, stored, telling)
    ]
    if holding:
        return Fate(id, Stage.REACHED, tuple(dict.fromkeys(holding)), "", rank, score)
    if id not in stored:
        return Fate(id, Stage.NOT_STORED, (), "it is not in the store at that moment")
    search = composition.account.row(Layer.EXCERPTS)
    lost_by: tuple[Source, ...] = (Layer.EXCERPTS,)
    if any(item.cut for item in kept):
        return Fate(id, Stage.CUT, lost_by, "only a part of it was quoted", rank, score)
    if citing := tuple(dict.fromkeys(item.layer for item in kept if item.layer in CITING)):
        why = "what cites it has not the answer's words"
        return Fate(id, Stage.CUT, citing, why, rank, score)
    if search.status == "failed":
        return Fate(id, Stage.FAILED, lost_by, search.note)
    if search.status == "skipped":
        return Fate(id, Stage.NOT_SEARCHED, lost_by, search.note or "the layer is switched off")
    if found is None or found.reason is None:
        why = search.note or "no word of the question leads to it"
        return Fate(id, Stage.NOT_FOUND, lost_by, why)
    dropped = found
    if found.reason is Reason.DUPLICATE:  # it lay in another's passage, which was left out itself
        dropped = next((item for item in items if item.kind == "excerpt" and item.reason), found)
    stage = _STAGES.get(found.reason, Stage.OVER_BUDGET)
    return Fate(id, stage, lost_by, dropped.detail or str(dropped.reason), rank, score)


def _stands(
    item: Item,
    id: str,
    texts: Mapping[Layer, str],
    stored: Mapping[str, Message],
    telling: frozenset[Layer],
) -> bool:
    """Whether the prompt really holds it; a note or summary stands for the messages it cites where
    it tells the answer."""
    if item.layer in CITING:
        return item.layer in telling
    return id in stored and shows(item.layer, texts[item.layer], stored[id])
