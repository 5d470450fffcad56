"""The summary of a thread: what was said before its window, stored and read back."""

from __future__ import annotations

from memcore.composer import render
from memcore.errors import InvalidInput
from memcore.ports import Store, Transaction
from memcore.screening import refuse_secrets
from memcore.text import clean
from memcore.types import Layer, Owner, Summary

SUMMARY_SIZE = 2_000
"""The most characters a summary may have in the prompt, with its heading: what its layer asks for
by default. A longer one would be stored and never shown."""


class Summaries:
    """The summaries of every owner's threads, over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

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
