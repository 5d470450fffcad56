"""The Recall page on an empty, a normal and a broken folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from eval.dataset import read_native
from eval.recall import measured, older_than, questions, report
from eval.replay import replay
from eval.runs import Run
from tests.app.conftest import HOSTILE, conversation, day

Open = Callable[..., AppTest]
Texts = Callable[[AppTest], str]


def frames(app: AppTest, column: str) -> list[pd.DataFrame]:
    """The tables on the page that have a column."""
    return [one.value for one in app.dataframe if column in one.value]


def test_an_empty_folder_says_what_to_do(open_page: Open, empty_runs: Path, texts: Texts) -> None:
    app = open_page("recall", empty_runs)
    assert "There is no finished run yet" in texts(app)
    assert app.page_link[0].label == "Go to Runs"


def test_broken_runs_alone_are_named(open_page: Open, odd_runs: Path, texts: Texts) -> None:
    said = texts(open_page("recall", odd_runs, run="older"))
    assert "There is no finished run yet" in said
    assert "older: format: written by an older version" in said
    assert "unfinished: unfinished: 1 of 2 conversations" in said


def test_the_first_line_answers_in_words(open_page: Open, normal_runs: Path, texts: Texts) -> None:
    app = open_page("recall", normal_runs, run="small-first-search")
    old = report(Run(normal_runs / "small-first-search"))["old"]
    assert old["count"] == 4
    said = texts(app)
    assert f"of answers 12 days or older reached the prompt ({old['some_hits']} of 4)" in said
    assert "95% interval" in said
    assert "With only 4 such questions the interval is wide" in said


def test_the_address_names_run_days_and_ages(open_page: Open, normal_runs: Path) -> None:
    app = open_page("recall", normal_runs, run="small-no-search", days=5, ages="all")
    assert app.selectbox[0].value == "small-no-search"
    assert app.number_input[0].value == 5
    assert app.query_params["days"] == "5"
    assert app.query_params["ages"] == "all"
    app.number_input[0].set_value(20)
    app.run()
    assert app.query_params["days"] == "20"


@pytest.mark.parametrize(("given", "used"), [("x", 12), ("-3", 1), ("99999999", 3650), ("", 12)])
def test_odd_days_in_the_address_are_brought_within_bounds(
    open_page: Open, normal_runs: Path, given: str, used: int
) -> None:
    assert open_page("recall", normal_runs, days=given).number_input[0].value == used


def test_without_an_address_the_best_run_is_shown(open_page: Open, normal_runs: Path) -> None:
    app = open_page("recall", normal_runs)
    assert app.query_params["run"] == "small-first-search"


def test_a_run_that_cannot_be_opened_is_named_until_another_is_chosen(
    open_page: Open, tmp_path: Path, normal_runs: Path, odd_runs: Path, texts: Texts
) -> None:
    shutil.copytree(normal_runs / "small-no-search", odd_runs / "small-no-search")
    app = open_page("recall", odd_runs, run="older")
    assert "The run in the address cannot be opened" in texts(app)
    assert app.query_params["run"] == "older"
    app.selectbox[0].set_value("small-no-search").run()
    assert app.query_params["run"] == "small-no-search"


def test_tables_that_cannot_be_read_are_said(
    open_page: Open, tmp_path: Path, normal_runs: Path, texts: Texts
) -> None:
    run = tmp_path / "broken-tables"
    shutil.copytree(normal_runs / "small-first-search", run)
    (run / "questions.parquet").write_bytes(b"nothing of the kind")
    said = texts(open_page("recall", tmp_path))
    assert "The tables of this run cannot be read" in said
    assert "replay again" in said


def test_a_broken_neighbour_is_left_out(
    open_page: Open, tmp_path: Path, normal_runs: Path, texts: Texts
) -> None:
    for name in ("small-first-search", "small-no-search"):
        shutil.copytree(normal_runs / name, tmp_path / name)
    (tmp_path / "small-no-search" / "questions.parquet").write_bytes(b"nothing of the kind")
    said = texts(open_page("recall", tmp_path, run="small-first-search"))
    assert "is left out" in said
    assert "reached the prompt" in said


def test_the_arms_stand_side_by_side(open_page: Open, normal_runs: Path) -> None:
    app = open_page("recall", normal_runs, run="small-no-search")
    (arms,) = frames(app, "Arm")
    assert list(arms["Arm"]) == ["first-search", "no-search", "full-context (yardstick)"]
    link = parse_qs(urlsplit(arms["Recall"].iloc[2]).query)
    assert link == {"run": ["small-full-context"], "days": ["12"]}


def test_every_lost_answer_leads_to_its_turn(open_page: Open, normal_runs: Path) -> None:
    app = open_page("recall", normal_runs, run="small-no-search")
    lost = pd.concat(frames(app, "Why"))
    asked = older_than(questions(Run(normal_runs / "small-no-search")))
    assert len(lost) == int((~asked["all"]).sum()) > 0
    turns = {(row.conversation, str(row.turn)): row.text for row in asked.itertuples()}
    for row in lost.to_dict(orient="records"):
        address = urlsplit(row["Turn"])
        view = {name: values[0] for name, values in parse_qs(address.query).items()}
        assert address.path == "/turn"
        assert view["run"] == "small-no-search"
        assert turns[view["conversation"], view["turn"]] == row["Question"]


def test_what_people_said_is_shown_as_it_is(
    open_page: Open, normal_runs: Path, texts: Texts
) -> None:
    app = open_page("recall", normal_runs, run="small-no-search")
    lost = pd.concat(frames(app, "Why")).set_index("Question")
    assert lost.loc[HOSTILE, "Answer"] == "<i>no</i>"
    assert HOSTILE not in texts(app)  # only ever in tables, which interpret nothing


def test_tables_by_language_kind_and_wording(open_page: Open, normal_runs: Path) -> None:
    app = open_page("recall", normal_runs, run="small-first-search")
    (language,) = frames(app, "Language")[-1:]
    assert list(language["Language"]) == ["en", "ru"]
    assert list(language["count"]) == [2, 2]
    (wording,) = frames(app, "Question worded unlike its answer")
    assert list(wording["count"]) == [2, 2]
    everything = open_page("recall", normal_runs, run="small-first-search", ages="all")
    (kinds,) = frames(everything, "Kind of question")
    assert dict(zip(kinds["Kind of question"], kinds["count"], strict=True)) == {
        "fresh": 1,
        "single": 4,
    }


def test_no_old_answer_is_said_in_words(open_page: Open, normal_runs: Path, texts: Texts) -> None:
    said = texts(open_page("recall", normal_runs, run="small-first-search", days=400))
    assert "No question of this run has an answer 400 days or older" in said
    assert "The oldest answer is 31 days old" in said
    assert "There is no question to count here" in said


def test_nothing_lost_is_said_in_words(open_page: Open, normal_runs: Path, texts: Texts) -> None:
    said = texts(open_page("recall", normal_runs, run="small-full-context"))
    assert "No answer was lost here" in said


def test_a_run_without_evidence_is_said_in_words(
    open_page: Open, tmp_path: Path, texts: Texts
) -> None:
    file = tmp_path / "plain.jsonl"
    question = {"text": "What did I say?", "asked_at": day(9)}
    file.write_text(conversation("ann", "en", ["Hello there."], [question]), encoding="utf-8")
    replay(read_native(file), tmp_path / "runs", name="plain")
    app = open_page("recall", tmp_path / "runs")
    assert measured(questions(Run(tmp_path / "runs" / "plain"))).empty
    assert "There is nothing to measure in this run" in texts(app)
    assert app.page_link[0].proto.query_string == "run=plain"


def test_everything_can_be_downloaded(open_page: Open, normal_runs: Path) -> None:
    app = open_page("recall", normal_runs, run="small-no-search")
    labels = [button.label for button in app.download_button]
    assert labels.count("Figure (HTML)") == 5
    assert labels.count("Table (CSV)") == 5
    assert "All lost answers (CSV)" in labels
    assert "Everything measured (JSON)" in labels


def test_what_to_try_follows_the_way_of_searching(
    open_page: Open, tmp_path: Path, dataset_file: Path, texts: Texts
) -> None:
    changes = {"search_mode": "semantic", "provider": "tfidf", "search_depth": 1}
    replay(read_native(dataset_file), tmp_path, name="meant", changes=changes)
    said = texts(open_page("recall", tmp_path))
    assert "try a higher `search_depth`" in said
    assert "The search matches words" not in said
