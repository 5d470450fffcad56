"""The list of runs as a table, made of manifests alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.overview import (
    comparable,
    compared,
    first_choice,
    of_same_settings,
    overview,
    settings_of,
    settings_table,
)
from eval.runs import RunInfo
from eval.stats import interval, percent


def info(
    name: str,
    value: float | None = 0.5,
    characters: float = 1_000,
    arm: str = "first-search",
    data: str = "d1",
    problem: str = "",
    **more: Any,
) -> RunInfo:
    """A run as a list has it."""
    old = {"hits": 1, "count": 2, "value": value, "low": 0.1, "high": 0.9}
    manifest = {
        "arm": arm,
        "dataset": {"name": "shop", "sha256": data},
        "changed_settings": {},
        "settings": {"search_mode": "lexical"},
        "provider": None,
        "started": "2026-01-01T00:00:00+00:00",
        "results": {"old_answers_some": old, "characters_per_turn": characters, "days": 12},
        **more,
    }
    return RunInfo(name, Path(name), manifest, problem)


def best(*found: RunInfo) -> list[str]:
    table = overview(found)
    return list(table.loc[table["best"], "run"])


def test_the_best_reaches_most_then_costs_least_then_is_newest() -> None:
    assert best(info("a", 0.4), info("b", 0.6), info("c", 0.5)) == ["b"]
    assert best(info("a", 0.6, 900), info("b", 0.6, 800)) == ["b"]
    assert best(info("new", 0.6), info("old", 0.6)) == ["new"]


def test_yardsticks_and_unusable_runs_are_never_best() -> None:
    found = (
        info("all", 1.0, arm="full-context"),
        info("half", 0.9, problem="unfinished: 1 of 2"),
        info("real", 0.2),
    )
    assert best(*found) == ["real"]
    table = overview(found)
    assert table["reached"].isna().tolist() == [False, True, False]
    row, yardsticks = compared(table)
    assert row is not None
    assert row["run"] == "real"
    assert [one["run"] for one in yardsticks] == ["all"]


def test_runs_of_other_data_are_not_compared() -> None:
    found = (info("a", 0.2, data="d2"), info("b", 0.9, data="d1"))
    assert best(*found) == ["a", "b"]
    row, _ = compared(overview(found))
    assert row is not None
    assert row["run"] == "a"  # the newest measured run's dataset
    assert list(overview(found)["data"]) == ["shop d2", "shop d1"]
    assert list(overview(found[:1])["data"]) == ["shop"]


def test_a_small_new_trial_does_not_take_the_place_of_the_large_dataset() -> None:
    few = {"hits": 9, "count": 10, "value": 0.9, "low": 0.6, "high": 0.98}
    many = {"hits": 66, "count": 124, "value": 0.53, "low": 0.4, "high": 0.6}
    trial = info("trial", data="part", limit=1, results={"old_answers_some": few})
    whole = info("whole", data="all", results={"old_answers_some": many})
    table = overview([trial, whole])
    row, _ = compared(table)
    assert row is not None
    assert row["run"] == "whole"
    assert list(table["dataset"]) == ["shop, first 1", "shop"]


def test_the_newest_is_the_first_complete_one() -> None:
    table = overview([info("x", problem="damaged: y"), info("a"), info("b")])
    assert list(table.loc[table["newest"], "run"]) == ["a"]


def test_nothing_measured_nothing_compared() -> None:
    assert compared(overview([])) == (None, [])
    assert compared(overview([info("a", None)])) == (None, [])
    assert first_choice([]) is None
    assert first_choice([info("a", None)]) == "a"


def test_the_newest_run_of_each_kind_is_comparable() -> None:
    found = [
        info("new"),
        info("other-data", data="d2"),
        info("changed", changed_settings={"ceiling": "9"}),
        info("broken", arm="no-search", problem="damaged: x"),
        info("old"),
        info("all", arm="full-context"),
    ]
    assert [one.name for one in comparable(found, "old")] == ["old", "changed", "all"]
    assert [one.name for one in comparable(found, "new")] == ["new", "changed", "all"]
    assert comparable(found, "broken") == []


def test_runs_of_the_first_conversations_alone_are_of_other_data() -> None:
    found = [info("all"), info("first", arm="no-search", limit=1)]
    assert [one.name for one in comparable(found, "all")] == ["all"]


def test_only_runs_of_the_same_settings_stand_side_by_side_by_arm() -> None:
    found = [
        info("a"),
        info("b", arm="no-search", changed_settings={"ceiling": "9"}),
        info("c", arm="no-search"),
        info("d", changed_settings={"ceiling": "9"}),
    ]
    for run, same in (("a", ["a", "c"]), ("d", ["d", "b"])):
        assert [one.name for one in of_same_settings(comparable(found, run))] == same


def test_settings_changed_first() -> None:
    table = settings_of(info("a", settings={"a": 1, "z": 2}, changed_settings={"z": "2"}))
    assert list(table["setting"]) == ["z", "a"]
    assert settings_of(info("a", settings=None)).empty
    assert "ceiling" in set(settings_table()["setting"])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"),
        (0.0, "0%"),
        (0.001, "<1%"),
        (0.646, "65%"),
        (0.999, ">99%"),
        (1.0, "100%"),
    ],
)
def test_percent_never_rounds_to_all_or_nothing(value: float | None, words: str) -> None:
    assert percent(value) == words


def test_interval_in_words() -> None:
    assert interval(0.556, 0.7275) == "56–73%"
    assert interval(None, None) == "–"
