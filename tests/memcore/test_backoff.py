"""How long a failing model is left in peace, and by which work."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memcore.backoff import FIRST_PASS, LONGEST_PASS, MOST_ASKED, Attempts, Backoff
from memcore.errors import (
    InvalidInput,
    MissingPackage,
    ProviderAnswer,
    ProviderRefused,
    ProviderUnavailable,
)
from memcore.testing import SettableClock
from tests.support import START


def later(clock: SettableClock, seconds: float) -> None:
    clock.advance(timedelta(seconds=seconds))


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(START)


DOWN = (
    ProviderUnavailable("down"),
    ProviderRefused("no such model"),
    MissingPackage("openai", "m"),
    TimeoutError("slow"),
)


@pytest.mark.parametrize("error", DOWN)
def test_a_provider_that_fails_is_asked_for_nothing(clock: SettableClock, error: Exception) -> None:
    attempts = Attempts(clock)
    attempts.failed("one", error)
    for work in ("one", "other"):
        assert str(error) in attempts.reason(work)
        assert "not asked again before 2026-03-02T09:01:00+00:00" in attempts.reason(work)
    assert (attempts.unfinished("one"), attempts.unfinished("other")) == (True, False)
    later(clock, FIRST_PASS)
    assert attempts.reason("one") == attempts.reason("other") == ""
    assert attempts.unfinished("one")


@pytest.mark.parametrize("error", [ProviderAnswer("no JSON"), InvalidInput("x"), KeyError("x")])
def test_an_answer_of_no_use_delays_only_its_own_work(
    clock: SettableClock, error: Exception
) -> None:
    attempts = Attempts(clock)
    attempts.failed("one", error)
    assert attempts.reason("one")
    assert attempts.reason("other") == ""
    attempts.succeeded("other")
    assert attempts.reason("one")


def test_pauses_double_to_an_hour_and_begin_anew_after_a_success(clock: SettableClock) -> None:
    attempts = Attempts(clock)
    pause = FIRST_PASS
    for _ in range(9):
        attempts.failed("one", DOWN[0])
        later(clock, pause - 0.001)
        assert attempts.reason("one")
        later(clock, 0.001)
        assert attempts.reason("one") == ""
        pause = min(2 * pause, LONGEST_PASS)
    assert pause == LONGEST_PASS
    attempts.succeeded("one")
    assert not attempts.unfinished("one")
    attempts.failed("one", DOWN[0])
    later(clock, FIRST_PASS)
    assert attempts.reason("one") == ""


@pytest.mark.parametrize(
    ("asked", "paused"), [(0.0, FIRST_PASS), (500.0, 500.0), (1e300, MOST_ASKED)]
)
def test_what_the_provider_asks_is_kept_to_within_bounds(
    clock: SettableClock, asked: float, paused: float
) -> None:
    attempts = Attempts(clock)
    attempts.failed("one", ProviderUnavailable("busy", asked))
    later(clock, paused - 0.001)
    assert attempts.reason("one")
    later(clock, 0.001)
    assert attempts.reason("one") == ""


def test_an_absurd_time_to_wait_raises_nothing(clock: SettableClock) -> None:
    backoff = Backoff(clock)
    backoff.failed(ProviderUnavailable("busy", 1e300))
    assert "2026-03-03T09:00:00" in backoff.reason()


def test_works_that_failed_long_ago_are_forgotten(clock: SettableClock) -> None:
    attempts = Attempts(clock)
    for number in range(1_500):
        attempts.failed(number, ProviderAnswer("no JSON"))
    assert not attempts.unfinished(0)
    assert attempts.unfinished(1_499)


def test_a_text_at_which_the_provider_fails_each_time_hardly_delays_the_others(
    clock: SettableClock,
) -> None:
    attempts = Attempts(clock)
    tried = 0
    for _ in range(120):
        if not attempts.reason("poison"):
            tried += 1
            attempts.failed("poison", ProviderRefused("the prompt does not fit"))
        later(clock, FIRST_PASS)
        assert attempts.reason("other") == ""
        attempts.succeeded("other")
    assert tried < 10
