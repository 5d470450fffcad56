"""Runs in words: the table's columns as a person reads them, and the pieces of a sentence."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from eval.recall import DAYS
from eval.stats import interval, percent
from pages.shared import wording
from pages.shared.workbench import escaped


def as_shown(table: pd.DataFrame, busy: str | None) -> pd.DataFrame:
    """The overview in the words and the order of the screen; `busy` is being replayed now."""
    rows = [
        {
            wording.COLUMN_MARK: _mark(row),
            wording.COLUMN_ARM: row["arm"] or "–",
            wording.COLUMN_PROVIDER: _shown_provider(row["provider"]),
            wording.COLUMN_CHANGED: _others(row["changed"]) or wording.NO_CHANGES,
            wording.COLUMN_REACHED: row["reached"] * 100,
            wording.COLUMN_INTERVAL: _interval(row),
            wording.COLUMN_CHARACTERS: _characters(row),
            wording.COLUMN_STATE: (
                wording.STATE_REPLAYING if row["run"] == busy else wording.STATE[row["state"]]
            ),
            wording.COLUMN_ERRORS: _errors(row),
            wording.COLUMN_ASKED: f"{_count(row['questions'])} / {_count(row['turns'])}",
            wording.COLUMN_DATASET: row["data"] or "–",
            wording.COLUMN_STARTED: row["started"],
            wording.COLUMN_RUN: row["run"],
        }
        for row in table.to_dict(orient="records")
    ]
    return pd.DataFrame(rows)


def in_words(row: dict[str, Any] | pd.Series[Any]) -> dict[str, str]:
    """The pieces of a sentence about a run, ready for Markdown."""
    days, provider = row["days"], escaped(_provider(row["provider"]))
    return {
        "arm": escaped(row["arm"] or "?"),
        "dataset": escaped(row["data"] or "?"),
        "changed": f" ({escaped(row['changed'])})" if row["changed"] else "",
        "others": f" ({escaped(others)})" if (others := _others(row["changed"])) else "",
        "by": "" if row["provider"].startswith("none") else f", {provider}",
        "provider": provider,
        "share": escaped(percent(row["reached"])),
        "interval": escaped(interval(row["low"], row["high"])),
        "days": str(int(days) if days == days else DAYS),
        "hits": _count(row["hits"]),
        "count": _count(row["count"]),
        "characters": _count(row["characters"]),
        "per": str(row["per"]),
    }


def _others(changed: str) -> str:
    """The changed settings without those that the provider's own words tell."""
    told = ("provider=", "search_mode=")
    return ", ".join(one for one in changed.split(", ") if not one.startswith(told))


def _mark(row: dict[str, Any]) -> str:
    marks = [(row["best"], wording.MARK_BEST), (row["newest"], wording.MARK_NEWEST)]
    return ", ".join(mark for holds, mark in marks if holds)


def _interval(row: dict[str, Any]) -> str:
    if row["reached"] != row["reached"]:
        return "–"
    of = wording.HITS_OF_COUNT.format(hits=_count(row["hits"]), count=_count(row["count"]))
    return f"{interval(row['low'], row['high'])} ({of})"


def _characters(row: dict[str, Any]) -> str:
    return _count(row["characters"]) + (" a question" if row["per"] == "question" else "")


def _errors(row: dict[str, Any]) -> str:
    if row["state"] != "complete":
        return "–"
    found = [row["inconclusive"]] if row["inconclusive"] else []
    if row["failed_layers"] > 0:
        one = row["failed_layers"] == 1
        words = wording.ONE_FAILED_LAYER if one else wording.FAILED_LAYERS
        found.append(words.format(count=_count(row["failed_layers"])))
    # What makes a run inconclusive counts those turns already.
    if row["provider_errors"] > 0 and not row["inconclusive"]:
        one = row["provider_errors"] == 1
        words = wording.ONE_WITHOUT_PROVIDER if one else wording.WITHOUT_PROVIDER
        found.append(words.format(count=_count(row["provider_errors"])))
    if row["refused"] > 0:
        found.append(wording.REFUSED.format(count=_count(row["refused"])))
    return ", ".join(found) or wording.NO_ERRORS


def _provider(provider: str) -> str:
    name, _, mode = provider.partition(": ")
    if not provider:
        return "?"
    words = wording.NO_PROVIDER if name == "none" else wording.WITH_PROVIDER
    return words.format(provider=name, mode=mode)


def _shown_provider(provider: str) -> str:
    name, _, mode = provider.partition(": ")
    if not provider:
        return "–"
    words = wording.NO_PROVIDER_SHOWN if name == "none" else wording.PROVIDER_SHOWN
    return words.format(provider=name, mode=mode)


def _count(value: float) -> str:
    return "–" if value != value else f"{value:,.0f}"


def columns(shown: pd.DataFrame) -> dict[str, Any]:
    """How the columns of `as_shown` are drawn."""
    any_changed = len(shown) and (shown[wording.COLUMN_CHANGED] != wording.NO_CHANGES).any()
    column = st.column_config
    return {
        wording.COLUMN_REACHED: column.ProgressColumn(
            min_value=0, max_value=100, format="%.0f%%", help=wording.HELP_REACHED, width=150
        ),
        wording.COLUMN_INTERVAL: column.TextColumn(help=wording.HELP_INTERVAL),
        wording.COLUMN_CHARACTERS: column.TextColumn(
            help=wording.HELP_CHARACTERS, alignment="right"
        ),
        wording.COLUMN_MARK: column.TextColumn(width=112),
        wording.COLUMN_CHANGED: column.TextColumn(width=190 if any_changed else None),
        wording.COLUMN_ERRORS: column.TextColumn(help=wording.HELP_ERRORS),
        wording.COLUMN_PROVIDER: column.TextColumn(help=wording.HELP_PROVIDER),
        wording.COLUMN_STARTED: column.DatetimeColumn(format="D MMM YY, HH:mm", timezone="UTC"),
    }
