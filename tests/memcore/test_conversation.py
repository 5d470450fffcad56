"""What was said: stored whole, read back in order, found by its words."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from memcore import Message, Owner
from memcore.conversation import SNIPPET
from memcore.errors import Conflict, InvalidInput
from memcore.types import QueuedPassage
from tests.support import ANNA, START, at, memory, say


def test_a_message_is_stored_with_its_search_entry_and_its_place_in_the_queue() -> None:
    mind = memory()
    stored = mind.conversation.append(ANNA, say("m1", "Roses bloom."))
    assert stored.place == 0
    assert [hit.message for hit in mind.conversation.search(ANNA, "rose", 5)] == [stored]
    with mind.store.reading() as parts:
        assert parts.queue.waiting(ANNA, 5) == [QueuedPassage("message", "m1", 1)]


def test_a_message_that_fails_leaves_no_search_entry_and_no_place_in_the_queue() -> None:
    mind = memory()
    mind.conversation.append(ANNA, say("m1", "Roses bloom."))
    with pytest.raises(Conflict):
        mind.conversation.append(ANNA, say("m1", "Tulips fade."))
    assert mind.conversation.search(ANNA, "tulips", 5) == []
    with mind.store.reading() as parts:
        assert len(parts.queue.waiting(ANNA, 5)) == 1


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"role": "system"}, "role 'system'"),
        ({"role": ""}, "user, assistant, tool"),
        ({"text": " \n"}, "no text"),
        ({"text": ""}, "no text"),
        ({"id": ""}, "no id"),
        ({"time": datetime(2026, 1, 1)}, "without a zone"),  # noqa: DTZ001
    ],
)
def test_an_unacceptable_message_is_refused_by_name(changes: dict[str, Any], named: str) -> None:
    fields: dict[str, Any] = {
        "id": "m1", "thread": "t1", "role": "user", "speaker": "A", "time": START, "text": "x",
    }  # fmt: skip
    mind = memory()
    with pytest.raises(InvalidInput, match=named):
        mind.conversation.append(ANNA, Message(**{**fields, **changes}))
    assert mind.conversation.recent(ANNA, "t1", 5) == []


def test_lone_surrogates_in_text_and_speaker_become_replacement_marks() -> None:
    mind = memory()
    stored = mind.conversation.append(ANNA, say("m1", "a\ud800b", speaker="\udfff"))
    assert (stored.text, stored.speaker) == ("a\ufffdb", "\ufffd")


def test_recent_messages_are_paged_backwards_by_id() -> None:
    mind = memory()
    for number in (3, 1, 0, 2, 4):
        mind.conversation.append(ANNA, say(f"m{number}", "x", number))
    mind.conversation.append(ANNA, say("n0", "x", 1, thread="t2"))

    def ids(limit: int, before: str | None = None) -> list[str]:
        return [one.id for one in mind.conversation.recent(ANNA, "t1", limit, before)]

    assert ids(2) == ["m4", "m3"]
    assert ids(2, "m3") == ["m2", "m1"]
    assert ids(2, "m1") == ["m0"]
    assert ids(2, "m0") == []
    assert ids(0) == ids(-1) == []
    assert ids(9, "unknown") == ids(9, "n0") == []


def test_a_hit_has_date_speaker_thread_id_score_and_a_snippet() -> None:
    mind = memory()
    text = f"{'It rained. ' * 40}The roses bloom in June. {'It rained. ' * 40}"
    mind.conversation.append(ANNA, say("m1", text, 5, thread="t7"))
    [hit] = mind.conversation.search(ANNA, "blooming roses", 5)
    assert (hit.message.id, hit.message.thread, hit.message.speaker) == ("m1", "t7", "Anna")
    assert hit.message.time == at(5)
    assert hit.score > 0
    assert "The roses bloom in June." in hit.snippet
    assert len(hit.snippet) <= SNIPPET


def test_search_covers_all_threads_best_first_and_newer_first_where_equal() -> None:
    mind = memory()
    mind.conversation.append(ANNA, say("old", "roses", 0))
    mind.conversation.append(ANNA, say("new", "roses", 9, thread="t2"))
    mind.conversation.append(ANNA, say("best", "roses bloom", 1, thread="t3"))
    mind.conversation.append(ANNA, say("b", "roses", 9, thread="t4"))

    def ids(limit: int) -> list[str]:
        return [hit.message.id for hit in mind.conversation.search(ANNA, "roses bloom", limit)]

    assert ids(9) == ["best", "b", "new", "old"]
    assert ids(2) == ["best", "b"]
    assert ids(0) == ids(-3) == []


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    mind = memory()
    for number in range(10):
        mind.conversation.append(ANNA, say(f"c{number}", "garden work", number))
    mind.conversation.append(ANNA, say("rare", "tulip work", 50))
    [first, *_] = mind.conversation.search(ANNA, "garden tulip", 20)
    assert first.message.id == "rare"


def test_since_and_until_are_included_and_need_a_zone() -> None:
    mind = memory()
    for number in range(4):
        mind.conversation.append(ANNA, say(f"m{number}", "roses", number))
    east = timezone(timedelta(hours=9))
    found = mind.conversation.search(ANNA, "roses", 9, at(1).astimezone(east), at(2))
    assert sorted(hit.message.id for hit in found) == ["m1", "m2"]
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    for period in ({"since": naive}, {"until": naive}):
        with pytest.raises(InvalidInput, match="without a zone"):
            mind.conversation.search(ANNA, "roses", 9, **period)


def test_another_tenants_text_moves_no_score() -> None:
    alone, shared = memory(), memory()
    for mind in (alone, shared):
        for number in range(5):
            mind.conversation.append(ANNA, say(f"m{number}", "roses " * (number + 1), number))
    before = alone.conversation.search(ANNA, "roses", 9)
    for number in range(50):
        stranger = Owner("work", "helper", "anna")
        shared.conversation.append(stranger, say(f"s{number}", "roses and tulips " * 9, number))
    assert shared.conversation.search(ANNA, "roses", 9) == before
