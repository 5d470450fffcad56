"""A replay with an embedding provider: what the run says of it, what it costs where the provider
fails, and that the same turn composed again is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.errors import RunError
from eval.overview import overview
from eval.providers import cutoffs_in_words, provided
from eval.replay import Progress, replay
from eval.runs import Run, list_runs, records
from eval.terminal import harmless
from eval.turns import find_question, load_turn, memory_at, recomposed
from memcore import Layer, ProviderError
from memcore.errors import InvalidInput
from tests.misbehaving_server import (
    Behaviour,
    Request,
    Server,
    failing,
    misbehaving_server,
    vectors,
)
from tests.talks import asked, chatter, dataset, said, talk

HYBRID = {"provider": "tfidf", "search_mode": "hybrid"}
OLD = [
    said("dog", 1, "Our puppy is called Rex and chews slippers."),
    said("car", 2, "The old car was sold to a neighbour."),
    *chatter(12, 30),
]


def run_of(out: Path, changes: dict[str, Any], **more: Any) -> Run:
    one = talk(OLD, [asked("q", 40, "What is our puppy called these days?", ["dog"])])
    return replay(dataset(one), out, changes=changes, **more)


@pytest.fixture
def server() -> Any:
    with misbehaving_server() as one:
        yield one


def provider_at(server: Server) -> dict[str, str]:
    return {"provider": f"openai:small@{server.url}", "search_mode": "hybrid"}


# ---- what the run says


def test_the_run_names_the_provider_with_its_whole_identity(tmp_path: Path) -> None:
    run = run_of(tmp_path, HYBRID)
    provider = run.manifest["provider"]
    assert provider["name"] == "tfidf"
    assert provider["identity"]["width"] == 512
    assert set(provider["identity"]) == {"provider", "model", "revision", "width"}
    assert run.manifest["results"]["provider_errors"] == 0
    row = records(overview(list_runs(tmp_path)))[0]
    assert row["provider"] == "tfidf: hybrid"


def test_auto_is_told_as_what_it_took_and_why(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"provider": "auto"})
    provider = run.manifest["provider"]
    assert provider["name"] != "auto"
    assert provider["name"] == run.manifest["settings"]["provider"]
    assert provider["why"]


def test_a_run_without_a_provider_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"search_mode": "hybrid"})
    assert run.manifest["provider"] is None
    view = load_turn(run, *find_question(run, "q"))
    assert view.layer(Layer.EXCERPTS)["note"].startswith("degraded: hybrid was asked, no provider")


def test_two_replays_with_a_provider_write_the_same_tables(tmp_path: Path) -> None:
    tables = ("turns", "layers", "items", "questions", "evidence", "scores", "conversations")
    one, other = (run_of(tmp_path, HYBRID, name=name) for name in ("one", "other"))
    for name in tables:
        first, second = ((run.folder / f"{name}.parquet").read_bytes() for run in (one, other))
        assert first == second, name


def test_the_same_turn_composed_again_is_the_same(tmp_path: Path) -> None:
    run = run_of(tmp_path, HYBRID)
    where = find_question(run, "q")
    view = load_turn(run, *where)
    again = recomposed(view, memory_at(run, *where), {})
    assert again.system == view.system
    assert again.offered == view.offered


def test_another_way_of_searching_can_be_tried_on_a_turn(tmp_path: Path) -> None:
    run = run_of(tmp_path, {})
    where = find_question(run, "q")
    view = load_turn(run, *where)
    other = recomposed(view, memory_at(run, *where), HYBRID)
    assert other.layer(Layer.EXCERPTS)["ordering"].startswith("hybrid")


# ---- providers that fail


def test_a_provider_that_refuses_ends_the_replay_before_anything_is_written(
    tmp_path: Path, server: Server
) -> None:
    server.behaviour = lambda _: failing(401, "bad key")
    with pytest.raises(ProviderError):
        run_of(tmp_path / "runs", provider_at(server))
    assert not (tmp_path / "runs").exists()


def test_an_unknown_provider_is_told_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="packaged"):
        run_of(tmp_path / "runs", {"provider": "nobody"})
    assert not (tmp_path / "runs").exists()


def down_between(first: int, last: int) -> Behaviour:
    """Refuses for a while, by the count of requests."""
    count = 0

    def behave(request: Request) -> Any:
        nonlocal count
        count += 1
        if first <= count <= last:
            return failing(503, "down", Retry_After="0")
        return vectors(request.texts)

    return behave


def test_a_provider_that_is_switched_off_meanwhile_costs_no_turn_and_the_run_says_so(
    tmp_path: Path, server: Server
) -> None:
    whole = run_of(tmp_path, {}, name="whole")
    server.behaviour = down_between(3, 30)
    run = run_of(tmp_path, provider_at(server), name="broken")
    turns = run.table("turns")
    assert len(turns) == len(whole.table("turns"))
    assert run.manifest["results"]["failed_layers"] == 0
    without = turns["provider_error"] != ""
    assert run.manifest["results"]["provider_errors"] == without.sum()
    assert 0 < without.sum() < len(turns)
    assert "503" in turns.loc[without, "provider_error"].iloc[0]
    degraded = run.query(
        "SELECT count(DISTINCT turn) AS n FROM {layers} "
        "WHERE layer = 'excerpts' AND note LIKE 'degraded: %'"
    )["n"].iloc[0]
    assert degraded == (without & (turns["text"].str.len() > 0)).sum()
    # it came back: nothing waits, and the question found its answer by meaning too
    last = records(turns)[-1]
    assert (last["provider_error"], last["waiting"]) == ("", 0)


def test_a_warm_cache_makes_a_replay_without_a_call(tmp_path: Path, server: Server) -> None:
    run_of(tmp_path, provider_at(server), name="first")
    count = len(server.requests)
    assert count > 0
    provided.cache_clear()
    run_of(tmp_path, provider_at(server), name="second")
    assert len(server.requests) == count


def test_a_conversation_is_embedded_ahead_in_few_calls_and_tells_how_far_it_is(
    tmp_path: Path, server: Server
) -> None:
    seen: list[Progress] = []
    run = run_of(tmp_path, provider_at(server), on_progress=seen.append)
    assert len(server.requests) < len(run.table("turns")) / 2
    ahead = [one for one in seen if one.of_texts]
    assert ahead
    assert ahead[-1].embedded <= ahead[-1].of_texts


def test_an_unfinished_run_is_not_resumed_with_another_provider(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.turns:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_of(tmp_path, HYBRID, name="cut", on_progress=stop)
    with pytest.raises(RunError, match="other settings"):
        run_of(tmp_path, {"search_mode": "hybrid"}, name="cut")
    assert run_of(tmp_path, HYBRID, name="cut").manifest["status"] == "complete"


# ---- cutoffs


def test_a_replay_says_whether_its_cutoffs_are_its_providers(tmp_path: Path) -> None:
    def cutoff(provider: str, **more: Any) -> dict[str, Any]:
        identity = {"provider": provider, "model": "m", "revision": "", "width": 4}
        given = {"kind": "message", "cutoff": 0.5, "low": 0.4, "high": 0.6, "objective": "f1"}
        return {"identity": identity, **given, "data": "a" * 64, "date": "2026-01-01", **more}

    given = json.dumps([cutoff("somebody")])
    run = run_of(tmp_path, {**HYBRID, "cutoffs": given})
    assert cutoffs_in_words(run.manifest) == (
        "1 cutoff was given, none of this run's provider: nothing is cut"
    )
    own = {**cutoff("x"), "identity": run.manifest["provider"]["identity"]}
    manifest = {**run.manifest, "settings": {**run.manifest["settings"], "cutoffs": [own]}}
    assert cutoffs_in_words(manifest).endswith("of this run's provider: 0.5 for messages")
    assert cutoffs_in_words({**run.manifest, "settings": {"cutoffs": []}}) == ""


def test_what_people_said_cannot_steer_the_terminal() -> None:
    assert harmless("a\x1b[31mred\x9b\ttab\nline") == "a\\x1b[31mred\\x9b\ttab\nline"
