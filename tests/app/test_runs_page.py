"""The Runs page on an empty, a normal and a broken folder, and a replay started from it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from eval.calibration import Calibration, calibrate
from eval.calibration_records import record_of, save_record
from eval.dataset import read_native
from eval.replay import Progress, replay
from eval.runs import Run, list_runs
from eval.score_column import ScoreColumn
from memcore import ProviderIdentity
from pages.shared import replays
from pages.shared.workbench import escaped
from tests.eval.columns import column, normal

Open = Callable[..., AppTest]
Texts = Callable[[AppTest], str]


def table(app: AppTest) -> pd.DataFrame:
    """The table of runs."""
    return next(one.value for one in app.dataframe if "Old answers reached" in one.value)


def wait_for_replay(app: AppTest) -> None:
    """Runs the page again until the replay it started is over."""
    job = app.session_state["replay_job"]
    job.wait(60)
    assert not job.active
    app.run()
    assert not app.exception


def test_an_empty_folder_says_what_to_do(open_page: Open, empty_runs: Path, texts: Texts) -> None:
    app = open_page("runs", empty_runs)
    assert "There is no run yet" in texts(app)
    assert "Replay a dataset below" in texts(app)
    assert app.expander[0].proto.expanded  # the form stands open
    assert not empty_runs.exists()


def test_the_best_run_is_named_in_the_first_line(
    open_page: Open, normal_runs: Path, texts: Texts
) -> None:
    app = open_page("runs", normal_runs)
    first = app.markdown[0].value if app.markdown[0].value.startswith("#") else texts(app)
    assert "Best so far on small: **first\\-search**" in first
    assert "of answers 12 days or older reached, at" in first
    assert "characters a turn" in first
    assert "yardstick full\\-context" in texts(app)


def test_the_table_has_every_run_with_its_numbers(open_page: Open, normal_runs: Path) -> None:
    shown = table(open_page("runs", normal_runs))
    assert list(shown["Run"]) == ["small-full-context", "small-first-search", "small-no-search"]
    marks = dict(zip(shown["Run"], shown[""], strict=True))
    assert marks["small-first-search"] == "★ best"
    assert marks["small-full-context"] == "newest"  # and never best: it is a yardstick
    results = Run(normal_runs / "small-first-search").manifest["results"]
    row = shown.set_index("Run").loc["small-first-search"]
    old = results["old_answers_some"]
    assert row["Old answers reached"] == pytest.approx(100 * old["value"])
    assert row["95% interval"].endswith(f"({old['hits']} of {old['count']})")
    assert row["Characters a turn"] == f"{results['characters_per_turn']:,.0f}"
    assert row["Questions / turns"] == f"6 / {results['turns']}"
    assert row["Errors"] == "none"
    assert row["Provider"] == "none · lexical"
    assert row["State"] == "complete"


def test_the_address_chooses_a_run_and_links_on(open_page: Open, normal_runs: Path) -> None:
    app = open_page("runs", normal_runs, run="small-no-search")
    assert app.query_params["run"] == "small-no-search"
    links = [link.proto.query_string for link in app.page_link]
    assert links == ["run=small-no-search", "run=small-no-search"]


def test_without_an_address_the_best_run_is_chosen(open_page: Open, normal_runs: Path) -> None:
    assert open_page("runs", normal_runs).query_params["run"] == "small-first-search"


def test_an_unknown_run_in_the_address_is_said(
    open_page: Open, normal_runs: Path, texts: Texts
) -> None:
    app = open_page("runs", normal_runs, run="<b>gone</b>")
    assert "not in this folder" in app.warning[0].value
    assert "<b>gone</b>" in [code.value for code in app.code]
    assert app.query_params["run"] == "small-first-search"


@pytest.mark.parametrize(
    ("run", "state", "says"),
    [
        ("older", "old format: replay again", "An older version of Mnemoscope wrote this run"),
        ("damaged", "damaged: replay again", "missing or broken"),
        ("no-json", "damaged: replay again", "missing or broken"),
        ("unfinished", "unfinished: resume it", "was interrupted, so it is no result"),
    ],
)
def test_a_run_that_cannot_be_used_is_named_with_what_to_do(
    open_page: Open, odd_runs: Path, texts: Texts, run: str, state: str, says: str
) -> None:
    app = open_page("runs", odd_runs, run=run)
    row = table(app).set_index("Run").loc[run]
    assert row["State"] == state
    assert pd.isna(row["Old answers reached"])
    assert says in texts(app)
    assert "No finished run has measured an old answer yet" in texts(app)
    assert not app.page_link


def test_odd_manifests_do_not_stop_the_page(open_page: Open, tmp_path: Path) -> None:
    for name, text in {
        "list": "[1, 2]",
        "null": "null",
        "nested": json.dumps({"format": 0, "dataset": [], "arm": {}, "settings": 3}),
        "newer": json.dumps({"format": 99, "changed_settings": "x", "started": 7}),
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(text, encoding="utf-8")
    shown = table(open_page("runs", tmp_path)).set_index("Run")
    assert shown.loc["newer", "State"] == "newer format: update first"
    assert len(shown) == 4


def test_only_manifests_are_read(open_page: Open, tmp_path: Path, normal_runs: Path) -> None:
    """However large the tables of a run are: here they cannot be read at all."""
    run = tmp_path / "large"
    shutil.copytree(normal_runs / "small-first-search", run)
    for path in run.glob("*.parquet"):
        path.write_bytes(b"not read")
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    manifest["results"]["turns"] = 50_000
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    shown = table(open_page("runs", tmp_path))
    assert shown["Questions / turns"].iloc[0] == "6 / 50,000"


def test_the_replay_form_lists_the_settings(open_page: Open, empty_runs: Path) -> None:
    app = open_page("runs", empty_runs)
    listed = next(one.value for one in app.dataframe if "setting" in one.value)
    assert dict(zip(listed["setting"], listed["default"], strict=True))["excerpts_limit"] == "4"


def start(app: AppTest, **entered: Any) -> AppTest:
    """Fills the form in and starts."""
    if "path" in entered:
        app.text_input[0].set_value(entered["path"])
    if "settings" in entered:
        app.text_area[0].set_value(entered["settings"])
    if "limit" in entered:
        app.number_input[0].set_value(entered["limit"])
    next(button for button in app.button if button.label == "Start").click()
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def test_a_replay_ends_with_its_run_chosen(
    open_page: Open, empty_runs: Path, dataset_file: Path, texts: Texts
) -> None:
    app = open_page("runs", empty_runs)
    start(app, path=str(dataset_file), settings="excerpts_limit=6\n\nceiling = 9000", limit=1)
    wait_for_replay(app)
    (info,) = list_runs(empty_runs)
    assert info.complete
    assert info.manifest["changed_settings"] == {"ceiling": "9000", "excerpts_limit": "6"}
    assert info.manifest["limit"] == 1
    assert app.query_params["run"] == info.name
    assert "The replay is finished" in texts(app)
    assert info.name in [one.value for one in app.text]


def test_a_refused_dataset_shows_all_faults_and_loses_nothing(
    open_page: Open, empty_runs: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "threads": []}\n' * 70, encoding="utf-8")
    app = start(open_page("runs", empty_runs), path=str(bad), settings="excerpts_limit=6")
    wait_for_replay(app)
    faults = next(one.value for one in app.dataframe if "Reason" in one.value)
    assert len(faults) == 70  # the message alone would stop at 50
    assert "70 faults" in app.error[0].value
    assert app.text_input[0].value == str(bad)
    assert app.text_area[0].value == "excerpts_limit=6"
    assert app.expander[0].proto.expanded


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("excerpts_limit", "a setting is given as name=value"),
        ("no_such=1", "unknown setting no_such"),
        ("excerpts_limit=many", "excerpts_limit"),
    ],
)
def test_settings_that_are_refused_are_said_whole(
    open_page: Open, empty_runs: Path, dataset_file: Path, texts: Texts, settings: str, says: str
) -> None:
    app = start(open_page("runs", empty_runs), path=str(dataset_file), settings=settings)
    if "replay_job" in app.session_state:
        wait_for_replay(app)
    assert says in texts(app)
    assert app.text_area[0].value == settings
    assert not list_runs(empty_runs)


def test_an_unfinished_run_is_resumed(open_page: Open, odd_runs: Path, texts: Texts) -> None:
    app = open_page("runs", odd_runs, run="unfinished")
    next(button for button in app.button if button.label == "Resume").click()
    app.run()
    wait_for_replay(app)
    assert table(app).set_index("Run").loc["unfinished", "State"] == "complete"
    assert app.query_params["run"] == "unfinished"


def test_a_run_by_meaning_is_shown_with_its_provider(
    open_page: Open, tmp_path: Path, dataset_file: Path, texts: Texts
) -> None:
    changes = {"search_mode": "hybrid", "provider": "tfidf", "excerpts_limit": 5}
    replay(read_native(dataset_file), tmp_path, name="meant", changes=changes)
    path = tmp_path / "meant" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["results"]["provider_errors"] = 12
    path.write_text(json.dumps(manifest), encoding="utf-8")
    app = open_page("runs", tmp_path)
    row = table(app).iloc[0]
    assert row["Provider"] == "tfidf · hybrid"
    assert row["Changed settings"] == "excerpts_limit=5"
    assert row["Errors"] == "12 turns without the provider"
    assert "tfidf \\(hybrid search\\)" in texts(app)
    assert "tfidf:tfidf 1, 512 wide" in texts(app)
    assert not app.warning


def test_an_inconclusive_run_is_told_as_such(
    open_page: Open, tmp_path: Path, dataset_file: Path
) -> None:
    replay(read_native(dataset_file), tmp_path, name="failed")
    path = tmp_path / "failed" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["results"]["failures"] = {"turns that the embedding provider failed": 3}
    manifest["results"]["provider_errors"] = 3
    path.write_text(json.dumps(manifest), encoding="utf-8")
    app = open_page("runs", tmp_path)
    told = "inconclusive: 3 turns that the embedding provider failed"
    assert table(app).iloc[0]["Errors"] == told
    assert app.warning[0].value.startswith(f"This run is {escaped(told)}")


def test_a_replay_by_meaning_is_started_from_the_form(
    open_page: Open, empty_runs: Path, dataset_file: Path
) -> None:
    app = open_page("runs", empty_runs)
    app.selectbox(key="replay_mode").select("hybrid")
    app.selectbox(key="replay_provider").select("tfidf")
    start(app, path=str(dataset_file), limit=1)
    wait_for_replay(app)
    (info,) = list_runs(empty_runs)
    assert info.complete
    assert info.manifest["changed_settings"] == {"provider": "tfidf", "search_mode": "hybrid"}
    assert info.manifest["provider"]["name"] == "tfidf"


def test_a_search_by_meaning_without_a_provider_is_refused(
    open_page: Open, empty_runs: Path, dataset_file: Path
) -> None:
    app = open_page("runs", empty_runs)
    app.selectbox(key="replay_mode").select("semantic")
    start(app, path=str(dataset_file))
    assert "takes a provider" in app.error[0].value
    assert app.text_input[0].value == str(dataset_file)
    assert not list_runs(empty_runs)


def calibrated() -> Calibration:
    return calibrate(
        ScoreColumn(
            "made up", column(normal(0.8, 0.05, 400), normal(0.4, 0.1, 4_000, 1), 10).frame,
            "0" * 64, "group", ProviderIdentity("packaged", "use", "1", 512), "message",
        )
    )  # fmt: skip


def test_a_replay_does_not_begin_without_the_cutoffs_that_were_ticked(
    open_page: Open, tmp_path: Path, dataset_file: Path
) -> None:
    save_record(record_of(calibrated()), tmp_path / "cutoffs.json")
    app = open_page("runs", tmp_path)
    app.checkbox(key="replay_cutoffs").check()
    (tmp_path / "cutoffs.json").unlink()
    start(app, path=str(dataset_file), limit=1)
    said = [one.value for one in (*app.error, *app.markdown, *app.caption, *app.code)]
    assert any("that were ticked are gone" in one for one in said), said
    assert list_runs(tmp_path) == []


def test_saved_cutoffs_are_used_where_they_are_wanted(
    open_page: Open, tmp_path: Path, dataset_file: Path
) -> None:
    made = calibrated()
    app = open_page("runs", tmp_path)
    assert not app.checkbox
    save_record(record_of(made), tmp_path / "cutoffs.json")
    app.run()
    assert app.checkbox(key="replay_cutoffs").label == "Use saved cutoffs (1)"
    assert not app.checkbox(key="replay_cutoffs").value
    app.checkbox(key="replay_cutoffs").check()
    start(app, path=str(dataset_file), limit=1)
    wait_for_replay(app)
    (info,) = list_runs(tmp_path)
    (used,) = info.manifest["settings"]["cutoffs"]
    assert used["cutoff"] == made.recommended
    assert used["kind"] == "message"


def test_broken_saved_cutoffs_are_said_in_the_form(open_page: Open, tmp_path: Path) -> None:
    (tmp_path / "cutoffs.json").write_text("{", encoding="utf-8")
    app = open_page("runs", tmp_path)
    assert "The saved cutoffs cannot be read" in app.warning[0].value
    assert not app.checkbox


def test_the_texts_embedded_are_a_part_of_the_progress() -> None:
    embedding = Progress(10, 50, "marina_x", 2.0, 120, 1_580)
    said = replays._in_words(embedding)
    assert said.startswith(
        "embedding 120 of 1,580 texts of conversation marina\\_x; 10 of 50 turns"
    )
    assert replays._in_words(Progress(10, 50, "m", 2.0)) == "10 of 50 turns, about 8 s left"
