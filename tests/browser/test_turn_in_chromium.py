"""The way of a person through the dashboard to a turn, in a real browser."""

from __future__ import annotations

import re
from typing import Any

from tests.brain_server import brain_server, calls, says
from tests.small_run import HOSTILE

LOW, UNFOUND = 20, 21


def address(server: str, turn: int, **more: str) -> str:
    tail = "".join(f"&{name}={value}" for name, value in more.items())
    return f"{server}/turn?run=small&conversation=nina&turn={turn}{tail}"


def wait_for_turn(page: Any, turn: int) -> None:
    page.wait_for_url(re.compile(rf"[?&]turn={turn}(&|$)"))


def test_a_link_is_the_first_thing_that_a_server_is_asked_for(server: str, page: Any) -> None:
    """Runs first: before `app.py` was opened, Streamlit would run the page without it."""
    page.goto(address(server, LOW))
    page.get_by_text("It is NOT in this prompt").wait_for()
    page.get_by_role("link", name="Recall").wait_for()
    assert page.get_by_text("Which jacket size for the boy?").first.is_visible()
    assert page.get_by_text("within the number allowed").is_visible()


def test_the_answer_stands_on_the_first_screen(server: str, page: Any) -> None:
    page.goto(address(server, LOW))
    evidence = page.locator(".m-message.m-missing")
    evidence.wait_for()
    page.wait_for_function(
        "() => { const box = document.querySelector('.m-message.m-missing')"
        ".getBoundingClientRect(); return box.top > 0 && box.bottom < innerHeight; }"
    )
    assert "134" in evidence.inner_text()
    for there in (".m-answer", ".m-path", "[data-testid=stPlotlyChart]"):
        box = page.locator(there).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 900


def test_from_the_door_to_a_turn_and_through_the_turns(server: str, page: Any) -> None:
    page.goto(server)
    page.get_by_role("link", name="Turn").click()
    page.locator(".m-answer").wait_for()
    page.goto(address(server, LOW))
    page.get_by_text("It is NOT in this prompt").wait_for()
    page.get_by_role("button", name="Next").click()
    page.locator(".m-question", has_text="Who ruined the seedlings?").wait_for()
    wait_for_turn(page, UNFOUND)
    page.get_by_role("button", name="Previous").click()
    page.locator(".m-question", has_text="Which jacket size for the boy?").wait_for()
    wait_for_turn(page, LOW)


def test_show_it_brings_the_answer_into_view(server: str, page: Any) -> None:
    page.goto(address(server, LOW))
    page.get_by_role("button", name="Show it").click()
    marked = page.locator(".m-message.m-marked")
    marked.wait_for()
    assert "134" in marked.inner_text()
    page.wait_for_url(re.compile(r"message=jacket"))
    page.reload()
    page.locator(".m-message.m-marked").wait_for()


def test_a_slider_changes_the_prompt_at_once(server: str, page: Any) -> None:
    page.goto(address(server, LOW, panel="whatif"))
    page.get_by_text("move a slider").wait_for()
    ceiling = page.get_by_role("slider", name="Ceiling, characters")
    ceiling.focus()
    ceiling.press("Home")
    page.get_by_text("What differs from the run's prompt").wait_for()
    page.locator(".m-line.m-left", has_text="Her phone").first.wait_for()
    page.wait_for_url(re.compile(r"ceiling=0"))
    page.get_by_role("button", name="Back to the run's numbers").click()
    page.get_by_text("move a slider").wait_for()


def test_what_people_wrote_is_text_in_the_browser_too(server: str, page: Any) -> None:
    page.goto(address(server, 1, panel="prompt"))
    page.locator(".m-said, .m-question").first.wait_for()
    assert page.locator(".m-answer .m-words").inner_text() == HOSTILE
    page.locator(".m-layer", has_text="new message").wait_for()
    assert HOSTILE in page.locator(".m-layer", has_text="new message").inner_text()
    assert page.locator(".m-answer script, .m-answer .katex, .m-answer strong").count() == 0


def test_a_model_is_asked_and_its_reply_and_tool_call_are_shown(server: str, page: Any) -> None:
    with brain_server() as model:
        model.script = [
            calls(("a", "search_messages", {"query": "Timofey"})),
            says(f"Размер 134. {HOSTILE}"),
            says("Another one."),
        ]
        page.goto(address(server, LOW, panel="ask"))
        page.get_by_text("No model is named yet").wait_for()
        field = page.get_by_label("Model", exact=True)
        field.fill(f"openai:m@{model.url}/v1")
        field.press("Enter")
        page.get_by_role("button", name="Ask", exact=True).click()
        reply = page.locator(".m-reply")
        reply.wait_for()
        assert reply.inner_text() == f"Размер 134. {HOSTILE}"
        assert page.locator(".m-reply script, .m-reply .katex, .m-reply strong").count() == 0
        page.get_by_text("the model found it with a tool (call 1, search_messages)").wait_for()
        call = page.locator("details.m-call", has_text="1. search_messages")
        assert "The jacket for Timofey is size 134" in call.locator("mark").inner_text()
        field.fill(f"anthropic:other@{model.url}")  # and no Enter: the click alone must do
        page.get_by_role("button", name="Ask again").click()
        page.locator(".m-reply", has_text="Another one.").wait_for()
        assert [one.asked["model"] for one in model.requests] == ["m", "m", "other"]
        assert model.url.rpartition(":")[2] not in page.url
        assert model.refused == []


def test_a_failing_question_leads_from_recall_to_its_turn(server: str, page: Any) -> None:
    question = "Which jacket size for the boy?"
    page.goto(f"{server}/recall?run=small")
    table = page.get_by_test_id("stDataFrame").filter(has_text=question)
    table.scroll_into_view_if_needed()
    row = table.locator("tr", has_text=question).get_attribute("aria-rowindex")
    cells = table.locator(".dvn-scroller")  # they are painted: a click goes to a place
    link = {"x": 25, "y": 35 * (int(row) - 1) + 17}
    cells.hover(position={"x": 20, "y": link["y"]})
    cells.hover(position=link)
    page.wait_for_function(
        "(cells) => cells.style.cursor === 'pointer'", arg=cells.element_handle()
    )
    with page.context.expect_page() as opened:
        cells.click(position=link)
    turn = opened.value
    turn.get_by_text("It is NOT in this prompt").wait_for()
    assert f"turn={LOW}" in turn.url
    assert question in turn.locator(".m-question").inner_text()
