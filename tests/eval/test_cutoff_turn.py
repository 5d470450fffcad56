"""A turn with a cutoff that somebody tries, and what meaning could do for a turn in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.cutoff_turn import by_meaning, made_by, tried
from eval.meaning import degraded, meant
from eval.runs import Run, list_runs
from eval.turns import MemoryAt, TurnView, load_turn, memory_at
from memcore import InvalidInput, Layer, ProviderIdentity, Reason
from tests.small_run import make_run

UNFOUND = 21


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder, "words")
    make_run(folder, "meant", search_mode="semantic", provider="tfidf")
    return folder


@pytest.fixture(scope="module")
def asked(runs: Path) -> tuple[TurnView, MemoryAt, ProviderIdentity]:
    run = Run(runs / "meant")
    at = memory_at(run, "nina", UNFOUND)
    vectors = at.compose({})[0].account.vectors
    assert vectors is not None
    assert vectors.identity is not None
    return load_turn(run, "nina", UNFOUND), at, vectors.identity


def test_only_runs_by_meaning_can_be_tried(runs: Path) -> None:
    (info,) = by_meaning(list_runs(runs))
    assert info.name == "meant"
    assert made_by(info, ProviderIdentity("tfidf", "tfidf", "1", 512))
    assert not made_by(info, ProviderIdentity("tfidf", "tfidf", "2", 512))
    assert not made_by(info, None)


def test_a_high_cutoff_drops_all_excerpts_and_a_low_one_none(
    asked: tuple[TurnView, MemoryAt, ProviderIdentity],
) -> None:
    view, at, identity = asked
    high, low = (tried(view, at, identity, "message", cutoff) for cutoff in (0.999, -1.0))
    assert high.held.layer(Layer.EXCERPTS)["kept"] == 0
    assert high.without.layer(Layer.EXCERPTS)["kept"] > 0
    assert high.below == sum(one.reason is Reason.BELOW_CUTOFF for one in high.held.offered)
    assert low.below == 0
    assert low.held.system == low.without.system


def test_notes_below_the_cutoff_stay(asked: tuple[TurnView, MemoryAt, ProviderIdentity]) -> None:
    view, at, identity = asked
    both = tried(view, at, identity, "note", 0.999)
    assert both.below > 0
    assert both.held.layer(Layer.NOTES)["kept"] == both.without.layer(Layer.NOTES)["kept"]


def test_scores_of_another_provider_are_refused(
    asked: tuple[TurnView, MemoryAt, ProviderIdentity],
) -> None:
    view, at, identity = asked
    with pytest.raises(InvalidInput, match=f"is of {identity}, not packaged:use"):
        tried(view, at, ProviderIdentity("packaged", "use", "1", 512), "message", 0.5)
    with pytest.raises(InvalidInput, match="no layer of the prompt shows facts"):
        tried(view, at, identity, "fact", 0.5)


def test_meaning_is_told_in_words(
    runs: Path, asked: tuple[TurnView, MemoryAt, ProviderIdentity]
) -> None:
    view, at, identity = asked
    assert meant(load_turn(Run(runs / "words"), "nina", UNFOUND)) is None
    found = meant(view)
    assert found is not None
    assert "cutoffs: messages not calibrated, notes not calibrated" in found.words
    assert found.error == ""
    held = meant(tried(view, at, identity, "message", 0.25).held)
    assert held is not None
    assert "messages from 0.25 on" in held.words
    assert degraded(view) == []
