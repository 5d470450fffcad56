"""Asking a model of a turn, on the page and at a real server, without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from memcore import NotFound
from pages.shared import wording_turn as wording
from tests.brain_server import Answer as Sent
from tests.brain_server import BrainServer, brain_server, calls, failing, says
from tests.small_run import make_run

Open = Callable[..., AppTest]

LOW, UNFOUND, QUOTED, NONE = 20, 21, 22, 27
HOSTILE = "<script>alert(1)</script> **bold** $x^2$ [here](http://x) </div></details> `code`"
SECRET = "sk-test-0123456789abcdef"


@pytest.fixture(scope="module")
def small_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder)
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BrainServer]:
    """A server of models, named as the one to ask."""
    with brain_server() as running:
        monkeypatch.setenv("MNEMOSCOPE_BRAIN", f"openai:m@{running.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        yield running


@pytest.fixture
def open_ask(small_runs: Path, open_page: Open) -> Open:
    """Opens the panel at a turn."""

    def opened(turn: int = LOW, **address: Any) -> AppTest:
        given = {"run": "small", "conversation": "nina", "panel": "ask", **address}
        return open_page("turn", small_runs, turn=turn, **given)

    return opened


def text(page: AppTest) -> str:
    return "\n".join(str(one.proto.body) for one in page.get("html"))


def errors(page: AppTest) -> list[str]:
    return [one.value for one in (*page.error, *page.warning)]


def codes(page: AppTest) -> str:
    return "\n".join(one.value for one in page.code)


def asked(page: AppTest) -> AppTest:
    """Clicks, waits for whatever is asked, and looks again."""
    page.button(key="turn_ask").click().run()
    assert not page.exception, page.exception[0].message
    for job in page.session_state["turn_ask_jobs"].values():
        job.wait(60)
        assert not job.active
    page.run()
    assert not page.exception, page.exception[0].message
    return page


def keys(page: AppTest) -> set[str | None]:
    return {one.key for one in page.button}


# ---- whom to ask


def test_without_a_model_the_page_says_what_to_do_and_offers_nothing_dead(open_ask: Open) -> None:
    page = open_ask()
    assert not page.exception
    assert wording.ASK_NO_MODEL in [one.value for one in page.info]
    assert wording.ASK_EXAMPLES in [one.value for one in page.code]
    assert len(wording.ASK_EXAMPLES.splitlines()) == 2
    assert "turn_ask" not in keys(page)


def test_a_model_named_in_the_field_is_asked_and_stays_named(
    open_ask: Open, server: BrainServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MNEMOSCOPE_BRAIN")
    page = open_ask()
    page.text_input(key="turn_ask_model").input(f" anthropic:m@{server.url} ").run()
    assert "Hello." in text(asked(page))
    assert server.requests[0].path == "/v1/messages"
    assert "anthropic" not in str(page.query_params)
    page.segmented_control(key="panel").set_value("layers").run()
    page.segmented_control(key="panel").set_value("ask").run()
    assert "Hello." in text(page)


@pytest.mark.parametrize("name", ["gpt", "openai:gpt", SECRET, f"openai:m@http://u:{SECRET}@h/v1"])
def test_a_name_of_no_model_says_which_forms_there_are(open_ask: Open, name: str) -> None:
    page = open_ask()
    page.text_input(key="turn_ask_model").input(name).run()
    assert not page.exception
    assert wording.ASK_BAD_MODEL in errors(page)
    assert wording.ASK_FORMS in codes(page)
    assert SECRET not in codes(page)
    assert "turn_ask" not in keys(page)


def test_settings_that_are_not_accepted_are_said(
    open_ask: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_AGENT_ROUNDS", "none at all")
    page = open_ask()
    assert wording.ASK_BAD_SETTINGS in errors(page)
    assert "agent_rounds" in codes(page)


def test_an_address_does_not_choose_whom_the_key_goes_to(
    open_ask: Open, server: BrainServer
) -> None:
    page = open_ask(brain="openai:m@http://127.0.0.1:1/v1", turn_ask_model="openai:m@http://evil")
    assert page.text_input(key="turn_ask_model").value == f"openai:m@{server.url}/v1"


def test_nothing_is_asked_before_a_click(open_ask: Open, server: BrainServer) -> None:
    page = open_ask()
    assert "Sends" in page.button(key="turn_ask").help
    assert server.requests == []


# ---- what comes of it


def test_a_reply_is_shown_with_its_calls_and_where_the_answer_was(
    open_ask: Open, server: BrainServer
) -> None:
    server.script = [
        calls(("a", "search_messages", {"query": "Timofey", "limit": 3})),
        calls(("b", "search_messages", {"query": "x", "limit": 999})),
        says("The boy wears size 134."),
    ]  # fmt: skip
    page = asked(open_ask())
    shown = text(page)
    assert "The boy wears size 134." in shown
    assert "compare it with the expected answer: <b><bdi>134</bdi></b>" in shown
    assert "the model found it with a tool (call 1, search_messages)" in shown
    assert "Answered in 3 requests, 2 tool calls" in shown
    assert "33 tokens in, 9 out" in shown
    assert escape('{"query": "Timofey", "limit": 3}') in shown
    assert wording.ASK_EVIDENCE_CALL in shown
    assert '<mark class="m-found">The jacket for Timofey is size 134' in shown
    assert f"✗ {wording.ASK_CALL_ERROR}" in shown
    assert "error: search_messages was not run: limit" in shown
    assert errors(page) == []


def test_the_exchange_can_be_downloaded_whole(open_ask: Open, server: BrainServer) -> None:
    server.script = [calls(("a", "search_messages", {"query": "Тимофей"})), says("Размер 134.")]
    page = asked(open_ask())
    assert wording.ASK_DOWNLOAD in [one.proto.label for one in page.get("download_button")]


def test_of_a_huge_reply_the_beginning_is_shown(open_ask: Open, server: BrainServer) -> None:
    server.script = [says("word " * 40_000 + "THE END")]
    shown = text(asked(open_ask()))
    assert "word word" in shown
    assert "THE END" not in shown
    assert "180,007 more characters are in the exchange as JSON" in shown


def test_russian_is_shown_as_it_is(open_ask: Open, server: BrainServer) -> None:
    server.script = [
        calls(("a", "search_messages", {"query": "кошка Муська"})),
        says("Муська столкнула рассаду с подоконника."),
    ]
    shown = text(asked(open_ask(UNFOUND)))
    assert "Муська столкнула рассаду с подоконника." in shown
    assert escape('{"query": "кошка Муська"}') in shown
    assert '<mark class="m-found">Кошка Муська столкнула рассаду' in shown


def test_without_tools_the_model_gets_none(open_ask: Open, server: BrainServer) -> None:
    page = asked(open_ask(tools="off"))
    assert "tools" not in server.requests[0].asked
    assert "the model had no tools to search" in text(page)
    assert wording.ASK_NO_TOOLS in text(page)


def test_whatever_a_model_says_is_text(open_ask: Open, server: BrainServer) -> None:
    server.script = [
        calls(("a", HOSTILE, {HOSTILE: HOSTILE}), ("b", "remember", {"text": HOSTILE})),
        says(HOSTILE),
    ]
    page = asked(open_ask())
    shown = text(page)
    assert shown.count(escape(HOSTILE)) >= 2
    assert "<script>alert" not in shown
    for element in (*page.markdown, *page.caption, *page.info, *page.warning, *page.error):
        assert "alert(1)" not in element.value


def test_a_tool_that_there_is_not_is_an_error_that_the_model_was_told(
    open_ask: Open, server: BrainServer
) -> None:
    server.script = [calls(("a", "open_the_safe", {})), says("I cannot.")]
    shown = text(asked(open_ask()))
    assert "1. open_the_safe" in shown
    assert "there is no tool open_the_safe; there are remember" in shown


# ---- what goes wrong


@pytest.mark.parametrize(
    ("sent", "kind", "detail"),
    [
        (failing("", 401), "ProviderRefused", "set OPENAI_API_KEY to a key that it accepts"),
        (failing("", 429, retry_after=0), "ProviderUnavailable", "answered 429"),
        (Sent(body=b"<html>no</html>"), "ProviderAnswer", "openai:m@"),
    ],
)
def test_a_failure_says_what_happened_and_what_to_do(
    open_ask: Open, server: BrainServer, sent: Sent, kind: str, detail: str
) -> None:
    server.behaviour = lambda _: sent
    page = asked(open_ask())
    assert wording.ASK_FAILED[kind] in errors(page)
    assert detail in codes(page)
    assert SECRET not in codes(page) + text(page)
    assert not page.button(key="turn_ask").disabled


def test_a_server_that_is_not_there_is_said(
    open_ask: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with brain_server() as gone:
        monkeypatch.setenv("MNEMOSCOPE_BRAIN", f"openai:m@{gone.url}/v1")
    monkeypatch.setenv("MNEMOSCOPE_AGENT_SECONDS", "0.4")
    page = asked(open_ask())
    assert len(errors(page)) == 1
    assert "cannot be reached" in codes(page)


def test_a_model_that_does_not_answer_in_time_says_how_to_give_it_more(
    open_ask: Open, server: BrainServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_AGENT_SECONDS", "0.3")
    server.behaviour = lambda _: Sent(never=True)
    page = asked(open_ask())
    assert wording.ASK_SLOW.format(limit=0.3) in errors(page)
    assert "MNEMOSCOPE_AGENT_SECONDS" in errors(page)[0]


def test_endless_calls_end_and_say_so(
    open_ask: Open, server: BrainServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_AGENT_ROUNDS", "3")

    def goes_on(request: Any) -> Sent:
        number = len(server.requests)
        more = calls((f"c{number}", "recent_messages", {"limit": 1}))
        return (more if "tools" in request.asked else says("What I have."))(request)

    server.behaviour = goes_on
    page = asked(open_ask())
    assert wording.ASK_ENDLESS in errors(page)
    assert "What I have." in text(page)
    assert "in 4 requests, 3 tool calls" in text(page)


def test_a_model_that_says_nothing_is_said_to(open_ask: Open, server: BrainServer) -> None:
    server.behaviour = says("")
    page = asked(open_ask())
    assert wording.ASK_FAILED_OTHERWISE in errors(page)
    assert "the model said nothing" in codes(page)


def test_an_answer_that_was_cut_off_is_shown_with_a_warning(
    open_ask: Open, server: BrainServer
) -> None:
    server.behaviour = says("It is", stop="length")
    page = asked(open_ask())
    assert wording.ASK_CUT in errors(page)
    assert "It is" in text(page)


# ---- which reply belongs where


def test_a_reply_stays_with_its_turn_its_tools_and_its_model(
    open_ask: Open, server: BrainServer
) -> None:
    server.behaviour = says("Reply to the first.")
    page = asked(open_ask())
    page.button(key="turn_next").click().run()
    assert "Reply to the first." not in text(page)
    assert page.button(key="turn_ask").label == wording.ASK_NOW
    page.button(key="turn_previous").click().run()
    assert "Reply to the first." in text(page)
    assert page.button(key="turn_ask").label == wording.ASK_AGAIN
    page.segmented_control(key="tools").set_value("off").run()
    assert "Reply to the first." not in text(page)
    page.segmented_control(key="tools").set_value("on").run()
    assert "Reply to the first." in text(page)
    page.text_input(key="turn_ask_model").input(f"openai:other@{server.url}/v1").run()
    assert "Reply to the first." not in text(page)


def test_asking_again_replaces_the_reply(open_ask: Open, server: BrainServer) -> None:
    server.script = [says("First."), says("Second.")]
    page = asked(open_ask())
    assert "First." in text(page)
    page = asked(page)
    assert "First." not in text(page)
    assert "Second." in text(page)


def test_while_it_waits_the_page_shows_how_long_and_can_give_up(
    open_ask: Open, server: BrainServer
) -> None:
    server.behaviour = lambda _: Sent(never=True)
    page = open_ask()
    page.button(key="turn_ask").click().run()
    assert not page.exception
    assert page.button(key="turn_ask").disabled
    assert wording.ASK_RUNS_ON in [one.value for one in page.caption]
    page.button(key="turn_ask_stop").click().run()
    assert not page.exception
    assert not page.button(key="turn_ask").disabled
    assert "turn_ask_stop" not in keys(page)
    server.stopping.set()


@pytest.mark.parametrize("turn", [0, 1, 6, NONE])
def test_every_kind_of_turn_can_be_asked(open_ask: Open, server: BrainServer, turn: int) -> None:
    page = asked(open_ask(turn))
    assert "Hello." in text(page)
    assert errors(page) == []


def test_a_memory_that_cannot_be_built_is_said(
    open_ask: Open, server: BrainServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise NotFound("no such <b>turn</b>")

    monkeypatch.setattr("eval.asking.memory_at", fails)
    page = asked(open_ask())
    assert wording.ASK_BROKE in errors(page)
    assert "no such <b>turn</b>" in codes(page)
