"""The demo: made once, by whoever comes first, and mended where it is broken."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eval.dataset import Dataset
from eval.demo import DEMO_ARMS, demo_names, ensure_demo
from eval.errors import RunError
from eval.loaders import load
from eval.overview import overview
from eval.runs import Run, inspect_run, list_runs
from tests.talks import files_of, manifest_of, tables_of, talk, write_dataset, write_manifest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a few conversations under the name of the bundled ones."""
    folder = tmp_path_factory.mktemp("datasets")
    one = load("shop", limit=1).conversations[0]
    few = one.threads[0].messages[:30]
    last = few[-1].time
    asked = [question for question in one.questions if question.asked_at <= last]
    notes = [note for note in one.notes if note.time <= last]
    write_dataset(
        folder / "shop.jsonl",
        talk(few, asked, id="few", notes=notes, timezone=one.timezone, language="ru"),
    )
    return folder


@pytest.fixture(autouse=True)
def bundled(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled data are those few, so that the demo is made quickly."""
    monkeypatch.setattr("eval.loaders.BUNDLED", small)
    monkeypatch.chdir(small.parent)


@pytest.fixture
def shop() -> Dataset:
    return load("shop")


def test_the_demo_is_a_run_of_each_arm(tmp_path: Path, shop: Dataset) -> None:
    made = ensure_demo(tmp_path)
    assert made == {arm: tmp_path / name for arm, name in demo_names(shop).items()}
    assert list(made) == list(DEMO_ARMS)
    for arm, folder in made.items():
        assert manifest_of(folder)["arm"] == arm
        assert Run(folder).manifest["dataset"]["sha256"] == shop.sha256
    assert overview(list_runs(tmp_path))["state"].tolist() == ["complete"] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(demo_names(shop).values())


def test_the_demo_is_made_once(tmp_path: Path) -> None:
    ensure_demo(tmp_path)
    before = files_of(tmp_path)
    told: list[float] = []
    ensure_demo(tmp_path, lambda share, _: told.append(share))
    assert files_of(tmp_path) == before
    assert told == []


def test_progress_rises_to_1_over_all_arms(tmp_path: Path) -> None:
    told: list[tuple[float, str]] = []
    ensure_demo(tmp_path, lambda share, arm: told.append((share, arm)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] == 1
    assert list(dict.fromkeys(arm for _, arm in told)) == list(DEMO_ARMS)


@pytest.mark.parametrize("damage", ["no manifest", "broken", "older", "unfinished", "no table"])
def test_a_broken_demo_run_is_replaced_and_the_others_stay(tmp_path: Path, damage: str) -> None:
    made = ensure_demo(tmp_path)
    folder, other = made["first-search"], made["no-search"]
    whole, kept = tables_of(folder), files_of(other)
    match damage:
        case "no manifest":
            (folder / "manifest.json").unlink()
        case "broken":
            write_manifest(folder, "{")
        case "older":
            write_manifest(folder, {"format": 0})
        case "unfinished":
            write_manifest(folder, {**manifest_of(folder), "status": "running"})
        case "no table":
            (folder / "turns.parquet").unlink()
    told: list[float] = []
    ensure_demo(tmp_path, lambda share, _: told.append(share))
    assert inspect_run(folder).complete
    assert tables_of(folder) == whole
    assert files_of(other) == kept
    assert told[-1] == 1
    assert len(list(tmp_path.iterdir())) == 3


def test_a_demo_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(share: float, arm: str) -> None:
        if arm == "no-search":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ensure_demo(tmp_path, fail)
    (info,) = list_runs(tmp_path)
    assert (info.complete, info.manifest["arm"]) == (True, "first-search")
    assert len(list(tmp_path.iterdir())) == 1
    ensure_demo(tmp_path)
    assert len(list_runs(tmp_path)) == 3


def test_other_data_make_other_demo_runs(tmp_path: Path, shop: Dataset) -> None:
    other = load("shop", limit=1)
    renamed = Dataset(other.name, other.format, other.conversations, sha256="0" * 64)
    assert not set(demo_names(shop).values()) & set(demo_names(renamed).values())


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(RunError, match="cannot be written"):
        ensure_demo(tmp_path / "taken")


DEMO = """
import json, sys
from pathlib import Path
from eval import loaders
from eval.demo import ensure_demo
loaders.BUNDLED = Path(sys.argv[1])
told = []
made = ensure_demo(Path(sys.argv[2]), lambda share, arm: told.append(share))
print(json.dumps({"made": {arm: str(folder) for arm, folder in made.items()}, "told": told}))
"""


def test_two_processes_at_once_end_with_one_set_of_runs(
    tmp_path: Path, small: Path, shop: Dataset
) -> None:
    out = tmp_path / "runs"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", DEMO, str(small), str(out)],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    ended = [(*process.communicate(), process.returncode) for process in both]
    assert [status for *_, status in ended] == [0, 0], ended
    expected = {arm: str(out / name) for arm, name in demo_names(shop).items()}
    for printed, _, _ in ended:
        assert json.loads(printed)["made"] == expected
    assert sorted(path.name for path in out.iterdir()) == sorted(demo_names(shop).values())
    assert all(info.complete for info in list_runs(out))


def test_a_demo_run_that_another_process_put_there_meanwhile_is_kept(tmp_path: Path) -> None:
    """Deterministic: the other process makes its runs while this one replays its first."""
    elsewhere = ensure_demo(tmp_path / "other")
    kept: dict[str, dict[str, bytes]] = {}

    def meanwhile(share: float, arm: str) -> None:
        for one, folder in elsewhere.items():
            target = tmp_path / "runs" / folder.name
            if not target.exists():
                shutil.copytree(folder, target)
                kept[one] = files_of(target)

    made = ensure_demo(tmp_path / "runs", meanwhile)
    assert {arm: files_of(folder) for arm, folder in made.items()} == kept
    assert len(list((tmp_path / "runs").iterdir())) == 3
