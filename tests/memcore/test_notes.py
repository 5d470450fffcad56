"""The write gate: what it refuses, what it writes in one piece, and what a delete leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from memcore import PAGE, Memory, Note, Owner, Settings
from memcore.errors import InvalidInput, NoteTooLong, NotFound, SecretFound, StaleRevision
from memcore.stores.sqlite import SqliteStore
from memcore.testing import InMemoryStore, SettableClock
from memcore.types import Event, QueuedPassage, Writer
from tests.support import ANNA, START, at, memory

WRITERS = get_args(Writer)


@pytest.fixture(params=["in memory", "sqlite"])
def mind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    store: Any = InMemoryStore()
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "memory.db", durable=False)
    with closing(store):
        yield Memory(store, Settings(), SettableClock(START))


def write(mind: Memory, text: str, key: str = PAGE, expected: int = 0, **more: Any) -> Note:
    more = {"writer": "remember", **more}
    return mind.notes.write(ANNA, key, text, expected_revision=expected, **more)


def nothing_written(mind: Memory) -> bool:
    with mind.store.reading() as parts:
        return not (
            parts.notes.all(ANNA) or parts.journal.events(ANNA, 9) or parts.queue.waiting(ANNA, 9)
        )


def test_a_write_returns_its_revision_and_leaves_note_history_event_and_queue(
    mind: Memory,
) -> None:
    first = write(mind, "one", sources=["m1", "m2"])
    mind.clock.set(at(5))  # type: ignore[attr-defined]
    second = write(mind, "two!", expected=1, writer="curator")
    assert first == Note(PAGE, "one", 1, START, "remember", ("m1", "m2"))
    assert second == Note(PAGE, "two!", 2, at(5), "curator")
    assert mind.notes.get(ANNA, PAGE) == second
    assert mind.notes.history(ANNA, PAGE) == [second, first]
    with mind.store.reading() as parts:
        assert parts.queue.waiting(ANNA, 9) == [QueuedPassage("note", PAGE, 2)]
        assert parts.journal.events(ANNA, 9) == [
            Event(at(5), "curator", "note written", PAGE, (), "revision 2, 4 characters"),
            Event(START, "remember", "note written", PAGE, ("m1", "m2"),
                  "revision 1, 3 characters"),
        ]  # fmt: skip


@pytest.mark.parametrize("writer", WRITERS)
def test_two_thousand_characters_pass_through_every_writer(mind: Memory, writer: Writer) -> None:
    text = "ё" * 1_999 + "\U0001f339"
    assert write(mind, text, writer=writer).text == text


@pytest.mark.parametrize("writer", WRITERS)
def test_one_more_is_refused_with_both_numbers_and_writes_nothing(
    mind: Memory, writer: Writer
) -> None:
    with pytest.raises(NoteTooLong, match=r"2001.*2000") as caught:
        write(mind, "x" * 2_001, writer=writer)
    assert (caught.value.size, caught.value.limit) == (2_001, 2_000)
    assert nothing_written(mind)


def test_the_limit_is_a_setting_and_nothing_is_trimmed() -> None:
    mind = memory(note_size=10)
    assert write(mind, "  padded  ").text == "  padded  "
    with pytest.raises(NoteTooLong, match=r"11.*10"):
        write(mind, "  padded   ", expected=1)


def test_there_are_three_writers_and_no_fourth(mind: Memory) -> None:
    assert WRITERS == ("import", "remember", "curator")
    with pytest.raises(InvalidInput, match=r"'agent'.*import, remember, curator"):
        write(mind, "x", writer="agent")
    assert nothing_written(mind)


@pytest.mark.parametrize(
    "key", ["", "Page", "2026-3-2", "2026-02-30", "20260302", "2026-W10-1", "2026-03-02T00:00", "x"]
)
def test_a_key_is_the_page_or_a_day(mind: Memory, key: str) -> None:
    with pytest.raises(InvalidInput, match="YYYY-MM-DD"):
        write(mind, "x", key)
    assert nothing_written(mind)


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2028"])
def test_an_empty_note_is_refused(mind: Memory, text: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        write(mind, text)
    assert nothing_written(mind)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_secret_is_refused_with_kind_and_place_and_never_its_value(
    mind: Memory, writer: Writer
) -> None:
    value = "sk-ant-api03-abcdefghijklmnop1234"
    with pytest.raises(SecretFound) as caught:
        write(mind, f"Her key is {value}", writer=writer)
    assert (caught.value.kind, caught.value.start) == ("Anthropic key", 11)
    assert "Anthropic key" in str(caught.value)
    assert "11" in str(caught.value)
    assert "abcdef" not in str(caught.value)
    assert "abcdef" not in repr(caught.value)
    assert nothing_written(mind)


def test_a_stale_write_is_refused_with_both_revisions_and_overwrites_nothing(mind: Memory) -> None:
    write(mind, "one")
    write(mind, "two", expected=1)
    for expected in (0, 1, 3):
        with pytest.raises(StaleRevision, match=f"revision 2.*revision {expected}") as caught:
            write(mind, "slow curator", expected=expected, writer="curator")
        assert (caught.value.expected, caught.value.current) == (expected, 2)
    assert [note.text for note in mind.notes.history(ANNA, PAGE)] == ["two", "one"]
    with pytest.raises(StaleRevision):
        write(mind, "x", "2026-03-02", expected=1)


def test_lone_surrogates_become_replacement_marks(mind: Memory) -> None:
    assert write(mind, "a\ud800b").text == "a\ufffdb"


def test_a_deleted_note_is_gone_from_everywhere_but_the_journal(mind: Memory) -> None:
    write(mind, "marker one")
    write(mind, "marker two", expected=1)
    mind.notes.delete(ANNA, PAGE, actor="anna")
    assert mind.notes.get(ANNA, PAGE) is None
    assert mind.notes.history(ANNA, PAGE) == []
    assert mind.notes.all(ANNA) == []
    assert "marker" not in mind.compose(ANNA, "t1", "about the marker, please", "p").system
    with mind.store.reading() as parts:
        assert parts.queue.waiting(ANNA, 9) == []
        newest = parts.journal.events(ANNA, 1)
        assert newest == [Event(START, "anna", "note deleted", PAGE)]


def test_who_read_a_deleted_note_cannot_overwrite_the_one_that_follows_it(mind: Memory) -> None:
    write(mind, "old")
    mind.notes.delete(ANNA, PAGE, actor="anna")
    assert write(mind, "new").revision == 2
    with pytest.raises(StaleRevision, match=r"revision 2, the write expected revision 1"):
        write(mind, "a slow writer's", expected=1)
    assert mind.notes.get(ANNA, PAGE).text == "new"  # type: ignore[union-attr]


def test_no_table_holds_the_text_of_a_deleted_note_and_the_journal_never_did(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "memory.db", durable=False)
    with closing(store):
        mind = Memory(store, Settings(), SettableClock(START))

        def tables_with(marker: str) -> set[str]:
            with store.reading() as parts:
                run = parts.connection.execute
                names = [row[0] for row in run("SELECT name FROM sqlite_master WHERE type='table'")]
                return {
                    name for name in names if not name.endswith("_postings")
                    for row in run(f'SELECT * FROM "{name}"')
                    if any(marker.encode() in _bytes(cell) for cell in row)
                }  # fmt: skip

        write(mind, "first quixotic text", sources=["m1"])
        write(mind, "second quixotic text", expected=1)
        assert tables_with("quixotic") == {"notes"}
        mind.notes.delete(ANNA, PAGE, actor="anna")
        assert tables_with("quixotic") == set()
        assert tables_with("note deleted") == {"journal"}


def _bytes(cell: object) -> bytes:
    return cell if isinstance(cell, bytes) else str(cell).encode()


def test_deleting_what_is_not_there_raises_and_is_no_event(mind: Memory) -> None:
    write(mind, "x")
    for owner, key in ((ANNA, "2026-03-02"), (Owner("home", "helper", "%"), PAGE)):
        with pytest.raises(NotFound, match=key):
            mind.notes.delete(owner, key, actor="anna")
    with mind.store.reading() as parts:
        assert len(parts.journal.events(ANNA, 9)) == 1


@pytest.mark.parametrize(
    ("moment", "zone", "day"),
    [
        (datetime(2026, 3, 10, 20, 59, 59, tzinfo=UTC), "Europe/Moscow", "2026-03-10"),
        (datetime(2026, 3, 10, 21, 0, tzinfo=UTC), "Europe/Moscow", "2026-03-11"),
        (datetime(2026, 3, 10, 21, 0, tzinfo=UTC), "UTC", "2026-03-10"),
        (datetime(2026, 3, 10, 3, 30, tzinfo=UTC), "America/New_York", "2026-03-09"),
        (datetime(2025, 12, 31, 11, 0, tzinfo=UTC), "Pacific/Kiritimati", "2026-01-01"),
    ],
)
def test_today_is_the_day_of_the_owners_zone(moment: datetime, zone: str, day: str) -> None:
    assert memory(now=moment, timezone=zone).notes.today() == day
