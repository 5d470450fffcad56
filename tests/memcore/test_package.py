"""The memory package: out and in again to the byte, twice as once, all of it or nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcore import (
    PAGE,
    InvalidInput,
    Memory,
    Message,
    NotFound,
    Owner,
    PackageRefused,
    Settings,
    Summary,
    export_package,
    import_package,
    open_memory,
    read_package,
)
from memcore.package import archive
from memcore.package.content import Counts
from memcore.stores.sqlite import SqliteStore
from memcore.testing import InMemoryStore, PredictableEmbedder, SettableClock
from memcore.types import Event, QueuedPassage
from tests.packages import MESSAGE, NOTE, package
from tests.support import ANNA, START, at, say

ROOT = Path(__file__).parents[2]
KINDS = ["in memory", "sqlite"]
MakeMind = Callable[[], Memory]
NOBODY = Counts()


def mind_of(kind: str, path: Path, **more: Any) -> Memory:
    store: Any = InMemoryStore() if kind == "in memory" else SqliteStore(path, durable=False)
    return Memory(store, Settings(layer_seconds=None), SettableClock(START), **more)


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeMind]:
    """Makes memories over new, empty stores of one kind."""
    with ExitStack() as opened:
        made: list[Memory] = []

        def new() -> Memory:
            made.append(mind_of(request.param, tmp_path / f"store{len(made)}.db"))
            opened.enter_context(closing(made[-1]))
            return made[-1]

        yield new


def fill(mind: Memory, owner: Owner = ANNA, about: str = "roses") -> None:
    """Two threads, a page in two revisions, two dated notes of which one is deleted, a summary."""
    for number in range(6):
        role = "assistant" if number % 2 else "user"
        mind.conversation.append(
            owner, say(f"m{number}", f"{about} {number}", number, role, f"t{number // 4}")
        )
    write = mind.notes.write
    write(owner, PAGE, f"{about} one", writer="remember", expected_revision=0, sources=["m0"])
    mind.clock.set(at(7))  # type: ignore[attr-defined]
    write(owner, PAGE, f"{about} two", writer="curator", expected_revision=1, sources=["m2", "m0"])
    for day in ("2026-03-01", "2026-03-02"):
        write(owner, day, f"{about} of a day", writer="import", expected_revision=0)
    mind.notes.delete(owner, "2026-03-01", actor="anna")
    mind.summaries.save(owner, Summary("t1", f"{about} were spoken of", at(8), ("m4",)))


def everything(mind: Memory, owner: Owner = ANNA) -> dict[str, Any]:
    with mind.store.reading() as parts:
        ids = parts.messages.ids(owner, "", 1_000)
        return {
            "owners": mind.store.owners(),
            "messages": parts.messages.get(owner, ids),
            "notes": [parts.notes.history(owner, one.key) for one in parts.notes.all(owner)],
            "summaries": parts.state.summaries(owner),
            "journal": parts.journal.events(owner, 1_000),
            "queue": parts.queue.waiting(owner, 10_000),
        }


# ---- out and in again


def test_out_and_in_again_is_the_same_to_the_byte(make: MakeMind, tmp_path: Path) -> None:
    here, there = make(), make()
    fill(here)
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    exported = export_package(here, ANNA, first)
    assert exported.counts == Counts(notes=2, revisions=3, messages=6, summaries=1, events=5)
    imported = import_package(there, first)
    assert (imported.owner, imported.counts, imported.skipped) == (ANNA, exported.counts, NOBODY)
    assert export_package(there, ANNA, second) == exported
    assert first.read_bytes() == second.read_bytes()
    for what in ("messages", "notes", "summaries"):
        assert everything(there)[what] == everything(here)[what]


def test_what_came_in_is_found_and_composed_as_what_was_said_there(
    make: MakeMind, tmp_path: Path
) -> None:
    here, there = make(), make()
    fill(here)
    export_package(here, ANNA, tmp_path / "p.zip")
    import_package(there, tmp_path / "p.zip")
    there.clock.set(here.clock.now())  # type: ignore[attr-defined]
    asked = (ANNA, "t1", "what about the roses of a day?", "You help.")
    assert there.compose(*asked).system == here.compose(*asked).system
    found = [hit.message.id for hit in there.conversation.search(ANNA, "roses", 10)]
    assert found == [hit.message.id for hit in here.conversation.search(ANNA, "roses", 10)] != []


def test_notes_and_messages_are_queued_and_the_import_is_an_event(
    make: MakeMind, tmp_path: Path
) -> None:
    here, there = make(), make()
    fill(here)
    sha256 = export_package(here, ANNA, tmp_path / "p.zip").sha256
    there.clock.set(at(60))  # type: ignore[attr-defined]
    import_package(there, tmp_path / "p.zip")
    content = everything(there)
    assert set(content["queue"]) == {
        *(QueuedPassage("message", f"m{number}", 1) for number in range(6)),
        QueuedPassage("note", PAGE, 2),
        QueuedPassage("note", "2026-03-02", 1),
    }
    last, page, day, *before = content["journal"]
    counted = "2 notes, 3 revisions, 6 messages, 1 summaries, 5 events"
    assert last == Event(at(60), "import", "package imported", sha256, (), counted)
    told = "revision 2, 9 characters"
    assert page == Event(at(60), "import", "note imported", PAGE, ("m2", "m0"), told)
    assert (day.action, day.subject) == ("note imported", "2026-03-02")
    assert before == everything(here)["journal"]


def test_what_came_in_is_embedded_where_there_is_a_provider(tmp_path: Path) -> None:
    (tmp_path / "p.zip").write_bytes(package())
    mind = mind_of("in memory", tmp_path, embedder=PredictableEmbedder())
    import_package(mind, tmp_path / "p.zip")
    health = mind.index.health(ANNA)
    assert [(one.items, one.current) for one in health.kinds[:2]] == [(1, 1), (1, 1)]


def test_an_imported_note_is_written_on_from_its_revision(make: MakeMind, tmp_path: Path) -> None:
    here, there = make(), make()
    fill(here)
    export_package(here, ANNA, tmp_path / "p.zip")
    import_package(there, tmp_path / "p.zip")
    third = there.notes.write(ANNA, PAGE, "three", writer="remember", expected_revision=2)
    assert third.revision == 3
    assert [one.revision for one in there.notes.history(ANNA, PAGE)] == [3, 2, 1]


def test_the_order_of_arrival_does_not_show(make: MakeMind, tmp_path: Path) -> None:
    messages = [say(f"m{number}", "x", number % 3, thread=f"t{number % 2}") for number in range(9)]
    written = []
    for order in (messages, messages[::-1]):
        mind = make()
        for message in order:
            mind.conversation.append(ANNA, message)
        written.append(export_package(mind, ANNA, tmp_path / f"{len(written)}.zip").sha256)
    assert written[0] == written[1]


words = st.text(max_size=60)
said = words.filter(lambda text: bool(text.strip()))
names = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=8)
named = names.filter(bool)
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001
sources = st.lists(names, max_size=2).map(tuple)
messages = st.builds(
    Message, named, st.sampled_from(["t1", "t2", "т%"]) | names,
    st.sampled_from(["user", "assistant", "tool"]), words, moments, said,
)  # fmt: skip
days = st.dates().map(str)
writes = st.tuples(
    st.just(PAGE) | st.sampled_from(["2026-03-01", "2026-03-02"]) | days, said,
    st.sampled_from(["import", "remember", "curator"]), sources, moments, st.booleans(),
)  # fmt: skip
summaries = st.builds(Summary, names, said, moments, sources)


@settings(max_examples=60)
@given(
    st.sampled_from(KINDS), st.sampled_from(KINDS), st.builds(Owner, names, names, names),
    st.lists(messages, min_size=1, max_size=6, unique_by=lambda one: one.id),
    st.lists(writes, max_size=6), st.lists(summaries, max_size=3),
)  # fmt: skip
def test_any_memory_goes_out_and_in_to_the_byte_and_twice_is_once(
    kind: str, other: str, owner: Owner, messages: list[Any], writes: list[Any], summaries: Any
) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        here = opened.enter_context(closing(mind_of(kind, Path(folder, "a.db"))))
        there = opened.enter_context(closing(mind_of(other, Path(folder, "b.db"))))
        for message in messages:
            here.conversation.append(owner, message)
        for key, text, writer, sources, moment, deleted in writes:
            here.clock.set(moment)  # type: ignore[attr-defined]
            current = here.notes.get(owner, key)
            revision = current.revision if current else 0
            here.notes.write(
                owner, key, text, writer=writer, expected_revision=revision, sources=sources
            )
            if deleted:
                here.notes.delete(owner, key, actor="anna")
        for summary in summaries:
            here.summaries.save(owner, summary)
        first, second = Path(folder, "1.zip"), Path(folder, "2.zip")
        exported = export_package(here, owner, first)
        assert import_package(there, first).counts == exported.counts
        assert export_package(there, owner, second) == exported
        assert first.read_bytes() == second.read_bytes()
        before = everything(there, owner)
        again = import_package(there, first)
        assert (again.counts, again.skipped) == (NOBODY, exported.counts)
        assert everything(there, owner) == before
        assert import_package(here, first).counts == NOBODY


# ---- twice, and what is there


def test_twice_is_once_and_where_it_came_from_never(make: MakeMind, tmp_path: Path) -> None:
    here, there = make(), make()
    fill(here)
    counts = export_package(here, ANNA, tmp_path / "p.zip").counts
    import_package(there, tmp_path / "p.zip")
    for mind in (here, there):
        before = everything(mind)
        again = import_package(mind, tmp_path / "p.zip")
        assert (again.counts, again.skipped) == (NOBODY, counts)
        assert everything(mind) == before


def test_what_is_missing_is_added_and_the_rest_skipped(make: MakeMind, tmp_path: Path) -> None:
    here, there = make(), make()
    fill(here)
    export_package(here, ANNA, tmp_path / "1.zip")
    import_package(there, tmp_path / "1.zip")
    here.conversation.append(ANNA, say("m9", "and lilies", 9, thread="t1"))
    here.notes.write(ANNA, "2026-03-09", "lilies", writer="remember", expected_revision=0)
    exported = export_package(here, ANNA, tmp_path / "2.zip")
    imported = import_package(there, tmp_path / "2.zip")
    assert imported.counts == Counts(notes=1, revisions=1, messages=1, events=1)
    assert imported.skipped == Counts(notes=2, revisions=3, messages=6, summaries=1, events=5)
    assert export_package(there, ANNA, tmp_path / "3.zip") == exported


def test_what_differs_is_listed_and_the_whole_package_refused(
    make: MakeMind, tmp_path: Path
) -> None:
    here, there = make(), make()
    fill(here)
    here.conversation.append(ANNA, say("new", "not here", 20))
    export_package(here, ANNA, tmp_path / "p.zip")
    there.conversation.append(ANNA, say("m1", "other words", 1, "assistant", "t0"))
    there.conversation.append(ANNA, say("m2", "roses 2", 2, "user", "t9"))
    there.notes.write(ANNA, PAGE, "mine", writer="remember", expected_revision=0)
    there.notes.write(ANNA, "2026-03-02", "gone", writer="remember", expected_revision=0)
    there.notes.delete(ANNA, "2026-03-02", actor="anna")
    there.summaries.save(ANNA, Summary("t1", "tulips", at(8)))
    before = everything(there)
    with pytest.raises(PackageRefused, match=r"^5 of .* nothing was written: note") as caught:
        import_package(there, tmp_path / "p.zip")
    assert caught.value.conflicts == (
        "note 2026-03-02 was deleted here",
        "note page differs",
        "message m1 differs",
        "message m2 differs",
        "summary of t1 differs",
    )
    assert everything(there) == before


def test_an_earlier_history_is_a_difference(make: MakeMind, tmp_path: Path) -> None:
    mind = make()
    fill(mind)
    export_package(mind, ANNA, tmp_path / "p.zip")
    mind.notes.write(ANNA, PAGE, "three", writer="remember", expected_revision=2)
    with pytest.raises(PackageRefused, match="note page differs"):
        import_package(mind, tmp_path / "p.zip")


def test_many_differences_are_cut_in_the_message_alone(make: MakeMind, tmp_path: Path) -> None:
    here, there = make(), make()
    for number in range(30):
        for mind in (here, there):
            text = "one" if mind is here else "other"
            mind.conversation.append(ANNA, say(f"m{number:02}", text, number))
    export_package(here, ANNA, tmp_path / "p.zip")
    with pytest.raises(PackageRefused, match=r"m19 differs and 10 more$") as caught:
        import_package(there, tmp_path / "p.zip")
    assert len(caught.value.conflicts) == 30


def test_equal_events_are_counted_and_not_merged(make: MakeMind, tmp_path: Path) -> None:
    here, there = make(), make()
    event = Event(START, "remember", "note written", PAGE)
    for mind, times in ((here, 3), (there, 1)):
        with mind.store.transaction() as tx:
            for _ in range(times):
                tx.journal.append(ANNA, event)
    export_package(here, ANNA, tmp_path / "p.zip")
    assert import_package(there, tmp_path / "p.zip").counts == Counts(events=2)
    assert everything(there)["journal"][1:] == [event] * 3


# ---- whose it is


PERSONS = ("john_doe", "john-doe", "john", "johnx", "john%", "%", "j/n", "j\\n")
OWNERS = [*(Owner("home", "helper", person) for person in PERSONS),
          Owner("work", "helper", "john"), Owner("home", "other", "john")]  # fmt: skip


def test_a_package_holds_one_owner_alone_and_goes_to_one_alone(
    make: MakeMind, tmp_path: Path
) -> None:
    here = make()
    for number, owner in enumerate(OWNERS):
        fill(here, owner, f"marker{number}end")
    untouched = {owner: everything(here, owner) for owner in OWNERS}
    for number, owner in enumerate(OWNERS):
        path = tmp_path / f"{number}.zip"
        export_package(here, owner, path)
        data = path.read_bytes()
        marks = [other for other in range(len(OWNERS)) if f"marker{other}end".encode() in data]
        assert marks == [number]
        there = make()
        import_package(there, path)
        assert there.store.owners() == [owner]
    assert {owner: everything(here, owner) for owner in OWNERS} == untouched


def test_a_package_of_another_owner_goes_under_the_one_given(
    make: MakeMind, tmp_path: Path
) -> None:
    mind, john = make(), Owner("home", "helper", "john%")
    fill(mind)
    before = everything(mind)
    counts = export_package(mind, ANNA, tmp_path / "p.zip").counts
    imported = import_package(mind, tmp_path / "p.zip", john)
    assert (imported.owner, imported.counts) == (john, counts)
    assert {**everything(mind), "owners": []} == {**before, "owners": []}
    for what in ("messages", "notes", "summaries"):
        assert everything(mind, john)[what] == before[what]
    assert mind.store.owners() == [ANNA, john]
    export_package(mind, john, tmp_path / "q.zip")
    assert read_package(tmp_path / "q.zip", 2_000).owner == john
    assert _members(tmp_path / "q.zip") == _members(tmp_path / "p.zip")


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as opened:
        return {one: opened.read(one) for one in opened.namelist() if one != "manifest.json"}


@pytest.mark.parametrize("person", ["ann", "anna%", "%", "", "Anna"])
def test_an_unknown_owner_is_not_found(make: MakeMind, tmp_path: Path, person: str) -> None:
    mind = make()
    fill(mind)
    with pytest.raises(NotFound, match="nothing is stored under"):
        export_package(mind, Owner("home", "helper", person), tmp_path / "p.zip")
    assert not list(tmp_path.glob("*.zip*"))


# ---- the gate, and the note size of a memory


def test_the_size_of_a_note_is_that_of_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    path.write_bytes(package({"notes.jsonl": [{**NOTE, "text": "x" * 2_000}]}))
    small = Memory(InMemoryStore(), Settings(note_size=1_999), SettableClock(START))
    with pytest.raises(PackageRefused, match=r"2000 characters .* at most 1999"):
        import_package(small, path)
    large = Memory(InMemoryStore(), Settings(), SettableClock(START))
    assert import_package(large, path).counts.notes == 1


def test_the_gate_checks_a_package_that_was_read_with_another_size(tmp_path: Path) -> None:
    (tmp_path / "p.zip").write_bytes(package({"notes.jsonl": [{**NOTE, "text": "x" * 2_001}]}))
    content = read_package(tmp_path / "p.zip", 5_000)
    mind = Memory(InMemoryStore(), Settings(), SettableClock(START))
    with pytest.raises(InvalidInput, match="2001"):
        import_package(mind, content)
    assert mind.store.owners() == []


def test_a_memory_that_no_import_would_take_is_not_packed(make: MakeMind, tmp_path: Path) -> None:
    mind = make()
    mind.conversation.append(ANNA, say("m\n1", "x"))
    with pytest.raises(PackageRefused, match=r"cannot be packed: messages.jsonl line 1.*control"):
        export_package(mind, ANNA, tmp_path / "p.zip")
    assert not list(tmp_path.glob("*.zip*"))
    assert not list(tmp_path.glob(".*"))


# ---- half-way


class Broken(Exception):
    """Something fails."""


@pytest.mark.parametrize("part", ["messages.append", "state.put_summary", "notes.put", "queue.add"])
def test_an_import_that_fails_half_way_leaves_nothing(
    make: MakeMind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    here, there = make(), make()
    fill(here)
    export_package(here, ANNA, tmp_path / "p.zip")
    of, verb = part.split(".")
    with there.store.reading() as parts:
        kind = type(getattr(parts, of))
    real, calls = getattr(kind, verb), []

    def fail(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == (1 if of == "state" else 2):
            raise Broken
        return real(*given)

    with monkeypatch.context() as patched:
        patched.setattr(kind, verb, fail)
        with pytest.raises(Broken):
            import_package(there, tmp_path / "p.zip")
    assert there.store.owners() == []
    assert not any(everything(there).values())
    import_package(there, tmp_path / "p.zip")
    assert len(everything(there)["messages"]) == 6


KILLED = """
import os, signal, sys
from pathlib import Path
from memcore import Owner, export_package, import_package, open_memory
from memcore.package import archive, export
from memcore.stores.sqlite.notes import SqliteNotes
from memcore.testing import SettableClock
from tests.support import ANNA, START

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

