"""The summary of a thread: what was said before its window, stored, read back and refreshed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from memcore.centrality import central
from memcore.composer import history, render
from memcore.errors import Conflict, InvalidInput, ProviderAnswer
from memcore.extraction import is_instruction, speaker_of
from memcore.ports import Clock, Store, Summarizer, Transaction
from memcore.screening import mask, refuse_secrets, secrets
from memcore.settings import Settings
from memcore.text import clean, local_day, sentences
from memcore.types import Cursor, Layer, Message, Owner, Summary

SUMMARY_SIZE = 2_000
"""The most characters a summary may have in the prompt, with its heading: what its layer asks for
by default. A longer one would be stored and never shown."""

READER = "summary"
_NEWEST = 400
"""Messages read at once where a summary is begun late; older ones are left out of it."""

_SENTENCE = 300
"""Characters; a longer sentence is no summary of anything."""


class Summaries:
    """The summaries of every owner's threads, over one store."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        summarizer: Summarizer | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._summarizer = summarizer

    def get(self, owner: Owner, thread: str) -> Summary | None:
        """The thread's stored summary, None where there is none."""
        with self._store.reading() as parts:
            return parts.state.summary(owner, thread)

    def save(self, owner: Owner, summary: Summary) -> None:
        """Stores a summary in place of the thread's earlier one.

        Raises `InvalidInput` where it is empty or takes more than `SUMMARY_SIZE` characters in the
        prompt, `SecretFound` where it holds a secret; nothing is written then.
        """
        kept = checked(summary)
        with self._store.transaction() as tx:
            tx.state.put_summary(owner, kept)

    def restore(self, tx: Transaction, owner: Owner, summary: Summary) -> None:
        """Like `save`, as a part of the caller's transaction."""
        tx.state.put_summary(owner, checked(summary))

    def refresh(self, owner: Owner, thread: str) -> Summary | None:
        """Sums up what lies before the window, and returns the summary; None where nothing does.

        What the earlier summary cites and what has left the window since are read, so that the cost
        does not grow with the thread, and nothing is taken from the earlier text itself: a message
        that is gone is gone from the summary, and a model is then not shown the earlier text.
        Raises `ProviderAnswer` or `InvalidInput` where the model fails, and `Conflict` where
        another process was faster; the earlier one stays then.
        """
        limit = min(SUMMARY_SIZE, self._settings.summary_cap) - render.cost_of(Layer.SUMMARY)
        with self._store.reading() as parts:
            earlier = parts.state.summary(owner, thread)
            before = parts.state.cursor(owner, thread, READER)
            edge = self._edge(parts, owner, thread)
            unread = [one.place for one in parts.state.unread(owner, thread, READER)]
            passed = [place for place in unread if place < edge][-_NEWEST:]
            cited = parts.messages.get(owner, earlier.sources) if earlier else []
            whole = earlier if earlier and len(cited) == len(earlier.sources) else None
            if limit <= 0 or (earlier == whole and not passed):
                return earlier
            new = parts.messages.span(owner, thread, passed[0], passed[-1]) if passed else []
        news = {one.id for one in new}
        told = sorted(
            [*(one for one in cited if one.thread == thread and one.id not in news), *new],
            key=lambda one: one.place,
        )
        said = [one for one in told if one.role != "tool"]
        made = self._told(said, whole, limit) if self._summarizer else self._extract(said, limit)
        summary = Summary(thread, made[0], self._clock.now(), made[1]) if made[0] else None
        kept = checked(summary) if summary else None
        with self._store.transaction() as tx:
            after = Cursor(new[-1].time, new[-1].id) if new else before
            if after and not tx.state.advance(owner, thread, READER, before, after):
                raise Conflict(f"another process has summed thread {thread!r} up meanwhile")
            if kept is None:
                tx.state.remove_summary(owner, thread)
                return None
            if len(tx.messages.get(owner, kept.sources)) != len(kept.sources):
                raise Conflict(f"a message that the summary of {thread!r} cites is gone")
            tx.state.put_summary(owner, kept)
        return kept

    def _edge(self, parts: Transaction, owner: Owner, thread: str) -> int:
        """The place at which the window of the next turn begins."""
        cap, now = self._settings.window_cap, self._clock.now()
        coming = Message("", thread, "user", "", now, "")
        past = history.read(parts, owner, thread, coming, cap)
        count = past.plan(max(cap - past.exchange_size, 0))
        shown = [*past.exchange, *past.deeper[:count]]
        return min((one.place for one in shown), default=0)

    def _told(
        self, said: Sequence[Message], earlier: Summary | None, limit: int
    ) -> tuple[str, tuple[str, ...]]:
        """The model's summary, which stands for all that it was given."""
        assert self._summarizer is not None
        try:
            text = self._summarizer.summarize(said, earlier, limit).strip()
        except Exception as error:  # a model's client may raise anything
            raise ProviderAnswer(mask(f"no summary: {type(error).__name__}: {error}")) from error
        if not text:
            raise ProviderAnswer("no summary: the model's answer is empty")
        return text, tuple(one.id for one in said)

    def _extract(self, said: Sequence[Message], limit: int) -> tuple[str, tuple[str, ...]]:
        """The most central sentences, each under its day and with its speaker, and their ids."""
        found = [
            (local_day(one.time, self._settings.zone).isoformat(), one, sentence)
            for one in said
            for sentence in _telling(one.text)
        ]

        def text_of(numbers: list[int]) -> str:
            chosen = [found[number] for number in numbers]
            return "\n".join(
                f"{day}\n" + "\n".join(f"- {speaker_of(one)}: {text}" for _, one, text in lines)
                for day, lines in groupby(chosen, key=lambda line: line[0])
            )

        def fits(numbers: list[int]) -> bool:
            return len(render.summary(text_of(numbers))) <= limit

        numbers = central([text for _, _, text in found], fits)
        sources = dict.fromkeys(found[number][1].id for number in numbers)
        return text_of(numbers), tuple(sources)


def _telling(text: str) -> list[str]:
    """Sentences that may stand in a summary: neither too long, nor an instruction, nor a secret."""
    if next(secrets(text), None):
        return []
    found = (" ".join(text[start:end].split()) for start, end in sentences(text))
    return [one for one in found if len(one) <= _SENTENCE and not is_instruction(one)]


def checked(summary: Summary) -> Summary:
    """The summary as it may be stored; raises `InvalidInput` as `Summaries.save` does."""
    if not summary.text.strip():
        raise InvalidInput(f"the summary of thread {summary.thread!r} is empty")
    size = render.cost_of(Layer.SUMMARY) + len(render.summary(summary.text))
    if size > SUMMARY_SIZE:
        raise InvalidInput(
            f"the summary of thread {summary.thread!r} has {len(summary.text)} characters and "
            f"takes {size} in the prompt, where {SUMMARY_SIZE} are allowed; nothing was written"
        )
    refuse_secrets(summary.text)
    return Summary(summary.thread, clean(summary.text), summary.written, summary.sources)
