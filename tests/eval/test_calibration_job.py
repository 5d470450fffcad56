"""Scoring in a thread: what is made is kept, what fails is told, what is stopped can go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval import calibration_job as jobs
from eval.calibration_job import CalibrationJob, kept_column
from eval.loaders.pairs import load_source
from eval.noise_floor import NoiseFloor
from eval.pairs import Material, Texts
from eval.score_column import ScoreColumn


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MNEMOSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def material() -> Material:
    found = load_source("shop", "note")
    assert isinstance(found, Material)
    return found


def done(found: Material | Texts, provider: str = "tfidf") -> CalibrationJob:
    job = CalibrationJob(found, provider).start()
    job.wait(60)
    assert not job.active
    return job


def test_a_column_is_kept_and_opened_again(material: Material) -> None:
    assert kept_column(material, "tfidf") is None
    job = done(material)
    assert isinstance(job.result, ScoreColumn)
    assert job.progress is not None
    assert job.progress.done == job.progress.of == jobs.texts_to_embed(material)
    kept = kept_column(material, "tfidf")
    assert kept is not None
    assert kept.frame.equals(job.result.frame)
    assert (kept.identity, kept.data) == (job.result.identity, material.sha256)
    assert kept_column(material, "packaged:use") is None


def test_a_kept_column_that_is_damaged_is_made_again(material: Material, cache: Path) -> None:
    done(material)
    (path,) = (cache / "columns").glob("*.parquet")
    path.write_bytes(b"nothing of the kind")
    assert kept_column(material, "tfidf") is None
    done(material)
    assert kept_column(material, "tfidf") is not None


def test_where_nothing_can_be_kept_the_result_is_there_all_the_same(
    material: Material, cache: Path
) -> None:
    cache.write_text("a file where the folder would be")
    assert isinstance(done(material).result, ScoreColumn)


def test_text_without_labels_gives_a_noise_floor(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(f"line {number} of it" for number in range(20)))
    found = load_source(path)
    assert isinstance(found, Texts)
    assert jobs.texts_to_embed(found) == 40
    assert isinstance(done(found).result, NoiseFloor)


def test_a_stopped_job_says_so(material: Material) -> None:
    job = CalibrationJob(material, "tfidf")
    job.stop()
    job.start().wait(60)
    assert job.stopped
    assert (job.result, job.error) == (None, None)


def test_what_fails_is_told(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    job = done(material, "no-such")
    assert "no provider is named" in str(job.error)
    assert not job.trace
    monkeypatch.setattr(jobs, "score_column", lambda *_: 1 / 0)
    job = done(material)
    assert isinstance(job.error, ZeroDivisionError)
    assert "ZeroDivisionError" in job.trace


@pytest.mark.parametrize(
    ("name", "kept"),
    [("a b.csv", "a b.csv"), ("../../x.csv", "x.csv"), ("c:\\d\\e.csv", "e.csv"), (".x", "x"),
     ("..", "upload")],
)  # fmt: skip
def test_an_upload_stays_in_its_folder(cache: Path, name: str, kept: str) -> None:
    path = jobs.keep_upload(name, b"score,relevant\n")
    assert path.name == kept
    assert path.parent.parent == cache / "uploads"
    assert path.read_bytes() == b"score,relevant\n"
    assert jobs.keep_upload(name, b"score,relevant\n") == path


def test_how_long_it_takes_is_only_told_where_it_is_known() -> None:
    assert jobs.seconds_expected(1_000, "packaged:use") == 6
    assert jobs.seconds_expected(1_000, "openai:m@http://x") is None
    assert jobs.written("/no/such") == 0
    assert jobs.written("shop") > 0
