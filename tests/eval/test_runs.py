"""Runs as they are found on disk: whatever is wrong with one is named, with what to do."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

from eval.errors import RunDamaged, RunError, RunFormat, RunUnfinished
from eval.overview import overview
from eval.recall import report
from eval.run_writer import RunWriter
from eval.runs import Run, find_run, inspect_run, list_runs
from eval.tables import SCHEMAS
from tests.eval.conftest import Command
from tests.small_run import make_run
from tests.talks import files_of, manifest_of, write_manifest


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A complete run; not to be written to."""
    return make_run(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def folder(sound: Run, tmp_path: Path) -> Path:
    """The test's own copy of it, `runs/small`."""
    return Path(shutil.copytree(sound.folder, tmp_path / "runs" / "small"))


def changed(folder: Path, **fields: Any) -> None:
    """Changes fields of the manifest; one given as `...` is taken out."""
    manifest = {**manifest_of(folder), **fields}
    write_manifest(folder, {name: value for name, value in manifest.items() if value is not ...})


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def manifest(text: str) -> Callable[[Path], None]:
    return lambda folder: write_manifest(folder, text)


def fields(**given: Any) -> Callable[[Path], None]:
    return lambda folder: changed(folder, **given)


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no manifest": (remove("manifest.json"), "there is no manifest.json"),
    "empty": (manifest(""), "manifest.json cannot be read"),
    "broken JSON": (manifest('{"format": 1,'), "manifest.json cannot be read"),
    "a list": (manifest("[1, 2]"), "manifest.json cannot be read"),
    "a number": (manifest("17"), "manifest.json cannot be read"),
    "a text": (manifest('"format"'), "manifest.json cannot be read"),
    "null": (manifest("null"), "manifest.json cannot be read"),
    "no format": (fields(format=...), "manifest.json cannot be read"),
    "deep": (manifest('{"format":' + "[" * 100_000), "manifest.json cannot be read"),
    "long number": (manifest('{"format": ' + "9" * 5_000 + "}"), "manifest.json cannot be read"),
    "format null": (fields(format=None), "does not say which format"),
    "format text": (fields(format="1"), "does not say which format"),
    "format true": (fields(format=True), "does not say which format"),
    "counts null": (fields(counts=None), "no usable counts"),
    "counts list": (fields(counts=[1]), "no usable counts"),
    "counts gone": (fields(counts=...), "no usable counts"),
    "dataset text": (fields(dataset="shop"), "no usable dataset"),
    "arm null": (fields(arm=None), "no usable arm"),
    "settings list": (fields(settings=[], changed_settings=None), "settings, changed_settings"),
    "results null": (fields(results=None), "no usable results"),
    "refused text": (fields(refused="none"), "no usable refused"),
    "started number": (fields(started=5), "no usable started"),
    "status list": (fields(status=[]), "no usable status"),
    "status gone": (fields(status=...), "no usable status"),
    "no table": (remove("turns.parquet"), "turns.parquet missing"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_says_what_is_broken_and_what_to_do(
    folder: Path, damage: str, command: Command
) -> None:
    break_it, words = DAMAGES[damage]
    break_it(folder)
    info = inspect_run(folder)
    assert info.problem.startswith("damaged: ")
    assert words in info.problem
    assert [one.problem for one in list_runs(folder.parent)] == [info.problem]
    assert overview([info])["state"].tolist() == ["damaged"]
    with pytest.raises(RunDamaged, match=r"run small is damaged: .*; replay the dataset again"):
        Run(folder)
    for name in ("small", folder):
        status, out, err = command("recall", name, "--out", folder.parent)
        assert (status, out) == (2, "")
        assert err.startswith("error: run small is damaged: ")
        assert words in err
    status, out, _ = command("runs", "--out", folder.parent)
    assert status == 0
    assert words in out


def test_a_manifest_that_is_a_folder_is_damaged(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()
    assert inspect_run(folder).problem == "damaged: manifest.json cannot be read"


def test_odd_values_within_a_manifest_stop_no_list(folder: Path, command: Command) -> None:
    old = {"hits": "many", "count": None, "value": "half", "low": [], "high": {}}
    changed(folder, results={"old_answers_some": old, "days": "x"}, counts={"questions": "x"})
    assert overview(list_runs(folder.parent))["reached"].isna().all()
    status, out, _ = command("runs", "--out", folder.parent)
    assert (status, out.partition("  (")[0]) == (0, "small  –")
    changed(folder, results={"old_answers_some": None})
    assert command("runs", "--out", folder.parent)[1].startswith("small  –  (")


@pytest.mark.parametrize(("format", "age"), [(2, "an older"), (-1, "an older"), (4, "a newer")])
def test_a_run_of_another_format_is_named_as_such(
    folder: Path, format: int, age: str, command: Command
) -> None:
    write_manifest(folder, {"format": format, "whatever": None})
    with pytest.raises(RunFormat, match=rf"was written by {age} version .*; replay the dataset"):
        Run(folder)
    assert overview(list_runs(folder.parent))["state"].tolist() == [f"{age.split()[1]} format"]
    for arguments in (("recall", "small"), ("show", "small", "q-low")):
        status, out, err = command(*arguments, "--out", folder.parent)
        assert (status, out) == (2, "")
        assert f"(format {format}, this one reads 3)" in err


def test_an_unfinished_run_says_how_to_resume_it(folder: Path, command: Command) -> None:
    changed(folder, status="running", results=..., refused=...)
    with pytest.raises(RunUnfinished):
        Run(folder)
    status, out, err = command("recall", "small", "--out", folder.parent)
    assert (status, out) == (2, "")
    assert "is unfinished: 0 of 1 conversations are replayed" in err
    assert f"python -m eval replay --resume {folder}" in err


@pytest.mark.parametrize("table", ["questions", "turns"])
def test_a_truncated_table_is_named_as_damage(folder: Path, table: str, command: Command) -> None:
    file = folder / f"{table}.parquet"
    whole = file.read_bytes()
    for end in (0, 1, 4, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:end])
        run = Run(folder)
        with pytest.raises(
            RunDamaged, match=r"run small is damaged: a table cannot be read .*again"
        ):
            run.table(table)
    status, out, err = command("show", "small", "q-low", "--out", folder.parent)
    assert (status, out) == (2, "")
    assert err.startswith("error: run small is damaged: a table cannot be read")


def test_whatever_byte_of_a_table_is_broken_nothing_but_a_run_error_is_raised(
    folder: Path,
) -> None:
    file, chance = folder / "layers.parquet", random.Random(7)
    whole = file.read_bytes()
    refused = 0
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 4, 20))):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        file.write_bytes(broken)
        try:
            Run(folder).table("layers")
        except RunError:
            refused += 1
    assert refused > 100


