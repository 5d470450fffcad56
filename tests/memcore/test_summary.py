"""A thread's summary: stored, read back, and never longer than its layer can show."""

from __future__ import annotations

import pytest

from memcore import InvalidInput, Layer, Summary
from memcore.errors import SecretFound
from tests.support import ANNA, START, memory


def longest() -> int:
    """The most characters of one line that are accepted."""
    mind, size = memory(), 2_000
    while True:
        try:
            mind.summaries.save(ANNA, Summary("t1", "x" * size, START))
        except InvalidInput:
            size -= 1
        else:
            return size


def test_every_summary_that_is_accepted_is_shown_under_the_default_settings() -> None:
    mind = memory()
    mind.summaries.save(ANNA, Summary("t1", "x" * longest(), START, ("m1",)))
    composition = mind.compose(ANNA, "t1", "What did we say about it?", "persona")
    row = composition.account.row(Layer.SUMMARY)
    assert (row.received, row.cap, row.status) == (2_000, 2_000, "ok")


def test_one_that_is_too_long_is_refused_with_its_size_and_nothing_is_written() -> None:
    mind = memory()
    mind.summaries.save(ANNA, Summary("t1", "as it was", START))
    size = longest() + 1
    with pytest.raises(InvalidInput, match=f"{size} characters and takes 2001 .* 2000"):
        mind.summaries.save(ANNA, Summary("t1", "x" * size, START))
    assert mind.summaries.get(ANNA, "t1") == Summary("t1", "as it was", START)


def test_an_empty_one_and_one_with_a_secret_are_refused() -> None:
    mind = memory()
    with pytest.raises(InvalidInput, match="empty"):
        mind.summaries.save(ANNA, Summary("t1", " \n", START))
    with pytest.raises(SecretFound):
        mind.summaries.save(ANNA, Summary("t1", "the key is AKIA" + "A1B2" * 4, START))
    assert mind.summaries.get(ANNA, "t1") is None
