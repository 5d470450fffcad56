"""What the Turn page reads, cached: a complete run never changes, so neither do its turns."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st

from eval.offered import Texts, texts
from eval.runs import Run
from eval.timeline import Entry, entries
from eval.turns import (
    MemoryAt,
    TurnView,
    conversations,
    load_turn,
    memory_at,
    previous_turn,
    turn_list,
)

Key = tuple[str, str]


def key_of(run: Run) -> Key:
    """What tells a run apart from another that was put in its place."""
    return str(run.folder.resolve()), str(run.manifest.get("finished", ""))


def all_conversations(run: Run) -> pd.DataFrame:
    return _conversations(key_of(run), run)


def all_turns(run: Run, conversation: str) -> pd.DataFrame:
    return _turns(key_of(run), run, conversation)


def turn(run: Run, conversation: str, number: int) -> TurnView:
    """A turn. Raises `NotFound` and `RunDamaged`."""
    return _turn(key_of(run), run, conversation, number)


def before(view: TurnView) -> TurnView | None:
    """The turn composed before it in its thread."""
    number = previous_turn(view)
    return None if number is None else turn(view.run, view.talk.id, number)


def timeline(view: TurnView) -> list[Entry]:
    return _entries(key_of(view.run), view.talk.id, view.number, view)


def item_texts(view: TurnView) -> Texts:
    """Composed anew, a turn has other items than the run's of that number: no cache knows them."""
    if view is not turn(view.run, view.talk.id, view.number):
        return texts(view)
    return _texts(key_of(view.run), view.talk.id, view.number, view)


def memory(view: TurnView) -> MemoryAt:
    """The memory as it stood at a turn."""
    return _memory(key_of(view.run), view.run, view.talk.id, view.number)


def moment(time: datetime, zone: str) -> str:
    """A time as it was where the owner lives."""
    local = time.astimezone(ZoneInfo(zone))
    return f"{local.day} {local:%b %Y, %H:%M}"


def one_line(text: str, size: int = 90) -> str:
    """The beginning of a text, without line ends."""
    line = " ".join(text.split())
    return line if len(line) <= size else f"{line[: size - 1].rstrip()}…"


# The arguments that are not used in what follows are the keys of the caches.


@st.cache_resource(max_entries=8, show_spinner=False)
def _conversations(key: Key, _run: Run) -> pd.DataFrame:  # noqa: ARG001
    lost = _run.query(
        "SELECT conversation, count(*) FILTER (WHERE stage <> 'reached')::INTEGER AS lost "
        "FROM {questions} GROUP BY conversation"
    )
    found = conversations(_run).merge(lost, on="conversation", how="left")
    return found.fillna({"lost": 0})


@st.cache_resource(max_entries=32, show_spinner=False)
def _turns(key: Key, _run: Run, conversation: str) -> pd.DataFrame:  # noqa: ARG001
    return turn_list(_run, conversation)


@st.cache_resource(max_entries=64, show_spinner=False)
def _turn(key: Key, _run: Run, conversation: str, number: int) -> TurnView:  # noqa: ARG001
    return load_turn(_run, conversation, number)


@st.cache_resource(max_entries=32, show_spinner=False)
def _entries(key: Key, conversation: str, number: int, _view: TurnView) -> list[Entry]:  # noqa: ARG001
    return entries(_view)


@st.cache_resource(max_entries=32, show_spinner=False)
def _texts(key: Key, conversation: str, number: int, _view: TurnView) -> Texts:  # noqa: ARG001
    return texts(_view)


@st.cache_resource(max_entries=4, show_spinner=False)
def _memory(key: Key, _run: Run, conversation: str, number: int) -> MemoryAt:  # noqa: ARG001
    return memory_at(_run, conversation, number)