def test_a_table_with_other_columns_is_damage(folder: Path) -> None:
    shutil.copy(folder / "layers.parquet", folder / "questions.parquet")
    with pytest.raises(RunDamaged, match="a table cannot be read"):
        report(Run(folder))


def test_a_query_that_is_itself_wrong_is_not_called_damage(sound: Run) -> None:
    with pytest.raises(duckdb.ParserException):
        sound.query("SELECT FROM WHERE {turns}")


# ---- names


NAMES = [
    "a b", "a'b", '"quoted"', "Прогон №1", "x{y}z", "{turns}", "a*b", "what?", "[1]", "k=v", "a;b",
    "%41", "# no", "-dash", "turn=3", "$HOME", "日本", "a,b",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_run_may_have_any_name(sound: Run, tmp_path: Path, name: str, command: Command) -> None:
    out = tmp_path / "it's {all} runs"
    shutil.copytree(sound.folder, out / name)
    run = Run(find_run(name, out))
    assert run.name == name
    for table in SCHEMAS:
        assert run.table(table).equals(sound.table(table)), table
    status, out_text, err = command("recall", "--out", out, "--json", "--", name)
    assert status == 0, err
    assert json.loads(out_text) == {**report(sound), "run": name}


def test_a_run_whose_name_is_a_pattern_reads_no_other_run(sound: Run, tmp_path: Path) -> None:
    for name in ("run", "ruin", "r*n", "r?n", "r[u]n"):
        shutil.copytree(sound.folder, tmp_path / name)
    for name in ("r*n", "r?n", "r[u]n"):
        for table in SCHEMAS:
            if name != "r[u]n":
                (tmp_path / "run" / f"{table}.parquet").write_bytes(b"not to be read")
            assert len(Run(tmp_path / name).table(table)) == len(sound.table(table))


# ---- lists and look-ups


def test_a_list_of_runs_reads_no_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in folder.glob("*.parquet"):
        file.write_bytes(b"unreadable")

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a table was opened")

    monkeypatch.setattr("eval.runs._cursor", fail)
    monkeypatch.setattr("eval.run_writer.pq.read_table", fail)
    (info,) = list_runs(folder.parent)
    assert info.complete
    assert overview([info])["count"].tolist() == [5]


def test_runs_are_listed_newest_first_and_what_is_no_run_folder_is_left_out(
    sound: Run, tmp_path: Path
) -> None:
    for name, started in (("b", "2026-01-02"), ("a", "2026-01-03"), ("c", "2026-01-01")):
        shutil.copytree(sound.folder, tmp_path / name)
        changed(tmp_path / name, started=started)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "file.txt").write_text("no run", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    assert [info.name for info in list_runs(tmp_path)] == ["a", "b", "c", "empty"]
    assert list_runs(tmp_path / "nowhere") == []
    assert list_runs(tmp_path / "file.txt") == []


def test_a_run_is_found_by_name_and_by_path(sound: Run, tmp_path: Path) -> None:
    out = sound.folder.parent
    assert find_run("small", out) == sound.folder
    assert find_run(sound.folder, tmp_path) == sound.folder
    assert find_run(str(sound.folder), tmp_path) == sound.folder


@pytest.mark.parametrize("name", ["nothing", "", ".", "..", "n" * 5_000, "a\0b", "small/turns"])
def test_an_unknown_run_is_an_error_that_names_those_there_are(sound: Run, name: str) -> None:
    with pytest.raises(RunError, match=r"no run .* nor at that path; there are small$"):
        find_run(name, sound.folder.parent)


def test_where_there_is_no_run_the_error_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there are none; make one with replay"):
        find_run("nothing", tmp_path / "nowhere")


# ---- readers and writers


def test_readers_in_many_threads_read_the_same(sound: Run) -> None:
    expected = sound.table("items")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: Run(sound.folder).table("items"), range(32)))
        shared = list(pool.map(lambda _: sound.table("items"), range(32)))
    assert all(one.equals(expected) for one in found + shared)


