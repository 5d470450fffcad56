"""One composer, called once per turn: it alone sees everything, so it can trade layer for layer.

Space is given in keep priority: last exchange, summary, notes, excerpts, deeper window. The text is
laid out for prefix caching: persona, summary, notes, excerpts, and the history after that. The
account is taken from the rendered text.
"""

from __future__ import annotations

import time as clocks
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from memcore.composer import excerpts, history, meaning, notes, render
from memcore.composer.budget import Fit, fit, left
from memcore.composer.history import History
from memcore.composer.limits import TimeLimit
from memcore.composer.meaning import Meaning
from memcore.indexing import Index
from memcore.ports import Store, Transaction
from memcore.settings import Settings
from memcore.text import real_words
from memcore.types import (
    Account,
    Composition,
    Item,
    Layer,
    LayerAccount,
    LayerStatus,
    Message,
    Near,
    Owner,
    PromptLayer,
    Reason,
    Summary,
)

T = TypeVar("T")
_EVERY = 10**9
"""Notes; more than anybody has."""


@dataclass(slots=True)
class _Row:
    """One layer while the turn is composed."""

    layer: Layer
    cap: int | None = None
    asked: int = 0
    granted: int = 0
    spent: int = 0
    order: str = ""
    note: str = ""
    failed: bool = False
    off: bool = False
    milliseconds: float = 0.0

    def finish(self, received: int, offered: int, kept: int) -> LayerAccount:
        status: LayerStatus = "ok"
        if self.failed:
            status = "failed"
        elif self.off:
            status = "skipped"
        elif received == 0:
            status = "skipped" if self.note.startswith("not searched") else "empty"
        return LayerAccount(
            self.layer, self.asked, self.cap, self.granted, received, offered, kept,
            offered - kept, self.order, status, self.note, self.milliseconds,
        )  # fmt: skip


class Composer:
    """Composes turns over one store. Holds nothing between turns."""

    def __init__(self, store: Store, settings: Settings, index: Index | None = None) -> None:
        self._store = store
        self._settings = settings
        self._index = index
        self._limit = TimeLimit()

    def compose(
        self,
        owner: Owner,
        thread: str,
        message: Message,
        persona: str,
        previous_system: str | None = None,
    ) -> Composition:
        """What the model is shown for `message`, which may but need not be stored already.

        Never raises for a store or a provider that fails or hangs: the layer is then missing, or
        ordered without meaning, and the account says why. `previous_system` is the previous turn's
        system prompt, for the account's `unchanged`.
        """
        words = len(real_words(message.text))
        meant = meaning.ask(self._store, self._index, owner, message.text, words, self._settings)
        turn = _Turn(self._store, self._settings, self._limit, owner, thread, message, words, meant)
        return turn.compose(persona, previous_system)


