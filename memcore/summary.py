"""The summary of a thread: what was said before its window, stored, read back and refreshed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memcore.backoff import Attempts
from memcore.composer import history, render
from memcore.errors import Conflict, InvalidInput, ProviderAnswer
from memcore.ports import Check, Clock, Store, Summarizer, Transaction
from memcore.screening import mask, refuse_secrets
from memcore.settings import Settings
from memcore.summary_text import Made, extract, read
from memcore.text import clean
from memcore.types import Cursor, Layer, Message, Owner, Summary

SUMMARY_SIZE = 2_000
"""The most characters a summary may have in the prompt, with its heading: what its layer asks for
by default. A longer one would be stored and never shown."""

READER = "summary"
_NEWEST = 400
"""Messages read at once where a summary is begun late; older ones are left out of it."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A thread's summary as it stands now, None where it has none.

    `refused` are lines of the model's that were left out, with the reason, secrets masked.
    `waiting` says why the model was not asked, empty where it was or need not be.
    """

    summary: Summary | None
    refused: tuple[tuple[str, str], ...] = ()
    waiting: str = ""


class _Gone(Conflict):
    """A message that the new summary cites was deleted meanwhile."""


class Summaries:
    """The summaries of every owner's threads, over one store.

    `check` tells whether messages support a line of the `summarizer`'s; `attempts` spaces what is
    asked of it after it failed. Without one, summaries are extracted.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        check: Check,
        summarizer: Summarizer | None = None,
        attempts: Attempts | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._check = check
        self._summarizer = summarizer
        self._attempts = attempts or Attempts(clock)

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

    def unfinished(self, owner: Owner, thread: str) -> bool:
        """Whether the model failed at this thread's summary when it was asked last."""
        return self._attempts.unfinished((READER, owner, thread))

    def refresh(self, owner: Owner, thread: str) -> Refreshed:
        """Sums up what lies before the window.

        What the earlier summary cites and what has left the window since are read, so that the cost
        does not grow with the thread, and nothing is taken from the earlier text itself: a message
        that is gone is gone from the summary.

        Raises `ProviderAnswer` where the model fails, or `InvalidInput` where what it wrote may not
        be stored, and `Conflict` where another process was faster or a cited message was deleted
        meanwhile. The earlier one stays then, without what cites a deleted message; a model that
        failed is not asked again for a while.
        """
        limit = min(SUMMARY_SIZE, self._settings.summary_cap) - render.cost_of(Layer.SUMMARY)
        work = (READER, owner, thread)
        with self._store.reading() as parts:
            earlier = parts.state.summary(owner, thread)
            before = parts.state.cursor(owner, thread, READER)
            edge = self._edge(parts, owner, thread)
            unread = [one.place for one in parts.state.unread(owner, thread, READER)]
            passed = [place for place in unread if place < edge][-_NEWEST:]
            cited = parts.messages.get(owner, earlier.sources) if earlier else []
            whole = earlier is None or len(cited) == len(earlier.sources)
            if limit <= 0 or (whole and not passed):
                self._attempts.forget(work)
                return Refreshed(earlier)
            new = parts.messages.span(owner, thread, passed[0], passed[-1]) if passed else []
        if not whole:
            earlier = self._without_gone(owner, thread, limit)
        news = {one.id for one in new}
        told = sorted(
            [*(one for one in cited if one.thread == thread and one.id not in news), *new],
            key=lambda one: one.place,
        )
        said = [one for one in told if one.role != "tool"]
        if self._summarizer is None or not said:
            made = extract(said, limit, self._settings.zone)
        elif reason := self._attempts.reason(work):
            return Refreshed(earlier, waiting=mask(reason))
        else:
            made = self._written(self._summarizer, work, said, limit)
        try:
            summary = self._put(owner, thread, made, before, new)
        except _Gone:
            self._without_gone(owner, thread, limit)
            raise
        return Refreshed(summary, made.refused)

    def _put(
        self,
        owner: Owner,
        thread: str,
        made: Made,
        before: Cursor | None,
        passed: Sequence[Message],
    ) -> Summary | None:
        """Stores a new summary, or none where nothing was made, and moves the cursor."""
        summary = Summary(thread, made.text, self._clock.now(), made.sources)
        kept = checked(summary) if made.text else None
        with self._store.transaction() as tx:
            after = Cursor(passed[-1].time, passed[-1].id) if passed else before
            if after and not tx.state.advance(owner, thread, READER, before, after):
                raise Conflict(f"another process has summed thread {thread!r} up meanwhile")
            if kept is None:
                tx.state.remove_summary(owner, thread)
                return None
            if len(tx.messages.get(owner, kept.sources)) != len(kept.sources):
                raise _Gone(f"a message that the summary of {thread!r} cites is gone")
            tx.state.put_summary(owner, kept)
        return kept

    def _without_gone(self, owner: Owner, thread: str, limit: int) -> Summary | None:
        """The stored summary, made anew from what is left of its messages where one is gone; a
        model that is asked afterwards may be slow or fail."""
        with self._store.transaction() as tx:
            found = tx.state.summary(owner, thread)
            left = tx.messages.get(owner, found.sources) if found else []
            if found is None or len(left) == len(found.sources):
                return found
            spoken = [one for one in left if one.role != "tool"]
            made = extract(spoken, limit, self._settings.zone)
            if not made.text:
                tx.state.remove_summary(owner, thread)
                return None
            kept = checked(Summary(thread, made.text, self._clock.now(), made.sources))
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

    def _written(
        self, model: Summarizer, work: tuple[str, Owner, str], said: Sequence[Message], limit: int
    ) -> Made:
        """The model's summary, of the lines that what they cite bears out."""
        zone = self._settings.zone
        try:
            made = read(model.summarize(said, limit), said, limit, zone, self._check)
        except Exception as error:  # a model's client may raise anything
            self._attempts.failed(work, error)
            told = mask(self._attempts.reason(work) or f"{type(error).__name__}: {error}")
            # Without its cause, which may hold the secret that is masked here.
            raise ProviderAnswer(told) from None
        self._attempts.succeeded(work)
        return made


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
