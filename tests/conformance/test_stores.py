"""What every store does alike, verb by verb of `memcore.ports`."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import pytest

from memcore import Memory, Message, Note, Owner, Settings, Summary
from memcore.conversation import Conversation
from memcore.errors import Conflict, InvalidInput, StoreError
from memcore.ports import Store, Transaction
from memcore.testing import InMemoryStore, SettableClock
from memcore.text import query_stems, stems
from memcore.types import LONGEST, Cursor, Event, Located, QueuedPassage, Unread
from tests.support import ANNA, START, at, say

MakeStore = Callable[[], Store]

PERSONS = ("john_doe", "john-doe", "john", "johnx", "john%", "%")
OWNERS = [
    *(Owner("home", "helper", person) for person in PERSONS),
    Owner("work", "helper", "john"),
    Owner("home", "other", "john"),
    Owner("%", "%", "%"),
    Owner("_", "_", "_"),
    Owner("", "", ""),
    Owner("home", "helperjohn", ""),
    Owner("john", "helper", "home"),
]


def add(store: Store, owner: Owner, *messages: Message) -> list[Message]:
    with store.transaction() as tx:
        return [tx.messages.append(owner, one, stems(one.text)) for one in messages]


def note(key: str, text: str, revision: int = 1, minutes: float = 0) -> Note:
    return Note(key, text, revision, at(minutes), "remember", ("m1",))


def everything(store: Store, owner: Owner, thread: str = "t1") -> dict[str, object]:
    """All that an owner has in a store."""
    with store.reading() as parts:
        return {
            "messages": parts.messages.recent(owner, thread, 1000),
            "matches": parts.messages.matches(owner, query_stems("garden note plan")),
            "notes": parts.notes.all(owner),
            "history": [parts.notes.history(owner, one.key) for one in parts.notes.all(owner)],
            "journal": parts.journal.events(owner, 1000),
            "queue": parts.queue.waiting(owner, 1000),
            "summary": parts.state.summary(owner, thread),
            "cursor": parts.state.cursor(owner, thread, "curator"),
            "unread": parts.state.unread(owner, thread, "curator"),
        }


# ---- messages


def test_an_appended_message_is_returned_with_its_place_and_read_back_the_same(
    store: Store,
) -> None:
    first, second = add(store, ANNA, say("m1", "one"), say("m2", "two", 1))
    assert (first.place, second.place) == (0, 1)
    with store.reading() as parts:
        assert parts.messages.get(ANNA, ["m2", "m1"]) == [second, first]


def test_messages_are_ordered_by_time_then_id_however_they_arrive(store: Store) -> None:
    arrived = [
        say("m5", "e", 5), say("b", "same time", 3), say("m1", "a", 1), say("a", "same time", 3),
        say("c", "same time", 3), say("m9", "late", 9), say("m0", "earliest", -1),
    ]  # fmt: skip
    add(store, ANNA, *arrived)
    with store.reading() as parts:
        newest_first = parts.messages.recent(ANNA, "t1", 100)
    assert [one.id for one in reversed(newest_first)] == ["m0", "m1", "a", "b", "c", "m5", "m9"]
    assert [one.place for one in reversed(newest_first)] == list(range(7))


def test_every_order_of_arrival_gives_the_same_places(make_store: MakeStore) -> None:
    messages = [say("b", "x", 1), say("a", "x", 1), say("c", "x", 0), say("é", "x", 1)]
    expected = [("c", 0), ("a", 1), ("b", 2), ("é", 3)]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]):
        store = make_store()
        add(store, ANNA, *(messages[number] for number in order))
        with store.reading() as parts:
            found = parts.messages.span(ANNA, "t1", 0, 10)
        assert [(one.id, one.place) for one in found] == expected


def test_ids_of_one_time_are_ordered_by_code_point(store: Store) -> None:
    ids = ["Z", "a", "10", "9", "é", "я", "\U0001f600", "\uffee"]
    add(store, ANNA, *(say(id, "x") for id in ids))
    with store.reading() as parts:
        assert [one.id for one in parts.messages.span(ANNA, "t1", 0, 10)] == sorted(ids)


def test_the_place_returned_for_a_late_arrival_is_its_final_one(store: Store) -> None:
    add(store, ANNA, say("m1", "a", 1), say("m3", "c", 3))
    [between] = add(store, ANNA, say("m2", "b", 2))
    assert between.place == 1
    with store.reading() as parts:
        assert parts.messages.place_of(ANNA, "t1", "m3") == 2


def test_threads_have_places_of_their_own(store: Store) -> None:
    add(store, ANNA, say("m1", "a", 1), say("n1", "b", 2, thread="t2"), say("m2", "c", 3))
    with store.reading() as parts:
        assert [one.id for one in parts.messages.recent(ANNA, "t1", 10)] == ["m2", "m1"]
        assert parts.messages.place_of(ANNA, "t2", "n1") == 0
        assert parts.messages.place_of(ANNA, "t1", "n1") is None
        assert parts.messages.place_of(ANNA, "t1", "unknown") is None
        assert parts.messages.recent(ANNA, "unknown", 10) == []


def test_recent_pages_backwards_without_gap_or_repetition(store: Store) -> None:
    add(store, ANNA, *(say(f"m{number}", "x", number) for number in range(10)))
    seen: list[str] = []
    before = None
    with store.reading() as parts:
        while page := parts.messages.recent(ANNA, "t1", 4, before):
            seen += [one.id for one in page]
            before = page[-1].place
        assert parts.messages.recent(ANNA, "t1", 4, 0) == []
        assert [one.id for one in parts.messages.recent(ANNA, "t1", 2, 99)] == ["m9", "m8"]
    assert seen == [f"m{number}" for number in reversed(range(10))]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_gives_nothing(store: Store, limit: int) -> None:
    add(store, ANNA, say("m1", "x"))
    with store.transaction() as tx:
        tx.queue.add(ANNA, QueuedPassage("message", "m1", 1))
        tx.journal.append(ANNA, Event(START, "import", "note written", "page"))
    with store.reading() as parts:
        assert parts.messages.recent(ANNA, "t1", limit) == []
        assert parts.queue.waiting(ANNA, limit) == []
        assert parts.journal.events(ANNA, limit) == []


def test_span_includes_both_ends_and_is_cut_at_the_threads_ends(store: Store) -> None:
    add(store, ANNA, *(say(f"m{number}", "x", number) for number in range(5)))
    with store.reading() as parts:
        assert [one.place for one in parts.messages.span(ANNA, "t1", 1, 3)] == [1, 2, 3]
        assert [one.place for one in parts.messages.span(ANNA, "t1", -5, 1)] == [0, 1]
        assert [one.place for one in parts.messages.span(ANNA, "t1", 3, 99)] == [3, 4]
        assert parts.messages.span(ANNA, "t1", 3, 2) == []


def test_get_keeps_the_order_asked_and_passes_over_what_is_not_there(store: Store) -> None:
    add(store, ANNA, say("m1", "x", 1), say("m2", "x", 2))
    with store.reading() as parts:
        found = parts.messages.get(ANNA, ["m2", "nothing", "m1", "m2"])
        assert [one.id for one in found] == ["m2", "m1", "m2"]
        assert parts.messages.get(ANNA, []) == []


def test_a_second_message_of_one_id_is_a_conflict_and_changes_nothing(store: Store) -> None:
    add(store, ANNA, say("m1", "first"))
    before = everything(store, ANNA)
    with pytest.raises(Conflict, match="m1"):
        add(store, ANNA, say("m1", "second", 5, thread="t2"))
    assert everything(store, ANNA) == before
    assert everything(store, ANNA, "t2")["messages"] == []


def test_a_conflict_caught_within_a_transaction_leaves_the_order_as_it_was(store: Store) -> None:
    add(store, ANNA, say("m1", "a", 1), say("m2", "b", 2), say("m3", "c", 3))
    before = everything(store, ANNA)
    with store.transaction() as tx, pytest.raises(Conflict):
        tx.messages.append(ANNA, say("m2", "again", 0), ["again"])
    assert everything(store, ANNA) == before


def test_one_id_under_two_owners_is_two_messages(store: Store) -> None:
    other = Owner("work", "helper", "anna")
    add(store, ANNA, say("m1", "mine"))
    add(store, other, say("m1", "theirs"))
    with store.reading() as parts:
        assert [one.text for one in parts.messages.get(ANNA, ["m1"])] == ["mine"]
        assert [one.text for one in parts.messages.get(other, ["m1"])] == ["theirs"]


def test_times_come_back_in_utc_to_the_microsecond(store: Store) -> None:
    moscow = timezone(timedelta(hours=3))
    times = [
        datetime(2026, 3, 2, 0, 30, 0, 123457, tzinfo=moscow),
        datetime(1, 1, 2, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ]
    messages = [Message(f"m{n}", "t1", "user", "A", time, "x") for n, time in enumerate(times)]
    stored = add(store, ANNA, *messages)
    assert [one.time for one in stored] == times
    assert all(one.time.tzinfo is UTC for one in stored)
    with store.reading() as parts:
        assert {one.time for one in parts.messages.recent(ANNA, "t1", 9)} == set(times)


def test_a_time_without_a_zone_is_refused(store: Store) -> None:
    with pytest.raises(TypeError):
        add(store, ANNA, Message("m1", "t1", "user", "A", datetime(2026, 1, 1), "x"))  # noqa: DTZ001
    assert everything(store, ANNA)["messages"] == []


ODD = "NUL \0 quote ' \" -- %_ \u200b\u202e \U0001f600 e\u0301 é \r\n\t  \ufeff"


def test_odd_text_comes_back_to_the_byte(store: Store) -> None:
    owner = Owner(ODD, ODD, ODD)
    message = Message(ODD, ODD, "tool", ODD, START, ODD)
    with store.transaction() as tx:
        tx.messages.append(owner, message, ["x"])
        tx.notes.put(owner, Note(ODD, ODD, 1, START, "import", (ODD, "b")))
        tx.journal.append(owner, Event(START, ODD, ODD, ODD, (ODD,), ODD))
        tx.queue.add(owner, QueuedPassage("note", ODD, 1))
        tx.state.put_summary(owner, Summary(ODD, ODD, START, (ODD,)))
    with store.reading() as parts:
        [read] = parts.messages.recent(owner, ODD, 9)
        assert (read.id, read.thread, read.speaker, read.text) == (ODD,) * 4
        assert parts.notes.get(owner, ODD) == Note(ODD, ODD, 1, START, "import", (ODD, "b"))
        assert parts.journal.events(owner, 9) == [Event(START, ODD, ODD, ODD, (ODD,), ODD)]
        assert parts.queue.waiting(owner, 9) == [QueuedPassage("note", ODD, 1)]
        assert parts.state.summary(owner, ODD) == Summary(ODD, ODD, START, (ODD,))


@pytest.mark.parametrize("where", ["owner", "id", "thread", "text", "speaker"])
def test_a_lone_surrogate_is_refused_wherever_it_stands(store: Store, where: str) -> None:
    bad = "\ud800"
    owner = Owner(bad, "helper", "anna") if where == "owner" else ANNA
    parts = {name: bad if where == name else name for name in ("id", "thread", "speaker", "text")}
    message = Message(parts["id"], parts["thread"], "user", parts["speaker"], START, parts["text"])
    with pytest.raises(InvalidInput, match="surrogate"), store.transaction() as tx:
        tx.messages.append(owner, message, ["x"])
    with pytest.raises(InvalidInput), store.reading() as tx:
        tx.messages.get(Owner(bad, "", ""), ["m"])


# ---- postings


def test_postings_count_a_stem_in_each_message_that_holds_it(store: Store) -> None:
    add(store, ANNA, say("m2", "garden, garden plan", 2), say("m1", "a garden", 1), say("m3", "no"))
    [garden, plan] = query_stems("garden plan")
    with store.reading() as parts:
        found = parts.messages.matches(ANNA, [garden, plan, "unknown"])
        frequencies = {
            stem: {where_of(parts, number).id: count for number, count in postings.items()}
            for stem, postings in found.postings.items()
        }
    assert frequencies == {garden: {"m2": 2, "m1": 1}, plan: {"m2": 1}, "unknown": {}}
    assert found.documents == 3
    assert found.mean_length == pytest.approx(2.0)
    lengths = {number & LONGEST for number in found.postings[garden]}
    assert lengths == {3, 2}


def where_of(parts: Transaction, number: int, owner: Owner = ANNA) -> Located:
    [located] = parts.messages.located(owner, [number])
    return located


def test_a_message_is_located_by_its_number_under_its_owner_alone(store: Store) -> None:
    add(store, ANNA, say("m2", "garden", 2), say("m1", "a garden plan", 1))
    [stem] = query_stems("garden")
    with store.reading() as parts:
        numbers = list(parts.messages.matches(ANNA, [stem]).postings[stem])
        located = parts.messages.located(ANNA, [*numbers, 999])
        assert parts.messages.located(Owner("no", "such", "owner"), numbers) == []
    assert sorted(one[1:] for one in located) == [
        ("m1", "t1", 0, int(at(1).timestamp()) * 1_000_000, 13),
        ("m2", "t1", 1, int(at(2).timestamp()) * 1_000_000, 6),
    ]


def test_a_message_longer_than_a_number_can_carry_counts_as_that_long(store: Store) -> None:
    with store.transaction() as tx:
        tx.messages.append(ANNA, say("m1", "x"), ["x"] * (LONGEST + 5))
        tx.messages.append(ANNA, say("m2", "x", 1), ["x"])
    with store.reading() as parts:
        found = parts.messages.matches(ANNA, ["x"])
    assert sorted(number & LONGEST for number in found.postings["x"]) == [1, LONGEST]
    assert sorted(found.postings["x"].values()) == [1, LONGEST + 5]
    assert found.mean_length == (LONGEST + 1) / 2


def test_an_owner_without_messages_matches_nothing(store: Store) -> None:
    with store.transaction() as tx:
        tx.notes.put(ANNA, note("page", "garden"))
    with store.reading() as parts:
        for owner in (ANNA, Owner("no", "such", "owner")):
            found = parts.messages.matches(owner, ["garden"])
            assert (found.documents, found.mean_length) == (0, 0.0)
            assert found.postings == {"garden": {}}


def test_since_and_until_are_included(store: Store) -> None:
    add(store, ANNA, *(say(f"m{n}", "garden", n) for n in range(5)))
    instant = timedelta(microseconds=1)

    def found(since: datetime | None, until: datetime | None) -> list[str]:
        hits = Conversation(store, Settings()).search(ANNA, "garden", 9, since, until)
        return sorted(hit.message.id for hit in hits)

    assert found(at(1), at(3)) == ["m1", "m2", "m3"]
    assert found(at(1) + instant, at(3) - instant) == ["m2"]
    assert found(at(4), None) == ["m4"]
    assert found(None, at(0)) == ["m0"]
    assert found(at(3), at(1)) == []
    moscow = timezone(timedelta(hours=3))
    assert found(at(1).astimezone(moscow), at(1).astimezone(moscow)) == ["m1"]


def test_a_period_is_searched_however_many_better_hits_lie_outside_it(store: Store) -> None:
    add(store, ANNA, *(say(f"m{n:03d}", "garden garden", n) for n in range(60)))
    add(store, ANNA, say("late", "a garden among many other words", 99))
    hits = Conversation(store, Settings()).search(ANNA, "garden", 1, since=at(99))
    assert [hit.message.id for hit in hits] == ["late"]


def test_a_revision_never_returns_after_a_delete(store: Store) -> None:
    with store.transaction() as tx:
        assert tx.notes.last_revision(ANNA, "page") == 0
        tx.notes.put(ANNA, note("page", "first"))
        tx.notes.delete(ANNA, "page")
        assert tx.notes.last_revision(ANNA, "page") == 1
        assert tx.notes.get(ANNA, "page") is None
        assert tx.notes.last_revision(Owner("no", "such", "owner"), "page") == 0


STRANGE_STEMS = ["аб", "ъ", "1x2", "x", "é", "日本", "a1b2", "я" * 100, "\u0301"]


def test_any_stem_of_the_text_analysis_is_found_as_it_is(store: Store) -> None:
    with store.transaction() as tx:
        for number, stem in enumerate(STRANGE_STEMS):
            tx.messages.append(ANNA, say(f"m{number}", "x", number), [stem])
    with store.reading() as parts:
        found = {
            stem: [where_of(parts, number).id for number in postings]
            for stem, postings in parts.messages.matches(ANNA, STRANGE_STEMS).postings.items()
        }
    assert found == {stem: [f"m{number}"] for number, stem in enumerate(STRANGE_STEMS)}


def test_two_tenants_interleaved_on_one_store_search_as_on_two_stores(
    make_store: MakeStore,
) -> None:
    one, other = Owner("a", "helper", "x"), Owner("b", "helper", "x")
    words = ["garden", "plan", "rain", "sun", "roses", "суббота", "поливать", "дача"]
    texts = [
        " ".join(words[(number * 7 + step * step) % len(words)] for step in range(number % 5 + 1))
        for number in range(40)
    ]
    shared, own, foreign = (make_store() for _ in range(3))
    for number, text in enumerate(texts):
        owner = one if number % 3 else other
        message = say(f"m{number}", text, number)
        add(shared, owner, message)
        add(own if owner == one else foreign, owner, message)
    settings = Settings()
    for owner, alone in ((one, own), (other, foreign)):
        for query in ("garden roses", "суббота", "rain sun plan", "поливать дачу"):
            expected = Conversation(alone, settings).search(owner, query, 50)
            assert Conversation(shared, settings).search(owner, query, 50) == expected
            assert expected


def test_every_store_gives_the_same_hits_and_scores_as_the_one_in_memory(store: Store) -> None:
    reference = InMemoryStore()
    for number in range(30):
        text = f"garden {'rose ' * (number % 4)} {'дача' if number % 3 else 'plan AB-12'} {number}"
        for one in (store, reference):
            add(one, ANNA, say(f"m{number}", text, (number * 7) % 30))
    settings = Settings()
    for query in ("garden", "roses in the plan", "дачи ab-12", "17", ""):
        expected = Conversation(reference, settings).search(ANNA, query, 100)
        assert Conversation(store, settings).search(ANNA, query, 100) == expected


# ---- owners


def test_owners_with_like_names_see_nothing_of_one_another(store: Store) -> None:
    for number, owner in enumerate(OWNERS):
        with store.transaction() as tx:
            text = f"garden of {number}"
            tx.messages.append(owner, say("m1", text), stems(text))
            tx.notes.put(owner, note("page", text))
            tx.notes.put(owner, note("2026-03-02", text))
            tx.journal.append(owner, Event(START, "remember", "note written", f"{number}"))
            tx.queue.add(owner, QueuedPassage("note", f"{number}", number))
            tx.state.put_summary(owner, Summary("t1", text, START))
    for number, owner in enumerate(OWNERS):
        text = f"garden of {number}"
        with store.reading() as parts:
            assert [one.text for one in parts.messages.recent(owner, "t1", 99)] == [text]
            assert [one.text for one in parts.messages.span(owner, "t1", 0, 99)] == [text]
            assert [one.text for one in parts.messages.get(owner, ["m1"])] == [text]
            assert {one.text for one in parts.notes.all(owner)} == {text}
            assert [one.text for one in parts.notes.history(owner, "page")] == [text]
            assert [one.subject for one in parts.journal.events(owner, 99)] == [f"{number}"]
            assert [one.item for one in parts.queue.waiting(owner, 99)] == [f"{number}"]
            assert parts.state.summary(owner, "t1") == Summary("t1", text, START)
            assert parts.state.summaries(owner) == [Summary("t1", text, START)]
        hits = Conversation(store, Settings()).search(owner, "garden", 99)
        assert [hit.message.text for hit in hits] == [text]


def test_summaries_are_read_by_thread(store: Store) -> None:
    written = [Summary(thread, "x", START, ("m1",)) for thread in ("я", "b", "", "a")]
    with store.transaction() as tx:
        for one in written:
            tx.state.put_summary(ANNA, one)
    with store.reading() as parts:
        assert parts.state.summaries(ANNA) == sorted(written, key=lambda one: one.thread)
        assert parts.state.summaries(Owner("home", "helper", "%")) == []


def test_writes_of_one_owner_change_nothing_of_any_other(store: Store) -> None:
    for owner in OWNERS:
        with store.transaction() as tx:
            tx.messages.append(owner, say("m1", "garden"), stems("garden"))
            tx.notes.put(owner, note("page", "garden"))
            tx.queue.add(owner, QueuedPassage("note", "page", 1))
    before = {owner: everything(store, owner) for owner in OWNERS}
    for changed in (Owner("home", "helper", "%"), Owner("%", "%", "%")):
        with store.transaction() as tx:
            assert tx.notes.delete(changed, "page")
            tx.queue.remove(changed, "note", "page")
            tx.messages.append(changed, say("m0", "earlier", -9), stems("earlier"))
        for owner in OWNERS:
            if owner != changed and owner.person != "%":
                assert everything(store, owner) == before[owner]


def test_deleting_of_an_owner_who_has_nothing_deletes_nothing(store: Store) -> None:
    with store.transaction() as tx:
        tx.notes.put(ANNA, note("page", "x"))
    with store.transaction() as tx:
        for team, agent, person in product(("home", "%"), ("helper", "%"), ("ann_", "%")):
            assert tx.notes.delete(Owner(team, agent, person), "page") is False
    with store.reading() as parts:
        assert parts.notes.get(ANNA, "page") is not None


# ---- notes


def test_a_note_has_its_newest_revision_and_its_history_newest_first(store: Store) -> None:
    revisions = [note("page", f"text {number}", number, number) for number in (1, 2, 3)]
    for one in revisions:
        with store.transaction() as tx:
            tx.notes.put(ANNA, one)
    with store.reading() as parts:
        assert parts.notes.get(ANNA, "page") == revisions[2]
        assert parts.notes.history(ANNA, "page") == revisions[::-1]
        assert parts.notes.all(ANNA) == [revisions[2]]
        assert parts.notes.get(ANNA, "2026-03-02") is None
        assert parts.notes.history(ANNA, "2026-03-02") == []


def test_the_page_comes_first_and_dated_notes_newest_day_first(store: Store) -> None:
    with store.transaction() as tx:
        for key in ("2025-12-31", "2026-03-02", "page", "2026-01-10"):
            tx.notes.put(ANNA, note(key, key))
            tx.notes.put(ANNA, note(key, key + " again", 2))
    with store.reading() as parts:
        found = [(one.key, one.revision) for one in parts.notes.all(ANNA)]
        sizes = [(one.key, len(one.text)) for one in parts.notes.all(ANNA)]
        assert parts.notes.index(ANNA) == sizes
        assert parts.notes.index(Owner("no", "such", "owner")) == []
    assert found == [("page", 2), ("2026-03-02", 2), ("2026-01-10", 2), ("2025-12-31", 2)]


def test_a_revision_is_written_once(store: Store) -> None:
    with store.transaction() as tx:
        tx.notes.put(ANNA, note("page", "first"))
    with pytest.raises(StoreError), store.transaction() as tx:
        tx.notes.put(ANNA, note("page", "second"))
    with store.reading() as parts:
        assert [one.text for one in parts.notes.history(ANNA, "page")] == ["first"]


def test_an_unknown_role_or_writer_is_refused(store: Store) -> None:
    with pytest.raises(StoreError), store.transaction() as tx:
        tx.messages.append(ANNA, Message("m1", "t1", "system", "A", START, "x"), ["x"])  # type: ignore[arg-type]
    with pytest.raises(StoreError), store.transaction() as tx:
        tx.notes.put(ANNA, Note("page", "x", 1, START, "nobody"))  # type: ignore[arg-type]
    assert everything(store, ANNA)["notes"] == []


def test_deleting_a_note_removes_every_revision(store: Store) -> None:
    with store.transaction() as tx:
        tx.notes.put(ANNA, note("page", "one"))
        tx.notes.put(ANNA, note("page", "two", 2))
        tx.notes.put(ANNA, note("2026-03-02", "stays"))
    with store.transaction() as tx:
        assert tx.notes.delete(ANNA, "page") is True
        assert tx.notes.delete(ANNA, "page") is False
    with store.reading() as parts:
        assert parts.notes.get(ANNA, "page") is None
        assert parts.notes.history(ANNA, "page") == []
        assert [one.key for one in parts.notes.all(ANNA)] == ["2026-03-02"]


def test_deleting_through_the_gate_removes_revisions_and_the_queue_entry(store: Store) -> None:
    memory = Memory(store, Settings(), SettableClock(START))
    memory.notes.write(ANNA, "page", "one", writer="remember", expected_revision=0)
    memory.notes.write(ANNA, "page", "two", writer="curator", expected_revision=1)
    memory.notes.write(ANNA, "2026-03-02", "x", writer="import", expected_revision=0)
    memory.notes.delete(ANNA, "page", actor="anna")
    with store.reading() as parts:
        assert parts.notes.history(ANNA, "page") == []
        assert parts.queue.waiting(ANNA, 9) == [QueuedPassage("note", "2026-03-02", 1)]
        actions = [(one.action, one.actor) for one in parts.journal.events(ANNA, 9)]
    assert actions == [
        ("note deleted", "anna"),
        ("note written", "import"),
        ("note written", "curator"),
        ("note written", "remember"),
    ]


# ---- journal, queue, summary


def test_the_journal_is_newest_first_by_order_of_writing(store: Store) -> None:
    events = [
        Event(at(-number), "curator", f"did {number}", "page", ("m1",)) for number in range(5)
    ]
    for event in events:
        with store.transaction() as tx:
            tx.journal.append(ANNA, event)
    with store.reading() as parts:
        assert parts.journal.events(ANNA, 99) == events[::-1]
        assert parts.journal.events(ANNA, 2) == [events[4], events[3]]


def test_the_queue_is_oldest_first_and_holds_an_item_once(store: Store) -> None:
    with store.transaction() as tx:
        tx.queue.add(ANNA, QueuedPassage("note", "page", 1))
        tx.queue.add(ANNA, QueuedPassage("message", "page", 1))
        tx.queue.add(ANNA, QueuedPassage("note", "2026-03-02", 1))
        tx.queue.add(ANNA, QueuedPassage("note", "page", 2))
        tx.queue.remove(ANNA, "message", "unknown")
    with store.reading() as parts:
        assert parts.queue.waiting(ANNA, 99) == [
            QueuedPassage("note", "page", 2),
            QueuedPassage("message", "page", 1),
            QueuedPassage("note", "2026-03-02", 1),
        ]
        assert parts.queue.waiting(ANNA, 1) == [QueuedPassage("note", "page", 2)]
    with store.transaction() as tx:
        tx.queue.remove(ANNA, "note", "page")
        tx.queue.add(ANNA, QueuedPassage("note", "page", 3))
    with store.reading() as parts:
        waiting = [(one.kind, one.item) for one in parts.queue.waiting(ANNA, 99)]
    assert waiting == [("message", "page"), ("note", "2026-03-02"), ("note", "page")]


def test_a_summary_replaces_the_threads_earlier_one(store: Store) -> None:
    with store.transaction() as tx:
        assert tx.state.summary(ANNA, "t1") is None
        tx.state.put_summary(ANNA, Summary("t1", "old", at(0), ("m1",)))
        tx.state.put_summary(ANNA, Summary("t2", "other", at(1)))
        tx.state.put_summary(ANNA, Summary("t1", "new", at(2), ("m1", "m2")))
    with store.reading() as parts:
        assert parts.state.summary(ANNA, "t1") == Summary("t1", "new", at(2), ("m1", "m2"))
        assert parts.state.summary(ANNA, "t2") == Summary("t2", "other", at(1))


# ---- transactions


class Boom(Exception):
    """Raised in the middle of a transaction."""


def test_a_transaction_that_raises_leaves_nothing_behind(store: Store) -> None:
    newcomer = Owner("new", "new", "new")
    add(store, ANNA, say("m1", "garden", 1), say("m2", "plan", 2))
    with store.transaction() as tx:
        tx.notes.put(ANNA, note("page", "garden"))
        tx.queue.add(ANNA, QueuedPassage("note", "page", 1))
    before = everything(store, ANNA)

    def write_everything_and_fail() -> None:
        with store.transaction() as tx:
            for owner in (ANNA, newcomer):
                tx.messages.append(owner, say("m0", "garden plan", 0), stems("garden plan"))
                tx.notes.delete(owner, "page")
                tx.notes.put(owner, note("2026-03-02", "note"))
                tx.queue.remove(owner, "note", "page")
                tx.queue.add(owner, QueuedPassage("message", "m0", 1))
                tx.journal.append(owner, Event(START, "x", "y", "z"))
                tx.state.put_summary(owner, Summary("t1", "x", START))
            raise Boom

    with pytest.raises(Boom):
        write_everything_and_fail()
    assert everything(store, ANNA) == before
    assert not any(
        value for name, value in everything(store, newcomer).items() if name != "matches"
    )
    add(store, newcomer, say("m0", "garden", 0))
    with store.reading() as parts:
        assert parts.messages.matches(newcomer, ["garden"]).documents == 1
        assert parts.messages.matches(ANNA, ["garden"]).documents == 2


def test_a_transaction_sees_what_it_wrote(store: Store) -> None:
    with store.transaction() as tx:
        tx.messages.append(ANNA, say("m1", "garden"), stems("garden"))
        tx.notes.put(ANNA, note("page", "x"))
        assert tx.messages.matches(ANNA, ["garden"]).documents == 1
        assert tx.notes.get(ANNA, "page") == note("page", "x")
        with store.reading() as parts:
            assert parts.notes.get(ANNA, "page") == note("page", "x")


def test_another_thread_sees_a_transaction_only_once_it_committed(store: Store) -> None:
    seen: list[int] = []

    def look() -> None:
        with store.reading() as parts:
            seen.append(len(parts.messages.recent(ANNA, "t1", 9)))

    def in_a_thread() -> None:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    with store.transaction() as tx:
        tx.messages.append(ANNA, say("m1", "x"), ["x"])
        in_a_thread()
    in_a_thread()
    assert seen == [0, 1]


def test_a_reader_sees_one_state_while_others_write(store: Store) -> None:
    add(store, ANNA, say("m2", "x", 2))
    with store.reading() as parts:
        before = parts.messages.recent(ANNA, "t1", 9)
        thread = threading.Thread(target=add, args=(store, ANNA, say("m1", "x", 1)))
        thread.start()
        thread.join()
        assert parts.messages.recent(ANNA, "t1", 9) == before
        assert parts.messages.matches(ANNA, ["x"]).documents == 1
    with store.reading() as parts:
        assert len(parts.messages.recent(ANNA, "t1", 9)) == 2


def test_what_is_written_while_reading_is_not_kept(store: Store) -> None:
    with store.reading() as parts:
        parts.notes.put(ANNA, note("page", "x"))
    with store.reading() as parts:
        assert parts.notes.all(ANNA) == []


def test_a_second_transaction_in_one_thread_is_refused_and_the_first_goes_on(store: Store) -> None:
    with store.transaction() as tx:
        tx.notes.put(ANNA, note("page", "x"))
        with pytest.raises(StoreError, match="open already"), store.transaction():
            pass
    with store.reading() as parts:
        assert len(parts.notes.all(ANNA)) == 1
        with pytest.raises(StoreError, match="open already"), store.transaction():
            pass


def test_threads_that_write_at_once_lose_nothing(store: Store) -> None:
    def write(writer: int) -> None:
        for number in range(20):
            add(store, ANNA, say(f"w{writer}-{number:02}", "garden", number))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading() as parts:
        found = parts.messages.span(ANNA, "t1", 0, 999)
        assert [one.place for one in found] == list(range(80))
        assert found == sorted(found, key=lambda one: (one.time, one.id))
        assert parts.messages.matches(ANNA, ["garden"]).documents == 80


def test_a_closed_store_raises_in_every_thread(store: Store) -> None:
    add(store, ANNA, say("m1", "x"))
    store.close()
    failures: list[Exception] = []

    def use() -> None:
        try:
            with store.reading() as parts:
                parts.notes.all(ANNA)
        except StoreError as error:
            failures.append(error)

    use()
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    with pytest.raises(StoreError), store.transaction():
        pass
    assert len(failures) == 2


# ---- cursors


def unread_ids(store: Store, thread: str = "t1", reader: str = "curator") -> list[str]:
    with store.reading() as parts:
        found = parts.state.unread(ANNA, thread, reader)
        said = parts.messages.span(ANNA, thread, 0, 99)
        assert [one.place for one in found] == [one.place for one in said][-len(found) or 99 :]
        return [said[one.place].id for one in found]


def test_what_is_unread_is_the_thread_until_a_cursor_stands_in_it(store: Store) -> None:
    add(store, ANNA, say("m1", "one"), say("m2", "four", 1, "tool"), say("x", "x", 1, thread="t2"))
    with store.reading() as parts:
        assert parts.state.cursor(ANNA, "t1", "curator") is None
        assert parts.state.unread(ANNA, "t1", "curator") == [
            Unread(0, "user", 3),
            Unread(1, "tool", 4),
        ]
        assert parts.state.unread(ANNA, "t9", "curator") == []
        assert parts.state.unread(Owner("new", "new", "new"), "t1", "curator") == []


def test_a_cursor_moves_only_from_where_it_is_expected(store: Store) -> None:
    first, second = Cursor(at(0), "m1"), Cursor(at(1), "m2")
    add(store, ANNA, say("m1", "one"), say("m2", "two", 1), say("m3", "three", 2))
    with store.transaction() as tx:
        assert not tx.state.advance(ANNA, "t1", "curator", first, second)
        assert tx.state.advance(ANNA, "t1", "curator", None, first)
        assert not tx.state.advance(ANNA, "t1", "curator", None, second)
        assert tx.state.advance(ANNA, "t1", "curator", first, second)
        assert not tx.state.advance(ANNA, "t1", "curator", first, second)
        assert tx.state.cursor(ANNA, "t1", "curator") == second
        assert tx.state.cursor(ANNA, "t1", "summary") is None
        assert tx.state.cursor(ANNA, "t2", "curator") is None
    assert unread_ids(store) == ["m3"]
    assert unread_ids(store, reader="summary") == ["m1", "m2", "m3"]


def test_a_cursor_stays_at_its_message_when_places_shift_or_it_is_gone(store: Store) -> None:
    add(store, ANNA, say("m1", "one"), say("m4", "four", 4), say("m5", "five", 5))
    with store.transaction() as tx:
        tx.state.advance(ANNA, "t1", "curator", None, Cursor(at(4), "m4"))
        tx.state.advance(ANNA, "t1", "summary", None, Cursor(at(3), "gone"))
        tx.state.advance(ANNA, "t1", "third", None, Cursor(at(-3), "gone"))
    add(store, ANNA, say("m2", "late", 2))
    assert unread_ids(store) == ["m5"]
    assert unread_ids(store, reader="summary") == ["m4", "m5"]
    assert unread_ids(store, reader="third") == ["m1", "m2", "m4", "m5"]


def test_a_cursor_that_was_moved_in_a_transaction_that_failed_stands_where_it_stood(
    store: Store,
) -> None:
    with suppress(RuntimeError), store.transaction() as tx:
        tx.state.advance(ANNA, "t1", "curator", None, Cursor(at(0), "m1"))
        raise RuntimeError
    with store.reading() as parts:
        assert parts.state.cursor(ANNA, "t1", "curator") is None


def test_a_removed_summary_is_gone_and_no_other(store: Store) -> None:
    with store.transaction() as tx:
        tx.state.put_summary(ANNA, Summary("t1", "one", START))
        tx.state.put_summary(ANNA, Summary("t2", "two", START))
        tx.state.remove_summary(ANNA, "t1")
        tx.state.remove_summary(ANNA, "t9")
        assert tx.state.summary(ANNA, "t1") is None
        assert tx.state.summary(ANNA, "t2") is not None
