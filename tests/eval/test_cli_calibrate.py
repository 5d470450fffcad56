"""`calibrate` and `drift`: words first, one clear line for every error, nothing half-written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.calibration_records import load_cutoffs
from eval.score_column import read_column, write_column
from memcore import ProviderError, Settings
from tests.eval.columns import IDENTITY, WordEmbedder, column, normal
from tests.eval.conftest import Command

Provided = Callable[[WordEmbedder], list[Path | None]]


@pytest.fixture
def provided(monkeypatch: pytest.MonkeyPatch) -> Provided:
    """Has every provider be this one; returns the caches that were asked for."""

    def use(embedder: WordEmbedder) -> list[Path | None]:
        caches: list[Path | None] = []

        def named(name: str, cache: Path | None = None) -> WordEmbedder:
            assert name == "made"
            caches.append(cache)
            return embedder

        monkeypatch.setattr("memcore.embedder_named", named)
        return caches

    return use


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Sixty queries, each with the passage of the same words and three of others."""
    rows = ["query,passage,relevant,group,language"]
    for n in range(60):
        language = "ru" if n % 2 else "en"
        rows.append(f"a{n} b{n} c{n},a{n} b{n} d{n},true,g{n % 6},{language}")
        rows += [f"a{n} b{n} c{n},x{n + k} y{k} z{n},false,g{n % 6},{language}" for k in range(3)]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """A ready score column without provenance."""
    path = tmp_path / "scores.csv"
    given = column(normal(0.8, 0.05, 200), normal(0.3, 0.1, 2_000, 1), 10)
    given.frame[["score", "relevant", "group"]].to_csv(path, index=False)
    return path


