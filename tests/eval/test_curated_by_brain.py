"""A replay in which a model at a loopback server curates: what is kept, counted and asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.offered import texts
from eval.overview import overview
from eval.recall import report
from eval.replay import replay
from eval.runs import Run, list_runs
from eval.turns import find_question, load_turn, memory_at
from memcore import Layer
from tests.brain_server import BrainServer, Request, brain_server, failing, says
from tests.brain_writing import ids_in, shown
from tests.misbehaving_server import Answer
from tests.talks import asked, chatter, dataset, files_of, manifest_of, said, talk

KEY = "sk-verysecret0123456789abcdef"
LINE = "Ann: My locker has the number 4711."


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[BrainServer]:
    with brain_server() as running:
        running.behaviour = writes
        yield running
        assert running.refused == []


def writes(request: Request) -> Answer:
    """A model that notes and sums up the locker where it sees it, and answers every question."""
    system, text = shown(request)
    if '{"lines"' not in system:
        return says("4711")(request)
    seen = [{"text": LINE, "sources": [id]} for id in ids_in(text) if id == "old"]
    return says(json.dumps({"lines": seen}))(request)


def run_of(server: BrainServer, out: Path, **changes: Any) -> Run:
    stated = [
        said("old", 0, "My locker has the number 4711."),
        said("old-r", 0.001, "Noted.", "assistant"),
        *chatter(30, 1, 0.3),
    ]
    made = dataset(talk(stated, [asked("q", 20, "Which locker is mine?", ["old"], answer="4711")]))
    given = {
        "curator": True, "excerpts_cap": 0, "window_cap": 300,
        "brain": f"openai:m@{server.url}/v1", **changes,
    }  # fmt: skip
    return replay(made, out, changes=given, name="run")


def test_what_the_model_wrote_reaches_the_prompt_and_is_looked_at_again_without_asking(
    server: BrainServer, tmp_path: Path
) -> None:
    run = run_of(server, tmp_path)
    counts = manifest_of(run.folder)["curator"]
    assert (counts["lines"], counts["refused"]) == (1, 0)
    view = load_turn(run, *find_question(run, "q"))
    assert LINE in view.text(Layer.NOTES)
    assert view.fates[0].reached
    before = len(server.requests)
    at = memory_at(run, view.talk.id, view.number)
    composition, fates = at.compose({"notes_cap": 1_000})
    assert len(server.requests) == before
    assert LINE in next(one.text for one in composition.layers if one.layer is Layer.NOTES)
    assert fates[0].reached
    assert texts(view) is not None


@pytest.mark.parametrize("output", ["", "[]", "sorry, no"])
def test_passes_that_the_model_failed_make_the_run_inconclusive(
    server: BrainServer, tmp_path: Path, output: str
) -> None:
    def useless(request: Request) -> Answer:
        system, _ = shown(request)
        return says(output)(request) if '{"lines"' in system else says("4711")(request)

    server.behaviour = useless
    run = run_of(server, tmp_path)
    counts = manifest_of(run.folder)["curator"]
    assert counts["failed"] >= 1
    assert counts["lines"] == 0
    results = run.manifest["results"]
    assert results["inconclusive"]
    assert results["failures"] == {"passes that the curator failed": counts["failed"]}
    assert report(run)["failures"] == results["failures"]
    assert "passes that the curator failed" in overview(list_runs(tmp_path))["inconclusive"].iloc[0]


def test_a_dead_provider_is_left_in_peace_between_tries_and_no_key_stands_in_the_run(
    server: BrainServer, tmp_path: Path
) -> None:
    server.behaviour = lambda request: failing(request.path, 401, f"bad key {KEY}")
    run = run_of(server, tmp_path)
    counts = manifest_of(run.folder)["curator"]
    assert counts["failed"] >= 1
    assert run.manifest["results"]["inconclusive"]
    assert all(KEY.encode() not in content for content in files_of(run.folder).values())
