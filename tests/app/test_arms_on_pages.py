"""Runs of every arm, opened on the pages: what the tool and grep reached or lost has its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from eval.arms import ARMS
from eval.replay import replay
from tests.small_run import SETTINGS, dataset

Open = Callable[..., AppTest]
FIRST_QUESTION, QUESTIONS = 20, 8
OTHERS = [arm for arm in ARMS if arm not in ("first-search", "full-context", "no-search")]


@pytest.fixture(scope="module")
def arm_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for arm in OTHERS:
        replay(dataset(), folder, arm=arm, name=arm, changes=SETTINGS)
    return folder


@pytest.mark.parametrize("arm", OTHERS)
def test_the_recall_page_shows_a_run_of_every_arm(
    open_page: Open, arm_runs: Path, arm: str
) -> None:
    page = open_page("recall", arm_runs, run=arm, ages="all")
    assert not page.exception


@pytest.mark.parametrize("arm", ["tool-only", "tool-always", "grep"])
@pytest.mark.parametrize("question", range(QUESTIONS))
def test_the_turn_page_shows_every_question_of_it(
    open_page: Open, arm_runs: Path, arm: str, question: int
) -> None:
    turn = str(FIRST_QUESTION + question)
    page = open_page("turn", arm_runs, run=arm, conversation="nina", turn=turn)
    assert not page.exception
    assert "nina" in str(page.query_params)


def test_the_list_of_runs_names_them(
    open_page: Open, arm_runs: Path, texts: Callable[[AppTest], str]
) -> None:
    page = open_page("runs", arm_runs)
    assert set(page.dataframe[0].value["Arm"]) == set(OTHERS)
    said = texts(page)
    assert "The yardstick grep, a plain substring search in the search’s place, reaches" in said
    assert "everything said so far" not in said