class _Turn:
    """One turn being composed."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        limit: TimeLimit,
        owner: Owner,
        thread: str,
        message: Message,
        words: int,
        meant: Meaning,
    ) -> None:
        self._words = words
        self._meaning = meant
        self._store = store
        self._settings = settings
        self._limit = limit
        self._owner = owner
        self._thread = thread
        self._message = message
        self._items: list[Item] = []
        self._rows = {layer: _Row(layer) for layer in Layer}

    def compose(self, persona: str, previous_system: str | None) -> Composition:
        settings = self._settings
        past = self._history()
        room = left(settings.ceiling, past.exchange_size)
        summary = self._summary(room)
        room = left(room, self._rows[Layer.SUMMARY].spent)
        noted = self._notes(room)
        room = left(room, self._rows[Layer.NOTES].spent)

        window = self._rows[Layer.WINDOW]
        sent = past.plan(min(window.cap or 0, room))
        found = self._search(past, sent)
        if found.cost + past.costs[sent] > room:  # the ceiling binds: less of the window is certain
            sent = past.plan(min(window.cap or 0, left(room, settings.excerpts_cap)))
            found = self._search(past, sent)
        quoted, passages = self._excerpts(found, room)
        room = left(room, self._rows[Layer.EXCERPTS].spent)
        window.granted = min(window.asked, room)
        count = past.plan(window.granted, lambda one: one.id in quoted)
        blocked = count < past.plan(window.granted)

        turns, history_layers = history.prefix(past, count)
        self._items += history.items(past, count, min(window.cap or 0, room), blocked)
        sections = {Layer.SUMMARY: summary, Layer.NOTES: noted, Layer.EXCERPTS: passages}
        layers, system = _layout(persona, sections)
        layers += history_layers
        account = self._account(layers, system, previous_system)
        return Composition(
            tuple(layers), system, turns, account, tuple(self._items), self._message.text
        )

    def _read(self, layer: Layer, job: Callable[[Transaction], T], fallback: T) -> T:
        """What a layer reads, within its time limit; the fallback where that fails."""
        row, seconds = self._rows[layer], self._settings.layer_seconds
        began = clocks.perf_counter()

        def read() -> T:
            with self._store.reading(seconds) as parts:
                return job(parts)

        try:
            return read() if self._store.keeps_time else self._limit.run(read, seconds)
        except Exception as error:  # reading is best effort: the account carries the error
            row.failed = True
            row.note = f"{type(error).__name__}: {error}"
            return fallback
        finally:
            row.milliseconds += (clocks.perf_counter() - began) * 1000

    def _history(self) -> History:
        cap = self._settings.window_cap
        past = self._read(
            Layer.WINDOW,
            lambda parts: history.read(parts, self._owner, self._thread, self._message, cap),
            History(),
        )
        last, window = self._rows[Layer.LAST_EXCHANGE], self._rows[Layer.WINDOW]
        last.asked = last.granted = past.exchange_size
        last.order = window.order = "newest first"
        last.failed, last.note = window.failed, window.note
        window.cap = left(cap, past.exchange_size)
        window.off = cap == 0
        window.asked = past.costs[past.plan(window.cap)]
        return past

    def _summary(self, room: int) -> str:
        row = self._rows[Layer.SUMMARY]
        row.cap, row.off = self._settings.summary_cap, self._settings.summary_cap == 0
        if row.off:
            return ""
        stored: Summary | None = self._read(
            Layer.SUMMARY, lambda parts: parts.state.summary(self._owner, self._thread), None
        )
        if stored is None:
            return ""
        pieces = [render.summary(stored.text)]
        kept = self._spend(row, pieces, room).kept
        reason, detail = (None, "") if kept else _over_budget(row, room, 0)
        self._items.append(
            Item(Layer.SUMMARY, stored.thread, "summary", len(pieces[0]), bool(kept), 1, reason,
                 detail, None, stored.sources)
        )  # fmt: skip
        return render.section(Layer.SUMMARY, pieces if kept else [])

    def _notes(self, room: int) -> str:
        row = self._rows[Layer.NOTES]
        row.cap, row.off = self._settings.notes_cap, self._settings.notes_cap == 0
        if row.off:
            return ""
        overhead, meant = render.cost_of(Layer.NOTES), self._meaning
        cutoff = meant.cutoff(self._settings, "note")
        near: list[Near] = []
        row.order = "the page, then newest first"
        if meant.reaches("note"):
            near = self._read(
                Layer.NOTES, lambda parts: meant.near(parts, self._owner, "note", _EVERY, ()), near
            )
            row.order = f"the page, then by meaning ({meaning.told(cutoff)}), then newest first"
        elif meant.account and meant.account.error:
            row.note = f"degraded: not ordered by meaning, {meant.account.error}"
        cosines = {one.item: one.cosine for one in near}

        def chosen(limit: int) -> notes.Choice:
            return self._read(
                Layer.NOTES,
                lambda parts: notes.take(parts, self._owner, limit, overhead, cosines, cutoff),
                notes.NONE,
            )

        choice = chosen(row.cap)
        row.asked = choice.cost(overhead)
        row.granted = min(row.asked, room)
        if row.granted < row.asked:
            choice = chosen(row.granted)
        row.spent = choice.cost(overhead)
        self._items += notes.items(choice, lambda spent: _over_budget(row, room, spent))
        return render.section(Layer.NOTES, [one.piece for one in choice.taken])

    def _search(self, past: History, count: int) -> excerpts.Found:
        """The first search. The newest `count` messages of the deeper window are sent anyway."""
        settings, row = self._settings, self._rows[Layer.EXCERPTS]
        row.cap = settings.excerpts_cap
        row.off = settings.excerpts_cap == 0 or settings.excerpts_limit == 0
        if row.off:
            return excerpts.Found()
        sent = {one.place for one in (*past.exchange, *past.deeper[:count])}

        def shown(thread: str, place: int) -> bool:
            return thread == self._thread and place in sent

        return self._read(
            Layer.EXCERPTS,
            lambda parts: excerpts.find(
                parts,
                self._owner,
                self._message,
                shown,
                settings,
                render.cost_of(Layer.EXCERPTS),
                self._words,
                self._meaning,
            ),
            excerpts.Found(),
        )

    def _excerpts(self, found: excerpts.Found, room: int) -> tuple[set[str], str]:
        """The ids quoted, and the layer's text."""
        row = self._rows[Layer.EXCERPTS]
        if row.off:
            return set(), ""
        overhead = render.cost_of(Layer.EXCERPTS)
        row.order = found.order
        row.note = row.note or found.note
        row.asked = found.cost
        by_rank = sorted(found.excerpts, key=lambda one: one.rank)
        sizes = [len(one.text) for one in by_rank]
        row.granted = min(row.asked, room)
        admitted = fit(sizes, row.granted, overhead, 1)
        row.spent = admitted.cost
        kept = {by_rank[number].seed for number in admitted.kept}
        for item in found.items:
            if item.kept and item.id not in kept:
                reason, detail = _over_budget(row, room, admitted.cost)
                item = item._replace(kept=False, reason=reason, detail=detail)
            self._items.append(item)
        texts = [one for one in found.excerpts if one.seed in kept]
        quoted = {id for one in texts for id in one.messages}
        return quoted, render.section(Layer.EXCERPTS, [one.text for one in texts])

    def _spend(self, row: _Row, pieces: list[str], room: int) -> Fit:
        """Fits pieces into what the layer's cap and the ceiling leave, and notes it in the row."""
        sizes = [len(piece) for piece in pieces]
        overhead = render.cost_of(row.layer)
        row.asked = fit(sizes, row.cap or 0, overhead, 1).cost
        row.granted = min(row.asked, room)
        admitted = fit(sizes, row.granted, overhead, 1)
        row.spent = admitted.cost
        return admitted

    def _account(
        self, layers: list[PromptLayer], system: str, previous_system: str | None
    ) -> Account:
        received = {one.layer: len(one.text) for one in layers}
        total = sum(received.values())
        offered = Counter([item.layer for item in self._items])
        kept = Counter([item.layer for item in self._items if item.kept])
        persona = self._rows[Layer.PERSONA]
        persona.asked = persona.granted = received[Layer.PERSONA]
        unchanged = None
        if previous_system is not None:
            unchanged = render.common_prefix(system, previous_system)
        return Account(
            tuple(
                row.finish(received.get(layer, 0), offered[layer], kept[layer])
                for layer, row in self._rows.items()
            ),
            self._settings.ceiling,
            total - received[Layer.PERSONA],
            total,
            unchanged,
            self._meaning.account,
        )


def _layout(persona: str, sections: dict[Layer, str]) -> tuple[list[PromptLayer], str]:
    """The layers of the system prompt in prompt order, each with the separator before it."""
    layers = [PromptLayer(Layer.PERSONA, persona)]
    system = persona
    for layer, text in sections.items():
        piece = f"{render.SEPARATOR}{text}" if text and system else text
        layers.append(PromptLayer(layer, piece))
        system += piece
    return layers, system


def _over_budget(row: _Row, room: int, spent: int) -> tuple[Reason, str]:
    limit = row.cap or 0
    if room < limit:
        return Reason.OVER_BUDGET, f"the ceiling left this layer {room} characters"
    return Reason.OVER_BUDGET, f"the layer holds {limit} characters, {spent} were taken before it"
