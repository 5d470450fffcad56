"""A replay in the background: it ends, is stopped, or says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.background import ReplayJob, ReplayRequest, request_to_resume
from eval.errors import DatasetError, RunError
from eval.replay import Progress
from eval.runs import inspect_run


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two conversations of sixty messages."""
    path = tmp_path / "talk.jsonl"
    lines = [
        json.dumps(
            {
                "id": id,
                "threads": [
                    {
                        "id": "t",
                        "messages": [
                            {
                                "id": f"m{n}",
                                "role": "user",
                                "speaker": "Ann",
                                "time": f"2026-01-{n // 24 + 1:02}T{n % 24:02}:00:00Z",
                                "text": f"word {n}",
                            }
                            for n in range(60)
                        ],
                    }
                ],
            }
        )
        for id in ("a", "b")
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_replay_ends_with_a_complete_run(dataset: Path, tmp_path: Path) -> None:
    job = ReplayJob(ReplayRequest(str(dataset), limit=1), tmp_path / "runs").start()
    job.wait(60)
    assert job.done
    assert not job.active
    assert job.run is not None
    assert job.counts["conversations"] == 1
    assert job.progress is not None
    assert job.progress.share == 1
    assert inspect_run(tmp_path / "runs" / job.run).complete


def test_what_was_stopped_is_kept_and_can_be_resumed(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ReplayJob(ReplayRequest(str(dataset)), tmp_path / "runs")
    report = job._report

    def stop_in_the_second(progress: Progress) -> None:
        if progress.turns > 60:
            job.stop()
        report(progress)

    monkeypatch.setattr(job, "_report", stop_in_the_second)
    job.start().wait(60)
    assert job.stopped
    assert not job.done
    assert job.error is None
    assert job.run is not None
    info = inspect_run(tmp_path / "runs" / job.run)
    assert info.problem.startswith("unfinished: 1 of 2")
    again = ReplayJob(request_to_resume(info), tmp_path / "runs").start()
    again.wait(60)
    assert again.done
    assert again.run == job.run
    with pytest.raises(RunError):
        request_to_resume(inspect_run(tmp_path / "runs" / job.run))


def test_faults_are_kept_whole(tmp_path: Path) -> None:
    job = ReplayJob(ReplayRequest(str(tmp_path / "none.jsonl")), tmp_path / "runs").start()
    job.wait(60)
    assert isinstance(job.error, DatasetError)
    assert not job.done
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_cannot_be_written_is_said(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file, not a folder", encoding="utf-8")
    job = ReplayJob(ReplayRequest(str(dataset)), tmp_path / "runs").start()
    job.wait(60)
    assert isinstance(job.error, RunError)
    assert not job.trace


def test_what_nobody_foresaw_is_kept_with_its_trace(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("eval.background.replay", fail)
    job = ReplayJob(ReplayRequest(str(dataset)), tmp_path / "runs").start()
    job.wait(60)
    assert isinstance(job.error, ZeroDivisionError)
    assert "Traceback" in job.trace
