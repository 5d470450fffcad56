"""What is promised on real data; skipped where the data is not there.

Two tests only, since each replays 2,760 messages.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.dataset import Dataset
from eval.loaders import load
from eval.recall import report
from eval.replay import replay


@pytest.fixture
def locomo(shared_data: Path) -> Dataset:
    """LoCoMo's development part."""
    path = shared_data / "locomo" / "locomo_dev.json"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return load(path)


def test_the_first_search_reaches_old_answers_of_locomo_within_its_caps(
    locomo: Dataset, tmp_path: Path
) -> None:
    run = replay(locomo, tmp_path)
    assert run.manifest["counts"] == {"conversations": 5, "messages": 2_760, "questions": 999}
    assert len(run.table("questions")) == 999
    old = report(run)["old"]
    assert old["count"] > 600
    assert old["some_value"] >= 0.75
    assert old["all_value"] >= 0.62

    excerpts = run.query("SELECT received, kept FROM {layers} WHERE layer = 'excerpts'")
    assert len(excerpts) == run.manifest["results"]["turns"]
    assert excerpts["received"].max() <= 2_000
    assert excerpts["kept"].max() == 4
    assert run.manifest["results"]["failed_layers"] == 0


def test_without_the_search_hardly_an_old_answer_of_locomo_is_reached(
    locomo: Dataset, tmp_path: Path
) -> None:
    old = report(replay(locomo, tmp_path, arm="no-search"))["old"]
    assert old["count"] > 600
    assert old["some_value"] < 0.05