def strict(text: str) -> Any:
    """JSON without what JSON has not (NaN)."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_result_is_said_in_words_first(
    command: Command, provided: Provided, pairs: Path
) -> None:
    provided(WordEmbedder())
    status, out, err = command("calibrate", pairs, "--provider", "made")
    assert status == 0
    first = out.split("\n")[0]
    assert " keeps 100% " in first
    assert "of relevant notes and lets through" in first
    assert "on other groups" in first
    assert "  held out    recall " in out
    assert "\nru: " in out
    assert "60 queries, 240 pairs with notes, 60 of them relevant" in err


def test_the_output_is_the_same_every_time(
    command: Command, provided: Provided, pairs: Path
) -> None:
    provided(WordEmbedder())
    said = [command("calibrate", pairs, "--provider", "made") for _ in range(2)]
    assert said[0] == said[1]


def test_the_json_holds_what_the_text_says(
    command: Command, provided: Provided, pairs: Path
) -> None:
    provided(WordEmbedder())
    _, text, _ = command("calibrate", pairs, "--provider", "made")
    status, out, _ = command("calibrate", pairs, "--provider", "made", "--json")
    found = strict(out)
    assert status == 0
    assert text.startswith(found["headline"])
    assert found["identity"]["model"] == "words"
    assert found["objective"] == "recall>=0.9"
    assert set(found["languages"]) == {"en", "ru"}


def test_a_cutoff_is_saved_for_the_settings_and_the_column_beside_it(
    command: Command, provided: Provided, pairs: Path, tmp_path: Path
) -> None:
    provided(WordEmbedder())
    saved, kept = tmp_path / "cutoffs.json", tmp_path / "column.parquet"
    status, _, err = command(
        "calibrate", pairs, "--provider", "made", "--save", saved, "--column", kept,
        "--objective", "f1",
    )  # fmt: skip
    assert status == 0
    assert f"cutoff of notes by {IDENTITY} saved in" in err
    cutoff = Settings(cutoffs=load_cutoffs(saved)).cutoff(IDENTITY, "note")
    assert cutoff is not None
    assert cutoff.objective == "f1"
    assert read_column(kept).data == cutoff.data
    assert command("drift", saved, kept)[0] == 0
    again = command("calibrate", kept, "--objective", "f1", "--save", saved)
    assert "replaces the earlier one" in again[2]


def test_the_cache_is_used_unless_it_is_switched_off(
    command: Command, provided: Provided, pairs: Path, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv("MNEMOSCOPE_CACHE", str(tmp_path / "cache"))
    caches = provided(WordEmbedder())
    command("calibrate", pairs, "--provider", "made")
    command("calibrate", pairs, "--provider", "made", "--no-cache")
    assert caches == [tmp_path / "cache", None]


def test_a_language_can_be_taken_alone(command: Command, provided: Provided, pairs: Path) -> None:
    embedder = WordEmbedder()
    provided(embedder)
    status, out, err = command("calibrate", pairs, "--provider", "made", "--language", "ru")
    assert status == 0
    assert "30 queries" in err
    assert "en:" not in out
    status, _, err = command("calibrate", pairs, "--provider", "made", "--language", "de")
    assert status == 2
    assert "no language 'de'" in err


# ---- a ready column


def test_a_ready_column_needs_no_provider_and_says_what_saving_takes(
    command: Command, ready: Path, tmp_path: Path
) -> None:
    status, out, err = command("calibrate", ready)
    assert status == 0
    assert "of relevant passages" in out
    assert "give --provider-name" in err
    status, out, err = command("calibrate", ready, "--save", tmp_path / "cutoffs.json")
    assert (status, out) == (2, "")
    assert "not calibrated" in err
    assert not (tmp_path / "cutoffs.json").exists()


def test_a_ready_column_whose_provider_is_named_can_be_saved(
    command: Command, ready: Path, tmp_path: Path
) -> None:
    named = ("--provider-name", "made", "--model", "words", "--revision", "1", "--width", 64)
    saved = tmp_path / "cutoffs.json"
    assert command("calibrate", ready, *named, "--passage", "note", "--save", saved)[0] == 0
    assert Settings(cutoffs=load_cutoffs(saved)).cutoff(IDENTITY, "note") is not None
    assert command("drift", saved, ready, *named, "--passage", "note")[0] == 0


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--provider", "packaged"), "leave --provider out"),
        (("--model", "words"), "--provider-name, --model and --width go together"),
        (("--objective", "best"), "there is no objective 'best'"),
        (("--passage", "page"), "there is no passage 'page'"),
        (("--format", "xml"), "'xml' is no format"),
        (("--language", "ru"), "there is no pair in language 'ru'"),
        (("--column", "no/such/folder.parquet"), "no/such is no folder"),
        (("--save", "no/such/folder.json"), "no/such is no folder"),
        (("--save", __file__), "the cutoffs file has 1 fault"),
        (("--save", "/dev/full"), "/dev/full cannot be written: it is no regular file"),
        (("--column", "/dev/null"), "/dev/null cannot be written: it is no regular file"),
        (("--save", "/tmp"), "/tmp cannot be written: it is no regular file"),
    ],
)
def test_what_does_not_go_is_one_message_and_status_2(
    command: Command, ready: Path, more: tuple[str, ...], reason: str
) -> None:
    status, out, err = command("calibrate", ready, *more)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert reason in err


def test_without_a_provider_texts_cannot_be_scored(command: Command, pairs: Path) -> None:
    status, _, err = command("calibrate", pairs)
    assert status == 2
    assert "--provider packaged" in err


def test_a_failing_provider_is_one_line_and_nothing_is_written(
    command: Command, provided: Provided, pairs: Path, tmp_path: Path
) -> None:
    provided(WordEmbedder(ProviderError("the provider does not answer"), after=1))
    before = sorted(tmp_path.iterdir())
    status, out, err = command(
        "calibrate", pairs, "--provider", "made", "--column", tmp_path / "c.parquet",
        "--save", tmp_path / "s.json",
    )  # fmt: skip
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == "error: the provider does not answer"
    assert sorted(tmp_path.iterdir()) == before


def test_where_nothing_separates_it_is_said_and_nothing_saved(
    command: Command, tmp_path: Path
) -> None:
    path, saved = tmp_path / "column.parquet", tmp_path / "cutoffs.json"
    write_column(column(normal(0.670, 0.05, 200), normal(0.672, 0.05, 900, 1), 8), path)
    status, out, err = command("calibrate", path, "--save", saved)
    assert out.startswith("no cutoff separates these: the two overlap by ")
    assert "no cutoff is recommended" in out
    assert status == 2
    assert "none is saved" in err
    assert not saved.exists()


# ---- text without labels


def test_text_without_labels_gives_a_floor_and_says_that_it_is_no_cutoff(
    command: Command, provided: Provided, tmp_path: Path
) -> None:
    provided(WordEmbedder())
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(f"w{n} v{n} u{n}" for n in range(40)), encoding="utf-8")
    status, out, _ = command("calibrate", path, "--provider", "made")
    assert status == 0
    assert "95% of random pairs score below" in out
    assert "99% below" in out
    assert "This is a floor and not a cutoff" in out
    found = strict(command("calibrate", path, "--provider", "made", "--json")[1])
    assert found["noise_floor"] is True
    assert found["p95"] <= found["p99"]
    status, _, err = command(
        "calibrate", path, "--provider", "made", "--save", tmp_path / "cutoffs.json"
    )
    assert status == 2
    assert "there are no labels" in err


# ---- drift


def test_a_column_that_has_moved_is_flagged_and_exits_1(command: Command, tmp_path: Path) -> None:
    first, later = tmp_path / "first.parquet", tmp_path / "later.parquet"
    saved = tmp_path / "cutoffs.json"
    write_column(column(normal(0.8, 0.05, 300), normal(0.4, 0.1, 3_000, 1), 10), first)
    write_column(column(normal(0.7, 0.05, 300), normal(0.4, 0.1, 3_000, 1), 10), later)
    command("calibrate", first, "--save", saved)
    status, out, _ = command("drift", saved, later)
    assert status == 1
    assert out.startswith("the relevant scores have moved since ")
    status, out, _ = command("drift", saved, later, "--json")
    found = strict(out)
    assert (status, found["moved"]) == (1, True)
    assert [row["moved"] for row in found["scores"]] == [True, False]


def test_a_broken_file_of_cutoffs_is_one_message(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "cutoffs.json"
    path.write_text('{"format": 9}', encoding="utf-8")
    status, _, err = command("drift", path, path)
    assert status == 2
    assert err.startswith("error: the cutoffs file has 1 fault")
    assert "written by a newer version (format 9, this one reads 1)" in err


def test_the_help_says_when_nothing_is_saved(command: Command) -> None:
    said = " ".join(command("calibrate", "--help")[1].replace("│", " ").split())
    assert "nothing is saved and the exit status is 2" in said


# ---- a real provider


def test_a_real_provider_scores_a_handful_of_texts(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_CACHE", str(tmp_path / "cache"))
    about = {
        "Какой размер обуви?": "Она носит обувь 38 размера.",
        "Where does Anna live?": "Anna has a flat in Kazan.",
        "Когда поезд?": "Поезд отправляется в девять вечера.",
        "What does he drink?": "He takes his coffee black.",
    }
    rows = [
        {"query": query, "passage": passage, "relevant": about[query] == passage}
        for query in about
        for passage in about.values()
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    status, out, err = command("calibrate", path, "--provider", "packaged", "--json")
    assert status == 0, err
    found = strict(out)
    assert found["auc"] > 0.9
    assert found["identity"]["width"] in (384, 512)
