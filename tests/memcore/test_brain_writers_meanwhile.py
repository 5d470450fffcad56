"""What others do while a model writes: remember, delete, and kill the process."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from memcore import PAGE, Memory
from memcore.curator import Report
from memcore.writing import SUMMARY_PROMPT
from tests.brain_server import Answer, BrainServer, Request, brain_server, says
from tests.brain_writing import (
    DAY,
    KINDS,
    SAID,
    TEA,
    exchanges,
    forget_message,
    ids_in,
    later,
    lines,
    opened,
    proposes,
    rows,
    shown,
)
from tests.composing import fill, write
from tests.support import ANNA, say


@pytest.fixture
def server() -> Iterator[BrainServer]:
    with brain_server() as running:
        yield running
        assert running.refused == []


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def texts(memory: Memory) -> dict[str, str]:
    return {note.key: note.text for note in memory.notes.all(ANNA)}


def follow_up(memory: Memory) -> Report:
    report = memory.after_turn(ANNA, "t1")
    assert report is not None
    return report


def test_what_is_remembered_while_a_brain_is_slow_survives(
    path: Path, server: BrainServer, kind: str
) -> None:
    asked, go_on = Event(), Event()

    def slow(request: Request) -> Answer:
        asked.set()
        assert go_on.wait(60)
        said = json.loads(lines((TEA, ["u1"]), lasting=True))
        said["lines"] += json.loads(lines(("We moved to Riga.", ["u3"])))["lines"]
        return says(json.dumps(said))(request)

    server.behaviour = slow
    reports: list[Report] = []
    with opened(path, server, kind) as memory:
        write(memory, PAGE, "The page before.")
        write(memory, DAY, "The day before.")
        fill(memory, *exchanges(*SAID))
        curator = Thread(target=lambda: reports.append(follow_up(memory)))
        curator.start()
        assert asked.wait(60)
        memory.remember(ANNA, "Her cat is Tom.", page=True)
        memory.remember(ANNA, "She called today.")
        go_on.set()
        curator.join()
        assert [one.error for one in reports] == [""]
        assert texts(memory) == {
            PAGE: f"Her cat is Tom.\n- {DAY}, {TEA}",
            DAY: "The day before.\nShe called today.\n- We moved to Riga.",
        }


STEPS = ("while the brain is asked", "before the notes are read", "before they are written")


def at_step(memory: Memory, server: BrainServer, step: str, then: Callable[[], None]) -> None:
    """Does something once, at a step of the next pass."""
    left = [then]

    def once() -> None:
        if left:
            left.pop()()

    if step == STEPS[0]:
        behaviour = server.behaviour

        def meanwhile(request: Request) -> Answer:
            once()
            return behaviour(request)

        server.behaviour = meanwhile
        return
    place, name = (
        (memory.curator, "_merged") if step == STEPS[1] else (memory.notes, "write_together")
    )
    original = getattr(place, name)

    def first(*args: Any, **more: Any) -> Any:
        once()
        return original(*args, **more)

    setattr(place, name, first)


@pytest.mark.parametrize("step", STEPS)
def test_a_message_deleted_during_a_pass_is_in_no_note(
    path: Path, server: BrainServer, step: str
) -> None:
    server.behaviour = proposes((TEA, ["u1"]), ("We moved to Riga.", ["u3"]))
    with opened(path, server, "openai") as memory:
        fill(memory, *exchanges(*SAID, "Hello."))
        at_step(memory, server, step, lambda: forget_message(path, "u1"))
        report = follow_up(memory)
        assert "is gone; the pass is made again" in report.error
        assert rows(path, "notes", "cursors") == [[], []]
        report = follow_up(memory)
        assert report.error == ""
        [(_, why)] = report.refused
        assert "u1, which is not in this part" in why
        assert texts(memory) == {DAY: "- We moved to Riga."}
    assert "u1" not in ids_in(shown(server.requests[-1])[1])
    assert "tea" not in str(rows(path, "notes", "journal", "summaries", "queue"))


@pytest.mark.parametrize("key", [PAGE, DAY])
@pytest.mark.parametrize("step", STEPS)
def test_of_a_note_deleted_during_a_pass_nothing_comes_back(
    path: Path, server: BrainServer, step: str, key: str
) -> None:
    def echo(request: Request) -> Answer:
        _, prompt = shown(request)
        page = [one.strip() for one in prompt.splitlines() if "GONE" in one]
        said = [(one, ids_in(prompt)) for one in page]
        return says(lines(*said, ("We moved to Riga.", ["u3"]), lasting=key == PAGE))(request)

    server.behaviour = echo
    with opened(path, server, "openai") as memory:
        memory.notes.write(
            ANNA, key, "Anna: GONE tea.", writer="remember", expected_revision=0, sources=["gone"]
        )
        fill(memory, *exchanges(*SAID))
        at_step(memory, server, step, lambda: memory.notes.delete(ANNA, key, actor="anna"))
        assert follow_up(memory).error == ""
        [note] = memory.notes.all(ANNA)
        assert note.text.endswith("We moved to Riga.")
        assert note.sources == ("u3",)
        assert "GONE" not in str(rows(path, "notes", "journal", "summaries"))
        assert '"gone"' not in str(rows(path, "notes", "summaries"))


def talk(count: int) -> list[Any]:
    roles = ("user", "assistant")
    return [
        say(f"m{n:03}", f"The garden gets roses number {n} planted.", n * 5, roles[n % 2])
        for n in range(count)
    ]


def sums(request: Request) -> Answer:
    """Proposes no note, and sums up the first five messages that it is shown."""
    system, prompt = shown(request)
    if system != SUMMARY_PROMPT:
        return says('{"lines": []}')(request)
    said = [(f"Roses number {int(id[1:])} planted.", [id]) for id in ids_in(prompt)[:5]]
    return proposes(*said)(request)


@pytest.mark.parametrize("gone", ["m002", "m030"])
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_deleted_message_is_in_no_summary(
    path: Path, server: BrainServer, gone: str, when: str
) -> None:
    """One that the earlier summary cites, and one that left the window since."""

    def deleting(request: Request) -> Answer:
        if shown(request)[0] == SUMMARY_PROMPT and not deleted:
            deleted.append(gone)
            forget_message(path, gone)
        return sums(request)

    deleted: list[str] = []
    server.behaviour = sums
    with opened(path, server, "openai", window_cap=200) as memory:
        fill(memory, *talk(30))
        assert follow_up(memory).error == ""
        first = memory.summaries.get(ANNA, "t1")
        assert first is not None
        assert first.sources == ("m000", "m001", "m002", "m003", "m004")
        fill(memory, *talk(50)[30:])
        if when == "before":
            forget_message(path, gone)
        else:
            server.behaviour = deleting
        report = follow_up(memory)
        cited = when == "meanwhile" and gone == "m002"
        assert ("is gone" in report.error) is cited
        stored = str(rows(path, "summaries"))
        assert gone not in stored
        assert f"number {int(gone[1:])} " not in stored
        assert "number 1 " in stored
        later(memory)
        assert memory.summaries.refresh(ANNA, "t1").summary is not None
        assert gone not in str(rows(path, "summaries"))
    assert gone not in ids_in(shown(server.requests[-1])[1]) or when == "meanwhile"


def _killed(path: Path, url: str, kind: str, step: str, reached: Any) -> None:
    """A pass that stops at a step, and waits there to be killed."""
    server = BrainServer(0)
    server.url = url

    def stop(*_: object, **__: object) -> None:
        reached.set()
        Event().wait()

    with opened(path, server, kind) as memory:
        if step == "before the write":
            memory.notes.write_together = stop  # type: ignore[method-assign,assignment]
        else:
            original = memory.notes.write_together

            def within(*args: Any, also: Any, **more: Any) -> Any:
                def advanced(tx: Any) -> None:
                    also(tx)
                    tx.journal.append = stop  # the note is written, its event is not

                return original(*args, also=advanced, **more)

            memory.notes.write_together = within  # type: ignore[method-assign]
        memory.after_turn(ANNA, "t1")


@pytest.mark.parametrize("step", ["before the write", "within the transaction"])
def test_a_pass_whose_process_is_killed_is_made_again_and_written_once(
    path: Path, server: BrainServer, kind: str, step: str
) -> None:
    server.behaviour = proposes((TEA, ["u1"]))
    with opened(path, server, kind) as memory:
        fill(memory, *exchanges(*SAID))
    context = multiprocessing.get_context("spawn")
    reached = context.Event()
    process = context.Process(
        target=_killed, args=(path, server.url, kind, step, reached), daemon=True
    )
    process.start()
    assert reached.wait(120)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    with opened(path, server, kind) as memory:
        assert rows(path, "notes", "cursors", "journal") == [[], [], []]
        report = follow_up(memory)
        assert (report.error, len(report.written)) == ("", 1)
        [note] = memory.notes.all(ANNA)
        assert (note.text, note.revision, note.sources) == (f"- {TEA}", 1, ("u1",))
        assert memory.after_turn(ANNA, "t1") is None
    one, other = server.requests
    assert shown(one) == shown(other)
