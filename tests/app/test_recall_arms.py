"""The arms side by side on the Recall page, with and without a brain's answers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from eval.arms import ARMS
from eval.arms_report import compare_arms
from eval.replay import replay
from eval.runs import Run
from eval.stats import percent
from tests.brain_server import (
    OPENAI,
    BrainServer,
    Request,
    brain_server,
    calls,
    failing,
    says,
)
from tests.misbehaving_server import Answer
from tests.small_run import SETTINGS, dataset
from tests.talks import asked, chatter, said, talk
from tests.talks import dataset as made_of

Open = Callable[..., AppTest]
Texts = Callable[[AppTest], str]
UNKNOWN = "I do not know."


@pytest.fixture(scope="module")
def arm_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of every arm; not to be written to."""
    folder = tmp_path_factory.mktemp("arms")
    for arm in ARMS:
        replay(dataset(), folder, arm=arm, name=arm, changes=SETTINGS)
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BrainServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with brain_server() as running:
        yield running


def reads(request: Request) -> Answer:
    """A brain that answers from what it is sent, and a judge that compares."""
    if request.asked["model"] == "judge":
        given = json.loads(request.asked["messages"][-1]["content"])
        return says("yes" if given["gold"] in given["answer"] else "no")(request)
    sent = json.dumps(request.asked["messages"])
    return says("4711" if "4711" in sent else UNKNOWN)(request)


def searches(request: Request) -> Answer:
    """As `reads`, and calls the search tool first where it is about a locker."""
    content = request.asked["messages"][-1]["content"]
    about = isinstance(content, str) and "locker" in content.rpartition("\n\n")[2]
    if request.asked.get("tools") and about:
        return calls(("c1", "search_messages", {"query": "locker number"}))(request)
    return reads(request)


def answered(server: BrainServer, folder: Path, arm: str, judge: bool = True) -> None:
    """A run of an arm of which a brain answers two old questions."""
    url = f"{server.url}/v1"
    data = made_of(
        talk(
            [
                said("old", 0, "My locker has the number 4711."),
                *chatter(30, 1, 0.3),
                said("new", 13, "The parcel is violet."),
            ],
            [
                asked("locker", 13.1, "Which number has my locker?", ["old"], answer="4711"),
                asked("cupboard", 13.2, "What stands on my cupboard?", ["old"], answer="4711"),
            ],
        )
    )
    changes = {"window_cap": 500, "brain": f"openai:small@{url}"}
    judging = f"openai:judge@{url}" if judge else None
    replay(data, folder, arm=arm, name=arm, changes=changes, judge=judging)


def table_with(app: AppTest, *columns: str) -> pd.DataFrame:
    """The one table of the page that has these columns."""
    (found,) = [one.value for one in app.dataframe if set(columns) <= set(one.value)]
    return found


def test_the_arms_are_told_in_one_sentence(open_page: Open, arm_runs: Path, texts: Texts) -> None:
    report = compare_arms([Run(arm_runs / arm) for arm in ARMS])
    shares = report.arms.set_index("arm")["some_value"].map(percent)
    words = texts(open_page("recall", arm_runs, run="no-search")).replace("\\", "")
    assert (
        f"**With answers 12 days or older: first-search reached {shares['first-search']}, "
        f"the tool alone {shares['tool-only']} (it was never called), "
        f"no search {shares['no-search']}.**"
    ) in words


def test_the_sentence_tells_only_of_the_runs_that_are_there(
    open_page: Open, arm_runs: Path, tmp_path: Path, texts: Texts
) -> None:
    for arm in ("first-search", "grep"):
        shutil.copytree(arm_runs / arm, tmp_path / arm)
    words = texts(open_page("recall", tmp_path, run="grep"))
    line = next(one for one in words.splitlines() if "With answers 12 days" in one)
    assert "first\\-search reached" in line
    assert ", grep " in line
    assert "tool" not in line
    assert "no search" not in line


def test_every_arm_has_a_row_with_its_difference_to_the_first_search(
    open_page: Open, arm_runs: Path
) -> None:
    app = open_page("recall", arm_runs, run="no-notes")
    table = table_with(app, "Arm", "Gained / lost").set_index("Run")
    assert list(table.index) == list(ARMS)
    assert table.loc["grep", "Arm"] == "grep (yardstick)"
    assert pd.isna(table.loc["first-search", "Difference"])
    assert table.loc["no-search", "Difference"] == "−20.0 points"
    assert table.loc["no-search", "Gained / lost"] == "+0 / −1"
    assert table.loc["no-search", "p"] == "1"
    assert table.loc["tool-always", "Tool used"] == "8 of 8"
    assert set(table["Changed settings"]) == {"excerpts_limit=2, window_cap=600"}
    link = parse_qs(urlsplit(table.loc["grep", "Recall"]).query)
    assert link == {"run": ["grep"], "days": ["12"]}
    assert "Verdict" not in table
    assert [one.value for one in app.warning] == []


def test_the_tables_and_figures_of_the_arms_can_be_downloaded(
    open_page: Open, arm_runs: Path
) -> None:
    app = open_page("recall", arm_runs, run="first-search")
    labels = [button.label for button in app.download_button]
    assert labels.count("Figure (HTML)") == 5
    assert labels.count("Table (CSV)") == 6


def test_one_run_alone_says_what_to_run(
    open_page: Open, arm_runs: Path, tmp_path: Path, texts: Texts
) -> None:
    shutil.copytree(arm_runs / "no-search", tmp_path / "no-search")
    words = texts(open_page("recall", tmp_path))
    assert "Only **no\\-search** has been replayed" in words
    assert "`python -m eval arms DATASET` with the same settings" in words


