"""A replay that was broken off: seen as such, no result, resumed to the same run; several at once.

The command line resumes what a killed process left, so it is asked for in a process of its own.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval.dataset import ConversationRecord, Dataset, NoteRecord, read_native
from eval.errors import RunDamaged, RunError, RunUnfinished
from eval.overview import compared, first_choice, overview
from eval.recall import report
from eval.replay import Progress, replay
from eval.run_writer import RunWriter
from eval.runs import Run, find_run, inspect_run, list_runs
from tests.talks import (
    asked,
    at,
    chatter,
    dataset,
    files_of,
    manifest_of,
    said,
    tables_of,
    talk,
    write_dataset,
)

ROOT = Path(__file__).resolve().parents[2]


class Interrupted(Exception):
    """Somebody broke it off."""


def one_talk(id: str) -> ConversationRecord:
    """Twenty turns, an old answer, and a note that is refused."""
    return talk(
        [said("m1", 0, f"The parcel of {id} has number 4711."), *chatter(38, 1, 0.25)],
        [asked("q", 20, f"Which number has the parcel of {id}?", ["m1"])],
        id=id,
        notes=[NoteRecord(kind="page", time=at(1), text="Key sk-abcdefghij0123456789ABCDEF.")],
    )


TALKS = [one_talk(id) for id in ("anna", "boris", "clara")]
OF_TURNS = 3 * 21


@pytest.fixture(scope="module")
def made() -> Dataset:
    return dataset(*TALKS)


@pytest.fixture(scope="module")
def undisturbed(made: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return replay(made, tmp_path_factory.mktemp("undisturbed"), name="run")


def break_off(progress: Progress) -> None:
    if progress.turns > 21:
        raise Interrupted


def broken_off(made: Dataset, out: Path, **more: Any) -> Path:
    """A run that ended before its second conversation was written."""
    with pytest.raises(Interrupted):
        replay(made, out, name="run", on_progress=break_off, **more)
    return out / "run"


def check_as_undisturbed(folder: Path, undisturbed: Run) -> None:
    assert tables_of(folder) == tables_of(undisturbed.folder)
    for what in ("results", "refused", "counts", "settings", "dataset"):
        assert manifest_of(folder)[what] == undisturbed.manifest[what]
    assert len(undisturbed.manifest["refused"]) == 3
    left = {path.name for path in folder.iterdir()}
    assert left == {path.name for path in undisturbed.folder.iterdir()}


def test_a_run_that_was_broken_off_is_seen_as_such_and_is_no_result(
    made: Dataset, tmp_path: Path
) -> None:
    folder = broken_off(made, tmp_path)
    (info,) = list_runs(tmp_path)
    assert not info.complete
    assert info.problem == "unfinished: 1 of 3 conversations are replayed; no result yet"
    with pytest.raises(RunUnfinished, match=r"python -m eval replay --resume .*run$"):
        Run(folder)
    table = overview([info])
    assert table["state"].tolist() == ["unfinished"]
    assert not table["best"].any()
    assert table["reached"].isna().all()
    assert compared(table) == (None, [])
    assert first_choice([info]) is None
    assert "results" not in manifest_of(folder)
    assert not list(folder.glob("*.parquet"))


def test_it_is_resumed_to_the_run_it_would_have_been(
    made: Dataset, tmp_path: Path, undisturbed: Run
) -> None:
    folder = broken_off(made, tmp_path)
    seen: list[Progress] = []
    run = replay(made, tmp_path, name="run", on_progress=seen.append)
    assert run.folder == folder
    check_as_undisturbed(folder, undisturbed)
    assert seen[0].turns > 21, "what was replayed is not replayed again"
    assert (seen[-1].turns, seen[-1].share) == (OF_TURNS, 1)


def test_it_may_be_broken_off_again_and_again(
    made: Dataset, tmp_path: Path, undisturbed: Run
) -> None:
    for stop_at in (1, 22, 22, 43):

        def stop(progress: Progress, stop_at: int = stop_at) -> None:
            if progress.turns > stop_at:
                raise Interrupted

        with pytest.raises(Interrupted):
            replay(made, tmp_path, name="run", on_progress=stop)
        assert not inspect_run(tmp_path / "run").complete
    replay(made, tmp_path, name="run")
    check_as_undisturbed(tmp_path / "run", undisturbed)


def test_it_is_resumed_where_only_joining_is_left(
    made: Dataset, tmp_path: Path, undisturbed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: RunWriter) -> None:
        raise Interrupted

    with monkeypatch.context() as patched:
        patched.setattr(RunWriter, "join", fail)
        with pytest.raises(Interrupted):
            replay(made, tmp_path, name="run")
    assert inspect_run(tmp_path / "run").problem.startswith("unfinished: 3 of 3")
    (tmp_path / "run" / "turns.parquet").write_bytes(b"half a table")
    (tmp_path / "run" / "items.tmp").write_bytes(b"half a table")
    replay(made, tmp_path, name="run")
    check_as_undisturbed(tmp_path / "run", undisturbed)


@pytest.mark.parametrize("file", ["items.parquet", "refused.json"])
def test_a_broken_part_is_named_and_is_replayed_once_it_is_removed(
    made: Dataset, tmp_path: Path, undisturbed: Run, file: str
) -> None:
    folder = broken_off(made, tmp_path)
    part = folder / "parts" / "000000"
    (part / file).write_bytes(b"half a fil")
    with pytest.raises(RunDamaged, match=r"parts/000000 is damaged \(.*\); remove it and resume"):
        replay(made, tmp_path, name="run")
    assert not inspect_run(folder).complete
    shutil.rmtree(part)
    replay(made, tmp_path, name="run")
    check_as_undisturbed(folder, undisturbed)


def other_data() -> Dataset:
    return dataset(*TALKS[:2], one_talk("dora"))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"changes": {"excerpts_limit": 2}}, "was begun with other settings"),
        ({"arm": "no-search"}, "was begun with other arm"),
        ({"dataset": other_data()}, "was begun on other data"),
    ],
    ids=["settings", "arm", "data"],
)
def test_resuming_with_other_input_is_refused_and_nothing_is_overwritten(
    made: Dataset, tmp_path: Path, given: dict[str, Any], why: str
) -> None:
    folder = broken_off(made, tmp_path)
    before = files_of(folder)
    with pytest.raises(RunError, match=f"{why}; choose another name"):
        replay(given.pop("dataset", made), tmp_path, name="run", **given)
    assert files_of(folder) == before


def test_what_another_version_began_is_not_resumed(made: Dataset, tmp_path: Path) -> None:
    folder = broken_off(made, tmp_path)
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    older = text.replace('"mnemoscope": "', '"mnemoscope": "0.0.')
    (folder / "manifest.json").write_text(older, encoding="utf-8")
    before = files_of(folder)
    with pytest.raises(RunError, match="was begun with other versions"):
        replay(made, tmp_path, name="run")
    assert files_of(folder) == before


def test_a_complete_run_is_not_written_again(made: Dataset, undisturbed: Run) -> None:
    before = files_of(undisturbed.folder)
    with pytest.raises(RunError, match="is complete already; choose another name"):
        replay(made, undisturbed.folder.parent, name="run")
    assert files_of(undisturbed.folder) == before


def test_a_run_that_is_being_written_is_left_to_who_writes_it(
    made: Dataset, tmp_path: Path, undisturbed: Run
) -> None:
    refused: list[str] = []

    def meanwhile(_: Progress) -> None:
        with pytest.raises(RunError) as error:
            replay(made, tmp_path, name="run")
        refused.append(str(error.value))

    replay(made, tmp_path, name="run", on_progress=meanwhile)
    assert set(refused) == {
        "run run is being written by another process; wait for it or choose another name"
    }
    check_as_undisturbed(tmp_path / "run", undisturbed)


# ---- real processes


def eval_process(*arguments: str | Path) -> subprocess.Popen[str]:
    """`python -m eval …`, begun."""
    return subprocess.Popen(
        [sys.executable, "-m", "eval", *map(str, arguments)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


KILLED = """
import os, signal, sys
from pathlib import Path
from eval.dataset import read_native
from eval.replay import replay

