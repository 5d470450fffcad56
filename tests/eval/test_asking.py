"""A composed turn asked of a model at a real server that speaks as its maker's does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.asking import (
    Source,
    ask,
    asking_settings,
    brain_for,
    exchange,
    holds,
    shown,
    shown_in_words,
    usual_brain,
)
from eval.asking_job import Asked, AskJob
from eval.runs import Run
from eval.turns import TurnView, load_turn
from memcore import Answer, Brain, CallRecord, InvalidInput, MnemoscopeError
from tests.brain_server import Answer as Sent
from tests.brain_server import BrainServer, brain_server, calls, failing, says
from tests.small_run import make_run
from tests.talks import files_of

LOW, QUOTED, NOTE, PART, NONE = 20, 22, 23, 25, 27
SEARCH = ("a", "search_messages", {"query": "Timofey"})
SECRET = "sk-test-0123456789abcdef"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def server() -> Iterator[BrainServer]:
    with brain_server() as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)


def turn(run: Run, number: int) -> TurnView:
    return load_turn(run, "nina", number)


def brain(view: TurnView, server: BrainServer, kind: str = "openai") -> Brain:
    return brain_for(view, f"{kind}:m@{server.url}" + ("/v1" if kind == "openai" else ""))


def said(*results: str) -> Answer:
    """An answer after calls of `search_messages` that gave these results."""
    records = [CallRecord("search_messages", {}, result, False, 1.0) for result in results]
    return Answer("134", tuple(records), 2, "done")


def test_the_model_gets_the_prompt_that_the_run_keeps(run: Run, server: BrainServer) -> None:
    view = turn(run, QUOTED)
    answered = ask(view, brain(view, server), tools=False)
    assert (answered.text, answered.stopped, answered.calls) == ("Hello.", "done", ())
    sent = server.requests[0].asked
    assert sent["messages"][0] == {"role": "system", "content": view.system}
    assert [one["content"] for one in sent["messages"][1:]] == [t.content for t in view.turns]
    assert "tools" not in sent


def test_its_tools_search_the_memory_as_it_stood_then(
    run: Run, server: BrainServer, kind: str
) -> None:
    view = turn(run, LOW)
    server.script = [calls(SEARCH), says("It is 134.")]
    answered = ask(view, brain(view, server, kind))
    assert answered.text == "It is 134."
    assert [(one.name, one.arguments, one.error) for one in answered.calls] == [
        ("search_messages", {"query": "Timofey"}, False)
    ]
    assert "size 134, in dark blue" in answered.calls[0].result
    assert (answered.rounds, answered.tokens_in, answered.tokens_out) == (2, 22, 6)
    assert server.refused == []


def test_nothing_later_than_the_turn_can_be_found(run: Run, server: BrainServer) -> None:
    view = turn(run, 3)
    server.script = [calls(("a", "search_messages", {"query": "parcel Friday"})), says("No.")]
    answered = ask(view, brain(view, server))
    assert "parcel" not in answered.calls[0].result
    assert "No message was found" in answered.calls[0].result


def test_what_is_remembered_is_gone_afterwards(run: Run, server: BrainServer) -> None:
    view = turn(run, LOW)
    before = files_of(run.folder)
    server.script = [
        calls(("a", "remember", {"text": "Тимофей носит 134."})), says("Kept."),
        calls(("b", "remember", {"text": "Another line."})), says("Kept."),
    ]  # fmt: skip
    first, second = ask(view, brain(view, server)), ask(view, brain(view, server))
    assert first.calls[0].result.startswith("Kept: note 2026-04-10, revision 1")
    assert second.calls[0].result.startswith("Kept: note 2026-04-10, revision 1")
    assert files_of(run.folder) == before


def test_a_turn_that_is_no_question_is_asked_too(run: Run, server: BrainServer) -> None:
    view = turn(run, 3)
    server.script = [calls(("a", "recent_messages", {"limit": 2})), says("Бедная рассада!")]
    answered = ask(view, brain(view, server))
    assert answered.text == "Бедная рассада!"
    assert shown_in_words(view, answered, True) == ""
    assert exchange(view, "m", True, answered)["evidence"] == []


def test_each_request_is_told_of_and_may_be_the_last(run: Run, server: BrainServer) -> None:
    view = turn(run, LOW)
    server.script = [calls(SEARCH), calls(("b", *SEARCH[1:]), ("c", *SEARCH[1:])), says("Done.")]
    told: list[tuple[int, int]] = []
    ask(view, brain(view, server), True, lambda *now: told.append(now))
    assert told == [(1, 0), (2, 1), (3, 3)]

    def no_more(request: int, made: int) -> None:
        if made:
            raise KeyboardInterrupt

    server.script = [calls(SEARCH)]
    with pytest.raises(KeyboardInterrupt):
        ask(view, brain(view, server), True, no_more)
    assert len(server.requests) == 4


def test_the_exchange_is_one_record_for_json(run: Run, server: BrainServer) -> None:
    view = turn(run, LOW)
    server.script = [calls(SEARCH), says("Размер 134.")]
    answered = ask(view, brain(view, server))
    record = json.loads(json.dumps(exchange(view, "openai:m@…", True, answered)))
    assert (record["run"], record["conversation"], record["turn"]) == ("small", "nina", LOW)
    assert record["system"] == view.system
    assert record["messages"][-1]["content"].endswith("Which jacket size for the boy?")
    assert record["calls"][0]["arguments"] == {"query": "Timofey"}
    assert record["reply"] == "Размер 134."
    assert (record["stopped"], record["error"], record["requests"]) == ("done", "", 2)
    assert (record["tokens_in"], record["tokens_out"], record["expected"]) == (22, 6, "134")
    assert record["evidence"] == [
        {"message": "jacket", "source": "in a tool result", "where": "call 1, search_messages"}
    ]


# ---- settings and names


def test_how_long_it_may_take_is_the_environments_unless_the_run_chose(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = turn(make_run(tmp_path, agent_seconds=7, window_cap=600), LOW)
    monkeypatch.setenv("MNEMOSCOPE_AGENT_SECONDS", "33")
    monkeypatch.setenv("MNEMOSCOPE_AGENT_ROUNDS", "3")
    monkeypatch.setenv("MNEMOSCOPE_WINDOW_CAP", "5")
    assert asking_settings(own).agent_seconds == 7
    assert asking_settings(turn(run, LOW)).agent_seconds == 33
    assert asking_settings(own).agent_rounds == 3
    assert asking_settings(own).window_cap == 600


def test_a_runs_own_brain_is_never_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with brain_server() as server:
        view = turn(make_run(tmp_path, brain=f"openai:m@{server.url}/v1"), LOW)
    assert usual_brain(view) == ""
    monkeypatch.setenv("MNEMOSCOPE_BRAIN", "anthropic:m")
    assert usual_brain(view) == "anthropic:m"


@pytest.mark.parametrize(
    "name",
    [
        "",
        SECRET,
        f"openai:{SECRET}",
        f"openai:m@http://me:{SECRET}@127.0.0.1:1/v1",
        f"anthropic:m@http://127.0.0.1:1/?key={SECRET}",
        f"ollama:{SECRET}",
    ],
)
def test_a_name_of_no_brain_is_refused_and_not_repeated(run: Run, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        brain_for(turn(run, LOW), name)
    assert SECRET not in str(refused.value)


# ---- what goes wrong


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (failing("", 401), "ProviderRefused"),
        (failing("", 429, retry_after=0), "ProviderUnavailable"),
        (Sent(body=b"{not json"), "ProviderAnswer"),
        (Sent(body=b'{"choices": []}'), "ProviderAnswer"),
    ],
)
def test_what_a_server_does_wrong_is_said_without_the_key(
    run: Run, server: BrainServer, sent: Sent, error: str
) -> None:
    view = turn(run, LOW)
    server.behaviour = lambda _: sent
    answered = ask(view, brain(view, server), tools=False)
    assert answered.stopped == "error"
    assert answered.error.startswith(f"{error}: openai:m@")
    assert SECRET not in json.dumps(exchange(view, "m", False, answered))


def test_a_server_that_never_answers_ends_with_the_time(
    run: Run, server: BrainServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_AGENT_SECONDS", "0.2")
    view = turn(run, LOW)
    server.behaviour = lambda _: Sent(never=True)
    answered = ask(view, brain(view, server), tools=False)
    assert answered.stopped == "too slow"
    assert answered.error.startswith("no answer within 0.2 seconds")


# ---- was the answer before the model


def test_what_was_in_the_prompt_is_said_with_its_layer(run: Run) -> None:
    view = turn(run, QUOTED)
    assert [one.source for one in shown(view, said())] == [Source.PROMPT]
    words = shown_in_words(view, said(), True)
    assert words == "The message that answers it was in the prompt (excerpts)."


def test_what_a_tool_brought_is_said_with_the_call(run: Run, server: BrainServer) -> None:
    view = turn(run, LOW)
    server.script = [
        calls(("a", "search_messages", {"query": "seedlings"})), calls(("b", *SEARCH[1:])),
        says("134"),
    ]  # fmt: skip
    answered = ask(view, brain(view, server))
    assert shown_in_words(view, answered, True) == (
        "The message that answers it was not in the prompt; "
        "the model found it with a tool (call 2, search_messages)."
    )


@pytest.mark.parametrize(
    ("tools", "results", "why"),
    [
        (False, [], "the model had no tools to search"),
        (True, [], "the model called no tool"),
        (True, ["nothing of it"], "in no tool result"),
    ],
)
def test_what_was_nowhere_is_said_with_why(
    run: Run, tools: bool, results: list[str], why: str
) -> None:
    words = shown_in_words(turn(run, LOW), said(*results), tools)
    assert words.startswith("The message that answers it was nowhere: not in the prompt")
    assert why in words


def test_what_is_only_cited_is_told_from_what_is_quoted(run: Run) -> None:
    view = turn(run, NOTE)
    cited = replace(
        view, fates=tuple(fate._replace(layers=fate.layers[-1:]) for fate in view.fates)
    )
    assert cited.fates[0].only_cited
    assert [one.source for one in shown(cited, said())] == [Source.CITED]
    assert "only cited there (notes)" in shown_in_words(cited, said(), True)


def test_of_several_messages_each_is_counted(run: Run) -> None:
    assert shown_in_words(turn(run, PART), said(), True) == (
        "Of the 2 messages that answer it, the model had 1 in the prompt (window); 1 nowhere."
    )


def test_a_question_without_an_answer_says_what_a_right_reply_is(run: Run) -> None:
    assert "a right reply says so" in shown_in_words(turn(run, NONE), said(), True)


def test_a_long_message_of_which_a_tool_shows_a_piece_is_there_in_part(run: Run) -> None:
    message = replace(turn(run, LOW).messages["jacket"], text="size 134 " * 40)
    head = "- 2026-03-01 12:00, id jacket, thread main, score 3.10\n"
    assert holds(f"{head}  Нина: size 134 size", message) is Source.PART
    assert holds("  he wrote: id jacket, thread main", message) is None
    assert holds(f"- 2026-03-01 12:00, id jacket\n  Нина: {message.text}", message) is Source.TOOL


# ---- in the background


def finished(view: TurnView, name: str, tools: bool = True) -> AskJob:
    job = AskJob(view, name, tools).start()
    job.wait(60)
    assert not job.active
    return job


def test_a_job_keeps_the_answer_and_how_far_it_came(run: Run, server: BrainServer) -> None:
    server.script = [calls(SEARCH), says("134")]
    job = finished(turn(run, LOW), f"openai:m@{server.url}/v1")
    assert job.answer is not None
    assert job.answer.text == "134"
    assert job.progress == Asked(2, 1)
    assert 0 < job.seconds < 60
    assert (job.error, job.stopped, job.trace) == (None, False, "")


def test_a_stopped_job_makes_no_further_request(run: Run, server: BrainServer) -> None:
    job: list[AskJob] = []

    def stops(request: Any) -> Sent:
        job[0].stop()
        return calls(SEARCH)(request)

    server.behaviour = stops
    job.append(AskJob(turn(run, LOW), f"openai:m@{server.url}/v1", True))
    job[0].start().wait(60)
    assert (job[0].active, job[0].answer, job[0].stopped) == (False, None, True)
    assert len(server.requests) == 1


def test_a_memory_that_cannot_be_built_is_an_error_of_the_job(
    run: Run, server: BrainServer
) -> None:
    view = turn(run, LOW)
    gone = replace(view, row={**view.row, "turn": 999})
    job = finished(gone, f"openai:m@{server.url}/v1")
    assert isinstance(job.error, MnemoscopeError)
    assert "no turn 999" in str(job.error)
    assert server.requests == []


def test_what_nobody_expected_is_kept_with_its_trace(run: Run, server: BrainServer) -> None:
    view = turn(run, LOW)
    job = finished(replace(view, row={}), f"openai:m@{server.url}/v1")
    assert isinstance(job.error, KeyError)
    assert "KeyError" in job.trace


@pytest.mark.parametrize(
    "name",
    [
        "openai:m@https://example.org/v1",
        "anthropic:m@http://192.168.0.7",
        "openai:m@http://127.0.0.1:1/@https://example.org/v1",
        "openai:m@https://api.openai.com.example.org/v1",
    ],
)
def test_the_key_goes_to_no_server_that_nobody_configured(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    view = turn(run, LOW)
    with pytest.raises(InvalidInput, match="goes to no other"):
        brain_for(view, name)
    monkeypatch.setenv("MNEMOSCOPE_BRAIN", name)
    assert brain_for(view, name).name


@pytest.mark.parametrize(
    "name",
    [
        "openai:m@https://api.openai.com/v1", "anthropic:m", "anthropic:m@https://api.anthropic.com",
        "openai:m@http://localhost:8000/v1", "openai:m@http://[::1]:8000/v1",
    ],
)  # fmt: skip
def test_makers_servers_and_this_machine_may_be_asked(run: Run, name: str) -> None:
    assert brain_for(turn(run, LOW), name).name