def test_runs_of_other_settings_are_set_side_by_side_by_age_alone(
    open_page: Open, arm_runs: Path, tmp_path: Path, texts: Texts
) -> None:
    for arm in ("first-search", "no-search"):
        shutil.copytree(arm_runs / arm, tmp_path / arm)
    replay(dataset(), tmp_path, arm="tool-only", name="other")
    app = open_page("recall", tmp_path, run="first-search")
    assert list(table_with(app, "Arm", "Gained / lost")["Run"]) == ["first-search", "no-search"]
    assert "By age of the answer, runs with other settings too" in [x.label for x in app.expander]
    alone = open_page("recall", tmp_path, run="other")
    assert "Only **tool\\-only** has been replayed" in texts(alone)


def test_runs_of_the_first_conversations_alone_stay_apart(
    open_page: Open, arm_runs: Path, tmp_path: Path, texts: Texts
) -> None:
    shutil.copytree(arm_runs / "first-search", tmp_path / "first-search")
    shutil.copytree(arm_runs / "no-search", tmp_path / "no-search")
    manifest = tmp_path / "no-search" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text("utf-8")) | {"limit": 1}))
    words = texts(open_page("recall", tmp_path, run="first-search"))
    assert "Only **first\\-search** has been replayed" in words


def test_no_old_answer_compares_nothing(open_page: Open, arm_runs: Path, texts: Texts) -> None:
    words = texts(open_page("recall", arm_runs, run="first-search", days=400))
    assert "nothing to compare the arms by: choose fewer days" in words


@pytest.mark.parametrize("table", ["questions", "calls", "answers", "turns"])
def test_an_arm_with_a_broken_table_is_left_out(
    open_page: Open, arm_runs: Path, tmp_path: Path, texts: Texts, table: str
) -> None:
    for arm in ("first-search", "no-search", "tool-only"):
        shutil.copytree(arm_runs / arm, tmp_path / arm)
    (tmp_path / "tool-only" / f"{table}.parquet").write_bytes(b"nothing of the kind")
    app = open_page("recall", tmp_path, run="first-search")
    assert "cannot be read and is left out" in texts(app)
    assert list(table_with(app, "Arm", "Gained / lost")["Run"]) == ["first-search", "no-search"]


def test_an_older_format_beside_the_arms_does_no_harm(
    open_page: Open, arm_runs: Path, tmp_path: Path
) -> None:
    for arm in ("first-search", "no-search", "grep"):
        shutil.copytree(arm_runs / arm, tmp_path / arm)
    manifest = tmp_path / "grep" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text("utf-8")) | {"format": 1}))
    app = open_page("recall", tmp_path, run="first-search")
    assert list(table_with(app, "Arm", "Gained / lost")["Run"]) == ["first-search", "no-search"]


def test_answers_stand_beside_their_evidence(
    open_page: Open, server: BrainServer, tmp_path: Path, texts: Texts
) -> None:
    server.behaviour = reads
    for arm in ("first-search", "no-search"):
        answered(server, tmp_path, arm)
    server.behaviour = searches
    answered(server, tmp_path, "tool-only")
    app = open_page("recall", tmp_path, run="tool-only")
    table = table_with(app, "Arm", "Judged right").set_index("Arm")
    there = ["There, right", "There, wrong", "Not there, right", "Not there, wrong"]
    assert table.loc["tool-only", there].tolist() == [1, 0, 0, 1]
    assert table.loc["no-search", there].tolist() == [0, 0, 0, 2]
    assert table.loc["tool-only", "Judged right"] == "50%, 9–91% (1 of 2)"
    words = texts(app)
    assert "the tool alone 50% (100% where it was called, 0% where it was not)" in words
    assert "Right answers to the same questions, by the judge: first\\-search " in words
    called = table_with(app, "Search tool", "Right").set_index("Search tool")
    assert called["Right"].to_dict() == {"called": 100.0, "not called": 0.0}


def test_without_a_judge_exact_match_is_what_is_told(
    open_page: Open, server: BrainServer, tmp_path: Path, texts: Texts
) -> None:
    server.behaviour = reads
    for arm in ("first-search", "no-search"):
        answered(server, tmp_path, arm, judge=False)
    app = open_page("recall", tmp_path, run="first-search")
    assert set(table_with(app, "Arm", "Judged right")["Judged right"]) == {"no judge"}
    assert "Right answers to the same questions, by exact match" in texts(app)


def test_an_inconclusive_run_says_so_before_anything_else(
    open_page: Open, server: BrainServer, tmp_path: Path
) -> None:
    server.behaviour = reads
    answered(server, tmp_path, "no-search")
    server.script = [failing(OPENAI, 401)]
    answered(server, tmp_path, "first-search")
    app = open_page("recall", tmp_path, run="first-search")
    (top,) = (one.value for one in app.warning)
    assert top.startswith("This run is inconclusive\\: 1 answers that the brain failed")
    table = table_with(app, "Arm", "Judged right").set_index("Arm")
    assert table.loc["first-search", "Failed"] == 1
    assert table.loc["first-search", "Questions"] == 2
    assert table["Verdict"].to_dict() == {
        "first-search": "inconclusive: 1 answers that the brain failed",
        "no-search": "complete",
    }
    other = open_page("recall", tmp_path, run="no-search")
    (beside,) = (one.value for one in other.warning)
    assert beside == "**first\\-search** is inconclusive\\: 1 answers that the brain failed."
