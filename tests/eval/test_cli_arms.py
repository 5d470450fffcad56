"""`python -m eval arms`: every arm replayed, set side by side, kept and resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.arms import ARMS
from eval.arms_report import compare_arms
from eval.arms_run import replay_arms
from eval.arms_text import arms_text
from eval.dataset import ConversationRecord
from eval.replay import Progress, replay
from eval.runs import Run, inspect_run, list_runs
from memcore import MnemoscopeError
from tests.eval.conftest import Command
from tests.talks import asked, chatter, dataset, files_of, said, talk, write_dataset


def one(id: str) -> ConversationRecord:
    """A question that the policy searches, one that it does not, and one of yesterday."""
    return talk(
        [
            said("m", 0, f"The parcel of {id} has number 4711."),
            said("r", 0.01, "Noted.", "assistant"),
            *chatter(60, 1, 0.25),
        ],
        [
            asked("past", 16, "Which number did I tell you my parcel has?", ["m"]),
            asked("plain", 16.1, "Which number has my parcel?", ["m"]),
            asked("none", 16.2, "Which number did my boat have?", answerable=False),
        ],
        id=id,
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("data") / "parcels.jsonl", one("anna"), one("bo"))


def by_arm(rows: list[dict[str, Any]], **which: str) -> dict[str, dict[str, Any]]:
    kept = [row for row in rows if all(row[name] == value for name, value in which.items())]
    return {row["arm"]: row for row in kept}


def test_every_arm_is_replayed_and_measured(command: Command, file: Path, tmp_path: Path) -> None:
    status, out, err = command(
        "arms", file, "--set", "window_cap=600", "--out", tmp_path, "--name", "p", "--json"
    )  # fmt: skip
    assert status == 0, err
    told = json.loads(out)
    assert [row["arm"] for row in told["arms"]] == list(ARMS)
    assert {info.name for info in list_runs(tmp_path)} == {f"p-{arm}" for arm in ARMS}
    assert told["kept"] == {f"p-{arm}": False for arm in ARMS}
    arms = by_arm(told["arms"])
    hits = {arm: row["some_hits"] for arm, row in arms.items()}
    assert hits == {
        "first-search": 4, "tool-only": 2, "tool-always": 4, "no-search": 0, "no-summary": 4,
        "no-notes": 4, "no-window": 4, "grep": 4, "full-context": 4,
    }  # fmt: skip
    assert all(row["count"] == 4 and row["questions"] == 6 for row in arms.values())
    assert (arms["tool-only"]["searched"], arms["tool-always"]["searched"]) == (4, 6)
    assert arms["full-context"]["per_turn"] is None
    assert arms["tool-always"]["per_turn"] > arms["no-search"]["per_turn"]
    assert arms["tool-only"]["per_question"] == pytest.approx(
        arms["no-search"]["per_question"] + arms["tool-only"]["tools_per_question"], abs=0.11
    )
    assert by_arm(told["layers"])["tool-only"]["layer"] == "tools"
    paired = by_arm(told["paired"], measure="some")
    assert "first-search" not in paired
    assert (paired["no-search"]["gained"], paired["no-search"]["lost"]) == (0, 4)
    assert paired["no-search"]["p"] == pytest.approx(0.125)
    assert paired["no-search"]["difference"] == -1
    assert paired["grep"]["p"] == 1
    assert told["answers"] == []


def test_what_is_complete_is_kept_and_what_is_not_is_gone_on_with(
    command: Command, file: Path, tmp_path: Path
) -> None:
    def stop(_: str, progress: Progress) -> None:
        if progress.conversation == "bo":
            raise KeyboardInterrupt

    data = dataset(one("anna"), one("bo"))
    with pytest.raises(KeyboardInterrupt):
        replay_arms(data, tmp_path, ["no-search"], prefix="p", on_progress=stop)
    assert inspect_run(tmp_path / "p-no-search").problem.startswith("unfinished: 1 of 2")
    status, out, err = command(
        "arms", file, "--arms", "no-search,grep", "--out", tmp_path, "--name", "p", "--json"
    )
    assert status == 0, err
    assert json.loads(out)["kept"] == {"p-no-search": False, "p-grep": False}
    before = files_of(tmp_path)
    status, out, _ = command(
        "arms", file, "--arms", "grep,no-search", "--out", tmp_path, "--name", "p"
    )
    assert status == 0
    assert files_of(tmp_path) == before
    assert "grep (yardstick)" in out
    assert "McNemar" not in out, "there is no first search to compare with"


def test_a_run_of_other_input_is_not_taken_for_this_one(
    command: Command, file: Path, tmp_path: Path
) -> None:
    given = ("arms", file, "--arms", "no-search", "--out", tmp_path)
    assert command(*given, "--name", "p")[0] == 0
    status, _, err = command(*given, "--name", "p", "--set", "ceiling=5000")
    assert status == 2
    assert "run p-no-search is complete already, with other settings; give another --name" in err
    assert command(*given)[0] == 0
    assert command(*given, "--set", "ceiling=5000")[0] == 0
    assert len(list_runs(tmp_path)) == 3, "without a name, other settings make other runs"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arms", "magic"], "there is no arm 'magic'; there are first-search, tool-only"),
        (["--name", "../x"], "is no name for a run"),
        (["--judge", "openai:m@http://127.0.0.1:1/v1"], "a judge was given and no brain"),
        (["--brain", "gpt"], "no brain is named 'gpt' so; known: openai:MODEL@BASE URL"),
        (["--days", "0"], "must be at least 1"),
        (["--set", "x"], "a setting is given as name=value"),
    ],
)
def test_an_error_is_one_message_and_nothing_is_written(
    command: Command, file: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    status, out, err = command("arms", file, "--out", tmp_path / "runs", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("error:") == 1
    assert not list_runs(tmp_path / "runs")


def test_runs_of_different_data_are_not_compared(tmp_path: Path) -> None:
    runs = [
        replay(dataset(one(id)), tmp_path, name=id) for id in ("anna", "bo")
    ]  # fmt: skip
    with pytest.raises(MnemoscopeError, match="of different data and cannot be compared: anna, bo"):
        compare_arms(runs)


def test_no_question_at_all_is_reported_without_a_fault(tmp_path: Path) -> None:
    data = dataset(talk([said("m", 0, "Good morning.")]))
    made: list[Run] = [kept.run for kept in replay_arms(data, tmp_path, list(ARMS))]
    report = compare_arms(made)
    assert set(report.arms["count"]) == {0}
    assert json.dumps(report.plain(), allow_nan=False)
    assert "– (0 of 0)" in arms_text(report)
