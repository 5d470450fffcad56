"""The command line: what it prints, its exit status, and one clear message for every error."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval.loaders import load
from eval.recall import report
from eval.replay import Progress, replay
from eval.runs import Run, inspect_run, list_runs
from tests.eval.conftest import Command
from tests.small_run import make_run
from tests.small_run import talk as small_talk
from tests.talks import asked, at, chatter, dataset, files_of, said, tables_of, talk, write_dataset

ROOT = Path(__file__).resolve().parents[2]
PARCEL = "Which parcel number did I give?"


def parcel_talk(id: str = "anna", question: str = "q") -> Any:
    return talk(
        [said("m", 0, "The parcel number is 4711."), *chatter(4, 1)],
        [asked(question, 12, PARCEL, ["m"]), asked("own-" + id, 13, PARCEL, ["m"])],
        id=id,
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of two conversations that share the id of a question."""
    folder = tmp_path_factory.mktemp("data")
    return write_dataset(folder / "parcels.jsonl", parcel_talk("anna"), parcel_talk("boris"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two complete runs: `parcels` and `small`. Not to be written to."""
    out = tmp_path_factory.mktemp("runs")
    replay(dataset(parcel_talk("anna"), parcel_talk("boris")), out, name="parcels")
    make_run(out)
    return out


def strict(text: str) -> dict[str, Any]:
    """The one JSON object of a text, without what JSON has not (NaN)."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    value = json.loads(text, parse_constant=refuse)
    assert isinstance(value, dict)
    return value


def process(
    *arguments: object, environment: dict[str, str | None] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """`python …` in a process of its own, with some of the environment changed or unset."""
    changed = {**os.environ, **(environment or {})}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        env={name: value for name, value in changed.items() if value is not None},
    )


# ---- what works


def test_a_dataset_is_replayed_with_the_options_of_the_issue(
    command: Command, file: Path, tmp_path: Path
) -> None:
    status, out, err = command(
        "replay", file, "--format", "auto", "--arm", "no-search", "--set", "ceiling=9000",
        "--set", "window_cap = 500", "--limit", 1, "--out", tmp_path / "runs",
    )  # fmt: skip
    assert status == 0, err
    (info,) = list_runs(tmp_path / "runs")
    assert info.complete
    manifest = info.manifest
    assert manifest["arm"] == "no-search"
    assert manifest["settings"]["ceiling"] == 9_000
    assert manifest["changed_settings"] == {"ceiling": "9000", "window_cap": "500"}
    assert manifest["counts"]["conversations"] == manifest["limit"] == 1
    assert f"run {info.name} in " in out
    assert f"next: python -m eval recall {info.name}" in out
    assert "1 conversations, 5 messages, 2 questions" in err


@pytest.mark.parametrize("arm", ["first-search", "no-search", "full-context"])
def test_replay_prints_one_json_object(
    command: Command, file: Path, tmp_path: Path, arm: str
) -> None:
    status, out, _ = command("replay", file, "--arm", arm, "--out", tmp_path, "--json")
    told = strict(out)
    assert status == 0
    assert (told["arm"], told["status"]) == (arm, "complete")
    assert Path(told["folder"]) == tmp_path / told["run"]
    assert told["results"]["old_answers_some"]["count"] == 4


def test_the_default_is_first_search_in_the_folder_of_the_environment(
    command: Command, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_RUNS", str(tmp_path / "kept"))
    assert command("replay", file)[0] == 0
    (info,) = list_runs(tmp_path / "kept")
    assert info.manifest["arm"] == "first-search"
    assert command("recall", info.name)[0] == 0
    monkeypatch.delenv("MNEMOSCOPE_RUNS")
    monkeypatch.chdir(tmp_path)
    shutil.move(tmp_path / "kept", tmp_path / "runs")
    assert command("recall", info.name)[0] == 0


def test_recall_prints_the_report(command: Command, runs: Path) -> None:
    status, out, err = command("recall", "small", "--out", runs, "--json")
    assert (status, err) == (0, "")
    assert strict(out) == report(Run(runs / "small"))
    status, out, _ = command("recall", runs / "small")
    assert status == 0
    assert out.splitlines()[0].endswith(
        "of answers 12 days or older had some evidence in the prompt,"
    )


def test_recall_counts_an_answer_of_exactly_the_days_as_old(command: Command, runs: Path) -> None:
    """12 days old to the microsecond: `q`; 13: `own-…`, in each of two conversations."""
    for days, count in ((12, 4), (13, 2), (14, 0)):
        _, out, _ = command("recall", "parcels", "--days", days, "--out", runs, "--json")
        assert strict(out)["days"] == days
        assert strict(out)["old"]["count"] == count
        _, text, _ = command("recall", "parcels", "--days", days, "--out", runs)
        assert f"of {count})" in text.splitlines()[0]
        assert f"answers {days} days or older" in text.splitlines()[0]


def test_show_prints_the_prompt_and_its_account(command: Command, runs: Path) -> None:
    status, out, err = command("show", "small", "q-quoted", "--out", runs)
    assert (status, err) == (0, "")
    headings = ("== Account, in characters ==", "== System prompt ==", "== History and message ==")
    for words in (*headings, "It IS in this prompt: excerpts.", "Что натворила кошка Муська?"):
        assert words in out


@pytest.mark.parametrize(
    "question", ["q-low", "q-quoted", "q-note", "q-window", "q-part", "q-short", "q-none"]
)
def test_show_prints_one_json_object(command: Command, runs: Path, question: str) -> None:
    status, out, _ = command("show", "small", f"nina/{question}", "--out", runs, "--json")
    told = strict(out)
    assert status == 0
    assert told["run"] == "small"
    assert told["turn"]["id"] == told["question"]["question"] == question
    assert told["turn"]["time"].startswith("2026-04-")
    assert isinstance(told["question"]["evidence"], list)
    assert [one["message"] for one in told["evidence"]] == told["question"]["evidence"]
    assert sum(layer["received"] for layer in told["layers"]) == told["turn"]["total"]
    assert told["messages"][0]["role"] == "system"
    assert all(isinstance(item["covers"], list) for item in told["items"])


def test_show_of_a_first_turn_is_json_too(command: Command, tmp_path: Path) -> None:
    one = talk([said("m", 1, "Later.")], [asked("q", 0, "Is anything known of me?")])
    replay(dataset(one), tmp_path, name="first")
    status, out, _ = command("show", "first", "q", "--out", tmp_path, "--json")
    assert status == 0
    assert strict(out)["turn"]["unchanged"] is None


def test_runs_lists_what_is_there(command: Command, runs: Path, tmp_path: Path) -> None:
    status, out, _ = command("runs", "--out", runs)
    assert status == 0
    changed = "excerpts_limit=2, window_cap=600"
    assert sorted(out.splitlines()) == [
        "parcels  100% of 4 old answers  (first-search, none: lexical)",
        f"small  40% of 5 old answers  (first-search, none: lexical, {changed})",
    ]
    status, out, _ = command("runs", "--out", runs, "--json")
    assert status == 0
    assert {one["name"] for one in strict(out)["runs"]} == {"parcels", "small"}
    assert all(one["problem"] == "" for one in strict(out)["runs"])
    status, out, _ = command("runs", "--out", tmp_path / "nowhere")
    assert (status, out.startswith("no runs in ")) == (0, True)
    assert strict(command("runs", "--out", tmp_path / "nowhere", "--json")[1]) == {"runs": []}


def test_benchmarks_print_one_json_object(
    command: Command, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.bench.NOTES", 5)
    monkeypatch.setattr("eval.bench.QUERIES", 5)
    for arguments in (
        ("compose", "--sizes", "20, 40"),
        ("replay", "--dataset", file),
        ("runs", "--turns", 30),
    ):
        status, out, err = command("bench", *arguments, "--json")
        assert status == 0, err
        told = strict(out)
        assert told.get("turns", 30) >= 10
        assert [row["messages"] for row in told.get("rows", [])] in ([], [20, 40])
    status, out, _ = command("bench", "compose", "--sizes", "20")
    assert (status, "       20  " in out) == (0, True)


def test_the_benchmark_of_the_index_has_a_row_a_size(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.bench_index.QUERIES", 3)
    status, out, err = command("bench", "index", "--sizes", "20,150", "--json")
    assert status == 0, err
    told = strict(out)
    assert [row["passages"] for row in told["rows"]] == [20, 150]
    for row in told["rows"]:
        assert row["search"]["median"] > 0
        assert row["index_microseconds"] > 0
        assert row["peak_to_vectors"] > 0
    status, out, _ = command("bench", "index", "--sizes", "20")
    assert (status, "       20  " in out) == (0, True)


# ---- resuming


class Interrupted(Exception):
    """Somebody broke it off."""


@pytest.fixture
def begun(file: Path, tmp_path: Path) -> Path:
    """An unfinished run of the file's first conversation, arm and settings not the defaults."""

    def stop(progress: Progress) -> None:
        if progress.turns > 5:
            raise Interrupted

    with pytest.raises(Interrupted):
        replay(
            load(file), tmp_path / "runs", arm="no-search", changes={"ceiling": "9000"},
            name="begun", on_progress=stop,
        )  # fmt: skip
    assert inspect_run(tmp_path / "runs" / "begun").problem.startswith("unfinished: 1 of 2")
    return tmp_path / "runs" / "begun"


@pytest.mark.parametrize("besides", [[], ["--arm", "no-search", "--set", "ceiling=9000"]])
def test_a_run_is_resumed_as_it_was_begun(
    command: Command, begun: Path, besides: list[str]
) -> None:
    status, out, err = command("replay", "--resume", "begun", "--out", begun.parent, *besides)
    assert status == 0, err
    assert "run begun in " in out
    run = Run(begun)
    assert (run.manifest["arm"], run.manifest["settings"]["ceiling"]) == ("no-search", 9_000)


def test_a_run_is_resumed_from_where_its_dataset_is_now(
    command: Command, begun: Path, file: Path, tmp_path: Path
) -> None:
    moved = Path(shutil.copy(file, tmp_path / "parcels.jsonl"))
    assert command("replay", moved, "--resume", begun)[0] == 0
    assert Run(begun).manifest["dataset"]["source"] == str(moved)


@pytest.mark.parametrize(
    ("besides", "why"),
    [
        (["--arm", "first-search"], "was begun with other arm"),
        (["--set", "ceiling=9001"], "was begun with other settings"),
        (["--limit", "1"], "was begun on other data"),
        (["--name", "other"], "give --resume or --name, not both"),
        (["shop"], "was begun on other data"),
    ],
)
def test_a_run_is_not_resumed_as_anything_else(
    command: Command, begun: Path, besides: list[str], why: str
) -> None:
    before = files_of(begun)
    status, out, err = command("replay", "--resume", begun, *besides)
    assert (status, out) == (2, "")
    assert why in err
    assert files_of(begun) == before


def test_what_is_no_unfinished_run_is_not_resumed(
    command: Command, runs: Path, begun: Path
) -> None:
    before = tables_of(runs / "small")
    status, _, err = command("replay", "--resume", "small", "--out", runs)
    assert (status, "cannot be resumed (it is complete)" in err) == (2, True)
    assert tables_of(runs / "small") == before
    (begun / "manifest.json").write_text("{", encoding="utf-8")
    status, _, err = command("replay", "--resume", begun)
    assert (status, "cannot be resumed (damaged: manifest.json" in err) == (2, True)


# ---- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["replay"], "name a dataset: a file, a folder, or a bundled one such as shop"),
        (["replay", "no-such"], "is no file or folder, and no bundled dataset; bundled are: shop"),
        (["replay", "shop", "--arm", "magic"], "there is no arm 'magic'; there are first-search"),
        (["replay", "shop", "--format", "csv"], "'csv' is no format; give auto or native"),
        (["replay", "shop", "--format", "locomo"], "not JSON"),
        (["replay", "shop", "--set", "ceiling"], "a setting is given as name=value, not 'ceiling'"),
        (["replay", "shop", "--set", "=5"], "a setting is given as name=value, not '=5'"),
        (["replay", "shop", "--set", "roof=5"], "unknown setting roof; known: agent_calls"),
        (["replay", "shop", "--set", "ceiling=lots"], "settings not accepted: ceiling"),
        (["replay", "shop", "--set", "ceiling=-1"], "settings not accepted: ceiling"),
        (["replay", "shop", "--limit", "0"], "limit must be at least 1, got 0"),
        (["replay", "shop", "--name", "a/b"], "'a/b' is no name for a run"),
        (["replay", "--resume", "none"], "no run 'none' in"),
        (["recall", "none"], "no run 'none' in"),
        (["recall", "parcels", "--days", "0"], "must be at least 1, not 0"),
        (["recall", "parcels", "--days", "-3"], "must be at least 1, not -3"),
        (["show", "none", "q"], "no run 'none' in"),
        (["show", "parcels", "nothing"], "has no question 'nothing'; see python -m eval recall"),
        (["show", "parcels", "q"], "'q' names 2 questions: anna/q, boris/q"),
        (["show", "parcels", "anna/own-boris"], "has no question 'anna/own-boris'"),
        (["bench", "speed"], "'speed'; there are compose, curator, index, replay, runs"),
        (["bench", "compose", "--sizes", "many"], "sizes are numbers from 1 on"),
        (["bench", "compose", "--sizes", "20,0"], "sizes are numbers from 1 on"),
        (["bench", "replay", "--dataset", "no-such"], "is no file or folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_an_error_is_one_message_and_exit_status_2(
    command: Command, runs: Path, arguments: list[str], message: str
) -> None:
    before = sorted(path.name for path in runs.iterdir())
    place = [] if arguments[0] == "bench" else ["--out", runs]
    status, out, err = command(*arguments, *place)
    assert status == 2
    assert out == ""
    assert err.count("error: ") == 1
    assert message in err
    assert "Traceback" not in err
    assert sorted(path.name for path in runs.iterdir()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall"],
        ["show", "parcels"],
        ["recall", "parcels", "--days", "twelve"],
        ["replay", "shop", "--limit", "few"],
        ["replay", "shop", "--no-such-option"],
        ["no-such-command"],
        ["bench", "runs", "--turns", "0"],
        [],
    ],
    ids=" ".join,
)
def test_a_wrong_use_is_exit_status_2_and_no_traceback(
    command: Command, arguments: list[str]
) -> None:
    status, _, err = command(*arguments)
    assert status == 2
    assert "Traceback" not in err


def test_every_fault_of_a_dataset_is_listed_and_nothing_is_written(
    command: Command, tmp_path: Path
) -> None:
    good = json.loads(parcel_talk().model_dump_json(exclude_defaults=True))
    early = {**good, "id": "early"}
    early["questions"] = [{**good["questions"][0], "asked_at": at(-1).isoformat()}]
    undated = {**good, "id": "undated"}
    undated["questions"] = [{"id": "q", "text": "When?"}]
    lines = [json.dumps(good), "{broken", json.dumps(early), json.dumps(undated), json.dumps(good)]
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    status, out, err = command("replay", path, "--out", tmp_path / "runs")
    assert (status, out) == (2, "")
    told = err.splitlines()
    assert told[0] == "error: the dataset has 4 faults, nothing was written:"
    assert [line.split(": ")[0].strip() for line in told[1:]] == [
        f"{path}:{n}" for n in (2, 3, 4, 5)
    ]
    assert "not JSON" in told[1]
    assert "is not after its evidence 'm'" in told[2]
    assert "questions[0].asked_at: is missing" in told[3]
    assert "'anna' is used already in line 1" in told[4]
    assert not (tmp_path / "runs").exists()


def test_an_out_folder_that_cannot_be_written_is_said(
    command: Command, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    for out in (tmp_path / "taken", tmp_path / "taken" / "below", Path("/proc/none")):
        status, text, err = command("replay", file, "--out", out)
        assert (status, text) == (2, "")
        assert "cannot be written" in err
        assert "Traceback" not in err
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "a file"


def test_a_broken_environment_is_said(
    command: Command, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_CEILING", "lots")
    status, _, err = command("replay", file, "--out", tmp_path)
    assert status == 2
    assert err.splitlines()[-1].startswith("error: environment variables MNEMOSCOPE_*: ceiling")


# ---- real processes


@pytest.fixture(scope="module")
def russian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset file whose name, like its folder's and its content, is no ASCII."""
    folder = tmp_path_factory.mktemp("данные")
    return write_dataset(folder / "Нина 🐈.jsonl", small_talk())


PLAIN = {"LANG": "C", "LC_ALL": None, "PYTHONIOENCODING": None, "PYTHONUTF8": None}
ASCII = {**PLAIN, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
COMMANDS = """
import json, sys
from eval.cli import main
for arguments in json.loads(sys.argv.pop()):
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as ended:
        print("-- ended with", ended.code or 0)
"""


@pytest.mark.parametrize("environment", [PLAIN, ASCII], ids=["LANG=C", "ASCII"])
def test_any_language_is_printed_whatever_the_terminal_knows(
    russian: Path, tmp_path: Path, environment: dict[str, str | None]
) -> None:
    out = ["--out", str(tmp_path)]
    commands = [
        ["replay", str(russian), "--name", "прогон", "--set", "window_cap=600", *out],
        ["recall", "прогон", *out],
        ["runs", *out],
        ["show", "прогон", "q-quoted", *out],
        ["show", "прогон", "q-quoted", "--json", *out],
        ["recall", "нет", *out],
    ]
    ended = process("-c", COMMANDS, json.dumps(commands), environment=environment)
    told, errors = ended.stdout.decode(), ended.stderr.decode()
    assert ended.returncode == 0, errors
    parts = re.split(r"-- ended with (\d)\n", told)
    printed, statuses = parts[::2], parts[1::2]
    assert statuses == ["0", "0", "0", "0", "0", "2"]
    assert strict(printed[4])["question"]["text"] == "Что натворила кошка Муська?"
    assert "Traceback" not in told + errors
    plain = environment is PLAIN
    assert ("Что натворила кошка Муська?" in printed[3]) == plain
    assert errors.splitlines()[-1].startswith(
        "error: no run 'нет'" if plain else r"error: no run '\u043d\u0435\u0442'"
    )


def test_an_error_ends_a_real_process_with_2(runs: Path) -> None:
    ended = process("-m", "eval", "show", "parcels", "q", "--out", runs)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.decode() == "error: 'q' names 2 questions: anna/q, boris/q\n"


def test_help_names_the_options_of_the_issue(command: Command) -> None:
    status, out, _ = command("replay", "--help")
    assert status == 0
    assert all(option in out for option in ("--format", "--arm", "--set", "--limit", "--out"))