what, store, package = sys.argv[1:]
memory = open_memory(store, SettableClock(START))
if what == "import":
    SqliteNotes.put = die
    import_package(memory, package)
else:
    export.read_package = die
    export_package(memory, ANNA, package, force=True)
"""


@pytest.mark.parametrize("what", ["import", "export"])
def test_a_process_killed_half_way_leaves_nothing(tmp_path: Path, what: str) -> None:
    path, store = tmp_path / "p.zip", tmp_path / "b.db"
    with closing(mind_of("sqlite", tmp_path / "a.db")) as here:
        fill(here)
        export_package(here, ANNA, path)
    before = path.read_bytes()
    given = store if what == "import" else tmp_path / "a.db"
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, what, str(given), str(path)], cwd=ROOT, capture_output=True
    )
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    with closing(mind_of("sqlite", store)) as there:
        assert there.store.owners() == []
        assert import_package(there, path).counts.messages == 6


# ---- the file


def test_a_file_that_is_there_is_replaced_only_where_forced(make: MakeMind, tmp_path: Path) -> None:
    mind, path = make(), tmp_path / "p.zip"
    fill(mind)
    path.write_text("mine")
    with pytest.raises(InvalidInput, match="is there already"):
        export_package(mind, ANNA, path)
    assert path.read_text() == "mine"
    with pytest.raises(InvalidInput, match="is no package and is not replaced"):
        export_package(mind, ANNA, path, force=True)
    assert path.read_text() == "mine"
    path.write_bytes(b"PK\x03\x04 an older one")
    export_package(mind, ANNA, path, force=True)
    assert zipfile.is_zipfile(path)
    assert path.stat().st_mode & 0o077 == 0
    (tmp_path / "link.zip").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="is there already"):
        export_package(mind, ANNA, tmp_path / "link.zip")
    assert not list(tmp_path.glob(".*"))


def test_a_store_is_never_replaced_by_its_own_package(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_memory(path, SettableClock(at(500)), durable=False)) as mind:
        fill(mind)
        before = mind.conversation.recent(ANNA, "t1", 50)
        with pytest.raises(InvalidInput, match="is no package and is not replaced"):
            export_package(mind, ANNA, path, force=True)
        assert mind.conversation.recent(ANNA, "t1", 50) == before != []


def test_a_file_that_appears_meanwhile_is_not_replaced(
    make: MakeMind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind, path = make(), tmp_path / "p.zip"
    fill(mind)

    def appear(name: Any, note_size: int) -> Any:
        path.write_text("mine")
        return read_package(name, note_size)

    def none(*_: object) -> None:
        raise PermissionError("no links here")

    for links in (True, False):
        path.unlink(missing_ok=True)
        with monkeypatch.context() as patched:
            patched.setattr("memcore.package.export.read_package", appear)
            if not links:
                patched.setattr("os.link", none)
            with pytest.raises(InvalidInput, match="is there already"):
                export_package(mind, ANNA, path)
        assert path.read_text() == "mine"
    path.unlink()
    monkeypatch.setattr("os.link", none)
    export_package(mind, ANNA, path)
    assert zipfile.is_zipfile(path)
    assert not list(tmp_path.glob(".*"))


def test_an_export_that_fails_leaves_no_file(
    make: MakeMind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = make()
    fill(mind)
    with pytest.raises(InvalidInput, match="cannot be written"):
        export_package(mind, ANNA, tmp_path / "none" / "p.zip")
    with pytest.raises(InvalidInput, match="cannot be written"):
        export_package(mind, ANNA, tmp_path, force=True)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memcore.package.export.write_members", full)
    with pytest.raises(InvalidInput, match="No space left"):
        export_package(mind, ANNA, tmp_path / "p.zip")
    assert not list(tmp_path.glob("*.zip*"))
    assert not list(tmp_path.glob(".*"))


def test_the_manifest_says_what_is_in_the_package(make: MakeMind, tmp_path: Path) -> None:
    mind = make()
    fill(mind)
    export_package(mind, ANNA, tmp_path / "p.zip")
    with zipfile.ZipFile(tmp_path / "p.zip") as opened:
        assert opened.namelist() == [
            "manifest.json", "journal.jsonl", "messages.jsonl", "notes.jsonl", "summaries.jsonl",
        ]  # fmt: skip
        assert {one.compress_type for one in opened.infolist()} == {zipfile.ZIP_STORED}
        assert {one.date_time for one in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        manifest = json.loads(opened.read("manifest.json"))
        first = json.loads(opened.read("messages.jsonl").split(b"\n")[0])
    assert (manifest["format"], manifest["owner"]) == (
        1, {"team": "home", "agent": "helper", "person": "anna"})  # fmt: skip
    assert manifest["counts"]["revisions"] == 3
    assert set(manifest["members"]) == set(archive.KNOWN) & {
        "journal.jsonl", "messages.jsonl", "notes.jsonl", "summaries.jsonl",
    }  # fmt: skip
    assert first == {**MESSAGE, "id": "m0", "thread": "t0", "text": "roses 0"}
