"""The way of a person through the dashboard to a turn, in a real browser.

Skipped where there is no Chromium; with MNEMOSCOPE_REQUIRE_BROWSER=1 that is a failure instead.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.small_run import HOSTILE, make_run

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = os.environ.get("MNEMOSCOPE_REQUIRE_BROWSER") == "1"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOW, UNFOUND = 20, 21
SECONDS = 90


def missing(what: str) -> None:
    if REQUIRED:
        pytest.fail(f"{what}, and MNEMOSCOPE_REQUIRE_BROWSER=1 asks for it")
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the package playwright is not installed")
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        missing(f"none of {', '.join(BROWSERS)} is on this machine")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard over the small run, and the demo that it makes on first start."""
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")]
    command += ["--server.headless", "true", "--server.port", str(port)]
    with (folder.parent / "server.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "MNEMOSCOPE_RUNS": str(folder)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_it_answers(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _wait_until_it_answers(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, "the dashboard ended by itself"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            continue
    pytest.fail(f"the dashboard did not answer within {SECONDS} seconds")


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A fresh page that fails the test for errors of its scripts."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(SECONDS * 1000)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(f"a dialog opened: {dialog.message}"))
    yield opened
    context.close()
    assert errors == []


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
