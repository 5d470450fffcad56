"""Excerpts: the search that the turn makes itself, before the model sees anything.

The whole message is searched; what the window shows already is left out; the best messages become
passages, cut around the match where they are long, grown by their neighbours where there is room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from memcore import text as analysis
from memcore.composer import render
from memcore.composer.meaning import Meaning, told
from memcore.ports import Transaction
from memcore.ranking import Ranked, rank, relevant
from memcore.screening import mask
from memcore.settings import Settings
from memcore.types import (
    Excerpt,
    Item,
    Layer,
    Located,
    Message,
    Near,
    Owner,
    Reason,
    SearchMode,
)

_SHORTEST = 20
"""Characters below which a piece of a message says too little to be quoted."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_REACH = 4
"""How many neighbours on either side may join a passage."""


@dataclass(slots=True)
class Found:
    """What the first search brought: excerpts by date, every hit as an item, and why it stopped."""

    excerpts: list[Excerpt] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    cost: int = 0
    order: str = "none"
    note: str = ""


def find(
    parts: Transaction,
    owner: Owner,
    message: Message,
    shown: Callable[[str, int], bool],
    settings: Settings,
    overhead: int,
    words: int,
    meaning: Meaning,
) -> Found:
    """Searches by the whole message, which has so many real `words`, and makes at most
    `excerpts_limit` passages.

    `shown(thread, place)` tells what the window shows already. `overhead` is what the layer costs
    beside its excerpts; with it they stay within `excerpts_cap`. Returns no excerpts, and says why,
    where the message has too few real words. Where nothing can be found by meaning, words alone
    count, and the note says that the search is degraded.
    """
    if words < settings.min_real_words:
        count = "1 real word" if words == 1 else f"{words} real words"
        return Found(note=f"not searched: {count}, {settings.min_real_words} are needed")
    wanted = analysis.query_stems(message.text)
    mode = settings.search_mode if meaning.reaches("message") else "lexical"
    own = parts.messages.place_of(owner, message.thread, message.id)

    def said(one: Located) -> bool:  # before the message, of those of its very time
        return own is None or one.thread != message.thread or one.place < own

    def meant(count: int, among: Sequence[str]) -> Sequence[Near]:
        return meaning.near(parts, owner, "message", count, tuple(among))

    ranking = rank(
        parts.messages,
        owner,
        () if mode == "semantic" else wanted,
        settings,
        settings.search_depth,
        until=message.time,
        admit=said,
        boost=_day_boost(message, settings),
        neighbours=True,
        meant=None if mode == "lexical" else meant,
    )
    cutoff = None if mode == "lexical" else meaning.cutoff(settings, "message")
    by_meaning = cutoff.cutoff if cutoff else None
    bar = _Bar(mode, settings.excerpts_cutoff if mode == "lexical" else by_meaning)
    making = _Passages(parts, owner, message, wanted, shown, settings, overhead, bar)
    result = making.take(ranking.best)
    result.order = _ORDERS[mode]
    if mode != "lexical":
        result.order += f"; {told(cutoff)}"
    notes = []
    if mode != settings.search_mode:
        notes.append(f"degraded: {settings.search_mode} was asked, {meaning.why_not('message')}")
    if not ranking.best:
        by_words = mode == "lexical"
        notes.append(f"searched: no earlier message {'has a word of it' if by_words else 'found'}")
    elif ranking.found > len(ranking.best):
        notes.append(f"{ranking.found} messages found, the best {len(ranking.best)} ranked")
    result.note = "; ".join(notes)
    return result


_ORDERS: dict[SearchMode, str] = {
    "lexical": "lexical: BM25, neighbours weighed",
    "semantic": "semantic: meaning, neighbours weighed",
    "hybrid": "hybrid: BM25 and meaning, neighbours weighed",
}