def kill(progress):
    if progress.turns > 21:
        os.kill(os.getpid(), signal.SIGKILL)

replay(read_native(Path(sys.argv[1])), Path(sys.argv[2]), name="run", on_progress=kill)
"""


def test_what_a_killed_process_left_is_resumed_from_the_command_line(
    tmp_path: Path, undisturbed: Run
) -> None:
    file, out = write_dataset(tmp_path / "made.jsonl", *TALKS), tmp_path / "runs"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(file), str(out)], cwd=ROOT, capture_output=True
    )
    assert killed.returncode == -signal.SIGKILL
    assert inspect_run(out / "run").problem.startswith("unfinished: 1 of 3")
    with pytest.raises(RunUnfinished):
        Run(find_run("run", out))

    resume = eval_process("replay", "--resume", out / "run")
    _, errors = resume.communicate()
    assert resume.returncode == 0, errors
    assert tables_of(out / "run") == tables_of(undisturbed.folder)
    assert manifest_of(out / "run")["results"] == undisturbed.manifest["results"]
    assert report(Run(out / "run")) == report(undisturbed)


def test_two_processes_that_replay_into_one_folder_both_end_well(
    tmp_path: Path, undisturbed: Run
) -> None:
    file, out = write_dataset(tmp_path / "made.jsonl", *TALKS), tmp_path / "runs"
    both = [eval_process("replay", file, "--out", out) for _ in range(2)]
    ended = [(process.communicate()[1], process.returncode) for process in both]
    assert [status for _, status in ended] == [0, 0], ended
    found = list_runs(out)
    assert [info.complete for info in found] == [True, True]
    for info in found:
        assert tables_of(info.folder) == tables_of(undisturbed.folder)


def test_of_two_processes_that_write_one_run_one_is_refused_and_the_run_is_whole(
    tmp_path: Path, undisturbed: Run
) -> None:
    file, out = write_dataset(tmp_path / "made.jsonl", *TALKS), tmp_path / "runs"
    both = [eval_process("replay", file, "--out", out, "--name", "run") for _ in range(2)]
    ended = [(process.communicate()[1], process.returncode) for process in both]
    assert sorted(status for _, status in ended) == [0, 2], ended
    (refusal,) = [errors for errors, status in ended if status]
    assert "complete already" in refusal or "being written by another process" in refusal
    assert "Traceback" not in refusal
    assert tables_of(Run(out / "run").folder) == tables_of(undisturbed.folder)
    assert read_native(file).sha256 == manifest_of(out / "run")["dataset"]["sha256"]