def test_a_run_made_anew_in_the_place_of_another_is_read_anew(sound: Run, tmp_path: Path) -> None:
    shutil.copytree(sound.folder, tmp_path / "small")
    before = Run(tmp_path / "small").table("layers")
    shutil.rmtree(tmp_path / "small")
    make_run(tmp_path, ceiling=300)
    after = Run(tmp_path / "small").table("layers")
    assert after["received"].sum() < before["received"].sum()


def test_reading_changes_nothing(folder: Path) -> None:
    before = files_of(folder)
    report(Run(folder))
    list_runs(folder.parent)
    assert files_of(folder) == before


def test_a_writer_that_fails_lets_go_of_the_run(tmp_path: Path, sound: Run) -> None:
    input = {name: sound.manifest[name] for name in ("arm", "settings", "versions", "dataset")}
    with pytest.raises(ZeroDivisionError), RunWriter(tmp_path / "run", input):
        raise ZeroDivisionError
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("mine", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(RunError, match="is there already and is no run"):
            RunWriter(tmp_path / "mine", input)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["diary.txt"]


def test_a_disk_that_takes_nothing_is_a_run_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eval.run_writer.pq.ParquetWriter", full)
    with pytest.raises(RunError, match="small cannot be written: No space left on device"):
        make_run(tmp_path)
    assert inspect_run(tmp_path / "small").problem.startswith("unfinished")
    monkeypatch.undo()
    assert inspect_run(make_run(tmp_path).folder).complete