class _Bar(NamedTuple):
    """What a hit has to reach. By words alone it is a BM25 score with its neighbours'; by meaning a
    cosine, which a hit that has words of the message in a hybrid search need not reach."""

    mode: SearchMode
    cutoff: float | None

    def refuses(self, hit: Ranked) -> str:
        """Why a hit is below it; empty where it is not."""
        if self.cutoff is None or (self.mode == "hybrid" and hit.words is not None):
            return ""
        score = hit.score if self.mode == "lexical" else hit.cosine
        if score is not None and relevant(score, self.cutoff):
            return ""
        found = "no vector" if score is None else f"scored {score:.4g}"
        return f"{found} of {self.cutoff:.4g}"


def _day_boost(message: Message, settings: Settings) -> Callable[[Located], float] | None:
    days = analysis.named_days(message.text, message.time, settings.zone)
    if not days:
        return None

    def boost(one: Located) -> float:
        time = _EPOCH + timedelta(microseconds=one.time)
        named = analysis.local_day(time, settings.zone) in days
        return settings.day_boost if named else 1.0

    return boost


class _Passages:
    """Makes passages of ranked hits, one search long."""

    def __init__(
        self,
        parts: Transaction,
        owner: Owner,
        asked: Message,
        wanted: Sequence[str],
        shown: Callable[[str, int], bool],
        settings: Settings,
        overhead: int,
        bar: _Bar,
    ) -> None:
        self._bar = bar
        self._parts = parts
        self._owner = owner
        self._asked = asked
        self._wanted = wanted
        self._shown = shown
        self._settings = settings
        self._overhead = overhead
        self._taken: dict[tuple[str, int], int] = {}
        self._score_at: dict[tuple[str, int], float] = {}

    def take(self, ranked: Sequence[Ranked]) -> Found:
        self._score_at = {(one.thread, one.place): one.score for one in ranked}
        made: list[tuple[datetime, Excerpt]] = []
        items: list[Item] = []
        limit = self._settings.excerpts_limit
        allowed = "1 is allowed" if limit == 1 else f"{limit} are allowed"
        left = self._settings.excerpts_cap - self._overhead
        for number, hit in enumerate(ranked, start=1):
            at = (hit.thread, hit.place)
            reason, detail = None, ""
            if self._shown(*at):
                reason = Reason.IN_WINDOW
            elif below := self._bar.refuses(hit):
                reason, detail = Reason.BELOW_CUTOFF, below
            elif at in self._taken:
                reason, detail = Reason.DUPLICATE, f"quoted with number {self._taken[at]}"
            elif len(made) >= limit:
                reason = Reason.OVER_LIMIT
                detail = f"ranked {_ordinal(number)}, {allowed}"
            else:
                room = min(left - (1 if made else 0), self._settings.excerpt_size)
                share = left // (limit - len(made))
                around = self._session(hit)
                centre = next(at for at, one in enumerate(around) if one.place == hit.place)
                excerpt = self._passage(hit, around, centre, number, room, min(share, room))
                if excerpt is None:
                    reason = Reason.OVER_BUDGET
                    detail = f"{max(room, 0)} characters were left of the layer's"
                else:
                    left -= len(excerpt.text) + (1 if made else 0)
                    made.append((around[centre].time, excerpt))
                    items.append(_kept(excerpt, number, _parts_of(hit)))
                    continue
            items.append(
                Item(Layer.EXCERPTS, hit.id, "message", hit.size, False, number, reason, detail,
                     hit.score, (hit.id,))
            )  # fmt: skip
        made.sort(key=lambda pair: (pair[0], pair[1].seed))
        texts = [excerpt.text for _, excerpt in made]
        cost = self._overhead + sum(map(len, texts)) + len(texts) - 1 if texts else 0
        return Found([excerpt for _, excerpt in made], items, cost)

    def _passage(
        self,
        hit: Ranked,
        around: Sequence[Message],
        centre: int,
        number: int,
        room: int,
        share: int,
    ) -> Excerpt | None:
        """The hit and the neighbours that fit: whole in `room` or else cut, grown within `share`.

        The better ranked neighbour joins first; a side ends at a message that does not fit or that
        is shown elsewhere.
        """
        message = around[centre]
        lines = {centre: render.quotation(message)}
        size = len(render.dated(message.time, self._settings.zone, list(lines.values())))
        if size > room:
            return self._cut(hit, message, number, room)
        first = last = centre
        sides = {side: self._beside(hit, around, centre, side, share - size) for side in (-1, 1)}
        while True:
            fitting = {
                side: score
                for side, (score, line) in sides.items()
                if line is not None and size + 1 + len(line) <= share
            }
            if not fitting:
                break
            side = max(fitting, key=lambda side: (fitting[side], -side))
            at = first - 1 if side < 0 else last + 1
            lines[at] = sides[side][1] or ""
            size += 1 + len(lines[at])
            first, last = min(first, at), max(last, at)
            sides[side] = self._beside(hit, around, at, side, share - size)
        joined = around[first : last + 1]
        for one in joined:
            self._taken[hit.thread, one.place] = number
        zone = self._settings.zone
        text = render.dated(joined[0].time, zone, [lines[at] for at in range(first, last + 1)])
        ids = tuple(one.id for one in joined)
        return Excerpt(hit.id, ids, text, hit.score, number, False)

    def _beside(
        self, hit: Ranked, around: Sequence[Message], at: int, side: int, room: int
    ) -> tuple[float, str | None]:
        """The score and the line of the message beside `at`; no line where it may not join."""
        at += side
        if not 0 <= at < len(around) or len(around[at].text) >= room:
            return 0.0, None
        where = (hit.thread, around[at].place)
        if where in self._taken or self._shown(*where):
            return 0.0, None
        return self._score_at.get(where, 0.0), render.quotation(around[at])

    def _cut(self, hit: Ranked, message: Message, number: int, room: int) -> Excerpt | None:
        zone = self._settings.zone
        source = mask(message.text)  # before it is cut: half a secret looks like none
        empty = render.dated(message.time, zone, [render.spoken(message.speaker, "")])
        spare = room - len(empty) - len("……")
        for _ in range(4):  # quoting may lengthen the text, so narrow until it fits
            if spare < _SHORTEST:
                return None
            start, end = analysis.cut_around(source, self._wanted, spare)
            piece = source[start:end]
            piece = ("…" if start > 0 else "") + piece + ("…" if end < len(source) else "")
            text = render.dated(message.time, zone, [render.spoken(message.speaker, piece)])
            if len(text) <= room:
                self._taken[hit.thread, hit.place] = number
                return Excerpt(hit.id, (hit.id,), text, hit.score, number, True)
            spare -= len(text) - room + 8
        return None

    def _session(self, hit: Ranked) -> list[Message]:
        """The messages around a hit without a silence of `session_gap_minutes` between them.

        None later than the message that is asked about, nor that message itself.
        """
        gap = timedelta(minutes=self._settings.session_gap_minutes)
        first = max(hit.place - _REACH, 0)
        around = self._parts.messages.span(self._owner, hit.thread, first, hit.place + _REACH)
        around = [one for one in around if one.time <= self._asked.time]
        own = next((at for at, one in enumerate(around) if one.id == self._asked.id), None)
        around = around[:own]
        start, end = 0, len(around)
        for number in range(1, len(around)):
            if around[number].time - around[number - 1].time >= gap:
                if around[number].place <= hit.place:
                    start = number
                else:
                    end = number
                    break
        return around[start:end]


def _parts_of(hit: Ranked) -> str:
    """What a score of words and meaning is made of; empty where only words were asked."""
    if hit.cosine is None:
        return ""
    return f"cosine {hit.cosine:.3f}" + (f", BM25 {hit.words:.3g}" if hit.words else ", no word")


def _kept(excerpt: Excerpt, number: int, detail: str) -> Item:
    return Item(
        Layer.EXCERPTS, excerpt.seed, "excerpt", len(excerpt.text), True, number, None, detail,
        excerpt.score, excerpt.messages, excerpt.cut,
    )  # fmt: skip


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"
