"""The composer, rule by rule of the specification; excerpts have a file of their own."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from memcore import PAGE, Composition, Layer, Owner, Reason, Summary, Turn
from memcore.errors import StoreError
from memcore.testing import InMemoryStore, SettableClock
from tests.composing import (
    ASKED,
    PERSONA,
    ROSES,
    ask,
    chat,
    check,
    fill,
    items,
    kept,
    text_of,
    write,
)
from tests.support import ANNA, START, at, memory, say

# ---- order and form


def test_layers_stand_in_the_order_of_the_prompt_and_rows_in_that_of_priority() -> None:
    mind = memory()
    fill(mind, say("old", "The roses bloom in the garden.", 0, thread="t2"), *chat(4))
    write(mind, PAGE, "Anna has a garden.")
    mind.summaries.save(ANNA, Summary("t1", "They spoke of the weather.", START))
    composed = ask(mind, "When do roses bloom in the garden?")
    check(composed)
    assert [one.layer for one in composed.layers] == [
        Layer.PERSONA, Layer.SUMMARY, Layer.NOTES, Layer.EXCERPTS, Layer.WINDOW,
        Layer.LAST_EXCHANGE,
    ]  # fmt: skip
    assert all(one.text for one in composed.layers)
    assert composed.system.startswith(PERSONA)
    assert [row.status for row in composed.account.layers] == ["ok"] * 6


def test_nothing_remembered_leaves_the_persona_and_the_message() -> None:
    composed = ask(memory(), "When do the roses bloom?")
    check(composed)
    assert composed.system == PERSONA
    assert composed.prefix == ()
    assert composed.messages == (Turn("user", "When do the roses bloom?"),)
    statuses = [row.status for row in composed.account.layers]
    assert statuses == ["ok", "empty", "empty", "empty", "empty", "empty"]


def test_without_a_persona_the_first_layer_has_no_separator_before_it() -> None:
    mind = memory()
    write(mind, PAGE, "Anna has a garden.")
    composed = ask(mind, "Hello", persona="")
    check(composed)
    assert composed.system.startswith("<notes>\n")


def test_a_message_given_as_text_is_said_now() -> None:
    mind = memory(now=at(100))
    fill(mind, say("m1", "hello", 50), say("m2", "later", 200))
    composed = mind.compose(ANNA, "t1", "what?", PERSONA)
    check(composed)
    assert composed.prefix == (Turn("user", "hello"),)


# ---- what is never cut


def test_the_persona_and_the_last_exchange_stay_whole_whatever_the_settings() -> None:
    off = dict.fromkeys(("ceiling", "summary_cap", "notes_cap", "excerpts_cap"), 0)
    mind = memory(window_cap=0, **off)
    long = [say("m1", "u" * 30_000, 1), say("m2", "a" * 20_000, 2, "assistant")]
    fill(mind, say("m0", "earlier", 0), *long)
    write(mind, PAGE, "Anna has a garden.")
    composed = ask(mind, "And the roses in the garden?", persona="P" * 50_000)
    check(composed)
    assert text_of(composed, Layer.PERSONA) == "P" * 50_000
    assert composed.prefix == (Turn("user", "u" * 30_000), Turn("assistant", "a" * 20_000))
    assert composed.account.spent == 50_000


def test_the_persona_is_outside_the_budget() -> None:
    mind = memory(ceiling=400, window_cap=200)
    fill(mind, *chat(8))
    small, large = ask(mind, "hm", persona="P"), ask(mind, "hm", persona="P" * 100_000)
    check(small)
    assert small.prefix == large.prefix
    assert small.account.spent == large.account.spent


def test_the_last_exchange_is_the_newest_user_message_and_the_replies_to_it() -> None:
    mind = memory(window_cap=0)
    fill(
        mind,
        say("m1", "first", 1),
        say("m2", "reply", 2, "assistant"),
        say("m3", "second", 3),
        say("m4", "look", 4, "assistant"),
        say("m5", "17 degrees", 5, "tool"),
        say("m6", "it is warm", 6, "assistant"),
    )
    composed = ask(mind, "thanks")
    check(composed)
    assert kept(composed, Layer.LAST_EXCHANGE) == ["m6", "m4", "m3"]
    assert composed.prefix == (Turn("user", "second"), Turn("assistant", "look\n\nit is warm"))


def test_the_last_exchange_is_reserved_before_anyone_spends() -> None:
    mind = memory(ceiling=1_000)
    fill(mind, say("m1", "u" * 900, 1))
    write(mind, PAGE, "n" * 500)
    composed = ask(mind, "hm")
    check(composed)
    row = composed.account.row(Layer.NOTES)
    assert (row.granted, row.received, row.status) == (100, 0, "empty")
    assert row.asked > 500


# ---- whole items


def test_an_oversized_note_is_passed_over_and_the_next_that_fits_is_taken() -> None:
    mind = memory(notes_cap=1_000)
    write(mind, PAGE, "p" * 300)
    write(mind, "2026-03-03", "big " * 400)
    write(mind, "2026-03-02", "small enough")
    composed = ask(mind, "hm")
    check(composed)
    assert kept(composed, Layer.NOTES) == [PAGE, "2026-03-02"]
    [dropped] = [item for item in items(composed, Layer.NOTES) if not item.kept]
    assert (dropped.id, dropped.reason, dropped.place) == ("2026-03-03", Reason.OVER_BUDGET, 2)
    assert dropped.size >= 1_600
    assert "1000" in dropped.detail
    assert "big" not in composed.system


def test_the_page_comes_first_then_dated_notes_newest_first() -> None:
    mind = memory()
    for key in ("2026-01-01", "2026-02-01", PAGE, "2025-06-01"):
        write(mind, key, f"note of {key}")
    composed = ask(mind, "hm")
    check(composed)
    order = [PAGE, "2026-02-01", "2026-01-01", "2025-06-01"]
    assert kept(composed, Layer.NOTES) == order
    found = re.findall(r"^- (\S+)$", text_of(composed, Layer.NOTES), re.MULTILINE)
    assert found == order
    assert composed.account.row(Layer.NOTES).order == "the page, then newest first"


def test_a_note_fits_to_the_character() -> None:
    write(mind := memory(), PAGE, "n" * 500)
    needed = ask(mind, "hm").account.row(Layer.NOTES).received
    for cap, expected in ((needed, [PAGE]), (needed - 1, [])):
        write(mind := memory(notes_cap=cap), PAGE, "n" * 500)
        assert kept(ask(mind, "hm"), Layer.NOTES) == expected


def test_a_note_that_the_ceiling_leaves_no_room_for_does_not_take_it_from_what_follows() -> None:
    mind = memory(ceiling=700)
    write(mind, PAGE, "n" * 900)
    fill(mind, say("old", "The roses bloom in the garden.", 0, thread="t2"))
    composed = ask(mind, "When do roses bloom in the garden?")
    check(composed)
    assert kept(composed, Layer.NOTES) == []
    assert kept(composed, Layer.EXCERPTS) == ["old"]


def test_a_summary_is_whole_or_missing() -> None:
    for cap, expected in ((2_000, ["t1"]), (300, [])):
        mind = memory(summary_cap=cap)
        mind.summaries.save(ANNA, Summary("t1", "They spoke. " * 30, START, ("m1", "m2")))
        composed = ask(mind, "hm")
        check(composed)
        assert kept(composed, Layer.SUMMARY) == expected
        assert ("They spoke." in composed.system) is bool(expected)
        assert items(composed, Layer.SUMMARY)[0].covers == ("m1", "m2")


def test_the_summary_of_another_thread_is_not_shown() -> None:
    mind = memory()
    mind.summaries.save(ANNA, Summary("t2", "They spoke.", START))
    assert ask(mind, "hm").system == PERSONA


# ---- priority


def test_space_is_taken_from_the_end_when_the_ceiling_binds() -> None:
    received = []
    for ceiling in range(0, 3_600, 40):
        mind = memory(ceiling=ceiling, notes_cap=900, window_cap=800)
        fill(mind, say("old", "The roses bloom in the garden. " * 9, 0, thread="t2"))
        fill(mind, *chat(20))
        write(mind, PAGE, "n" * 700)
        mind.summaries.save(ANNA, Summary("t1", "s" * 600, START))
        composed = ask(mind, "When do roses bloom in the garden?")
        check(composed)
        row = composed.account.row
        layers = (Layer.SUMMARY, Layer.NOTES, Layer.EXCERPTS, Layer.WINDOW)
        received.append([row(layer).received for layer in layers])
    full = received[-1]
    assert all(full)
    assert received[0] == [0, 0, 0, 0]
    for ceiling, one in zip(range(0, 3_600, 40), received, strict=True):
        for layer in range(4):
            room = ceiling - 80 - sum(one[:layer])  # the last exchange has 80 characters
            assert one[layer] == full[layer] or room < full[layer]


def test_with_ordinary_input_and_the_defaults_nobody_is_refused() -> None:
    mind = memory()
    fill(mind, *chat(60, 100))
    write(mind, PAGE, "n" * 2_000)
    write(mind, "2026-03-02", "n" * 2_000)
    mind.summaries.save(ANNA, Summary("t1", "s" * 1_800, START))
    composed = ask(mind, "When do roses bloom in the garden?")
    check(composed)
    assert not [item for item in composed.items if item.reason is Reason.OVER_BUDGET]
    assert all(row.asked == row.granted for row in composed.account.layers)


# ---- the window


def test_the_deeper_window_is_contiguous_newest_first_and_begins_with_a_user_message() -> None:
    for cap in range(0, 2_000, 37):
        mind = memory(window_cap=cap)
        messages = chat(40)
        fill(mind, *messages)
        composed = ask(mind, "hm")
        check(composed)
        shown = [turn.content for turn in composed.prefix]
        assert shown == [one.text for one in messages][len(messages) - len(shown) :]
        if shown:
            assert composed.prefix[0].role == "user"
        places = [item.place for item in items(composed, Layer.WINDOW) if item.kept]
        assert places == list(range(1, len(places) + 1))
        spent = sum(map(len, shown))
        assert len(shown) == 2 or spent <= cap
        assert spent + 80 > cap or len(shown) == 40


def test_the_window_stops_at_the_first_message_that_does_not_fit() -> None:
    mind = memory(window_cap=500)
    fill(
        mind,
        say("m1", "small", 1),
        say("m2", "small", 2, "assistant"),
        say("m3", "u" * 600, 3),
        say("m4", "reply", 4, "assistant"),
        say("m5", "asked", 5),
        say("m6", "answered", 6, "assistant"),
    )
    composed = ask(mind, "hm")
    check(composed)
    assert kept(composed, Layer.WINDOW) == []
    reasons = {item.id: item.reason for item in items(composed, Layer.WINDOW)}
    assert reasons["m4"] is Reason.NOT_FIRST
    assert reasons["m3"] is Reason.OVER_BUDGET


def test_the_window_holds_the_last_exchange_within_its_cap() -> None:
    mind = memory(window_cap=400)
    fill(mind, *chat(10, 100))
    composed = ask(mind, "hm")
    check(composed)
    assert composed.account.row(Layer.WINDOW).cap == 200
    assert len(composed.prefix) == 4


def test_the_window_shows_nothing_said_after_the_message() -> None:
    mind = memory()
    fill(mind, *chat(6), say("new", "the message asked about", 6_000), say("z", "later", 7_000))
    fill(mind, say("new2", "at the very same time", 6_000))
    composed = mind.compose(ANNA, "t1", say("new", "the message asked about", 6_000), PERSONA)
    check(composed)
    assert len(composed.prefix) == 6


def test_a_thread_that_begins_with_the_assistant_starts_its_history_with_a_user_message() -> None:
    mind = memory()
    fill(mind, say("m0", "Good morning!", 0, "assistant"), *chat(4))
    composed = ask(mind, "hm")
    check(composed)
    assert len(composed.prefix) == 4
    assert {item.id: item.reason for item in items(composed, Layer.WINDOW)}["m0"] is (
        Reason.NOT_FIRST
    )


def test_a_thread_of_replies_to_nobody_sends_no_history() -> None:
    mind = memory()
    fill(mind, say("m0", "Good morning!", 0, "assistant"), say("m1", "Anyone?", 1, "assistant"))
    composed = ask(mind, "hm")
    check(composed)
    assert composed.prefix == ()
    assert [item.reason for item in composed.items] == [Reason.NOT_FIRST] * 2


@pytest.mark.parametrize("roles", ["uu", "uua", "uaau", "aaua", "utta", "uuuaaauuu", "tutatu", "t"])
def test_the_history_alternates_whatever_the_roles(roles: str) -> None:
    names = {"u": "user", "a": "assistant", "t": "tool"}
    for cap in (0, 10, 25, 8_000):
        mind = memory(window_cap=cap)
        fill(mind, *(say(f"m{n}", f"text {n}", n, names[r]) for n, r in enumerate(roles)))
        check(ask(mind, "hm"))


def test_tool_output_is_no_turn_of_the_history() -> None:
    mind = memory()
    fill(mind, say("m1", "weather?", 1), say("m2", "17 degrees", 2, "tool"))
    composed = ask(mind, "hm")
    check(composed)
    assert composed.prefix == (Turn("user", "weather?"),)
    assert [item.reason for item in items(composed, Layer.WINDOW)] == [Reason.TOOL_OUTPUT]


def test_an_unanswered_message_is_sent_together_with_the_new_one() -> None:
    mind = memory()
    fill(mind, say("m1", "Are you there?", 1))
    composed = ask(mind, "Hello?")
    check(composed)
    assert composed.messages == (Turn("user", "Are you there?\n\nHello?"),)


# ---- the account


def test_an_item_counts_as_kept_only_if_its_text_is_in_the_prompt() -> None:
    mind = memory(ceiling=2_500, notes_cap=800)
    fill(mind, *(say(f"r{n}", f"roses bloom in garden {n}", n, thread=f"o{n}") for n in range(9)))
    fill(mind, *chat(30))
    for day in range(1, 20):
        write(mind, f"2026-02-{day:02}", f"note number {day} " + "n" * 60)
    composed = ask(mind, ROSES)
    check(composed)
    prompt = composed.system + "".join(turn.content for turn in composed.prefix)
    stored = {one.key: one.text for one in mind.notes.all(ANNA)}
    for item in items(composed, Layer.NOTES):
        assert (stored[item.id] in prompt) is item.kept
    for item in items(composed, Layer.WINDOW):
        [message] = mind.conversation.recent(ANNA, "t1", 99)[item.place + 1 : item.place + 2]
        assert (message.text in prompt) is item.kept


def test_the_account_tells_how_much_of_the_prompt_is_unchanged() -> None:
    mind = memory()
    write(mind, PAGE, "Anna has a garden.")
    first = ask(mind, "hm")
    assert first.account.unchanged is None
    second = ask(mind, "hm", ASKED + 1)
    assert second.account.unchanged == len(first.system) == len(second.system)
    write(mind, PAGE, "Anna has a house.")
    third = ask(mind, "hm", ASKED + 2)
    assert third.account.unchanged == third.system.index("house")


def test_another_thread_or_owner_is_not_the_previous_turn() -> None:
    mind = memory()
    ask(mind, "hm")
    other = mind.compose(ANNA, "t2", say("q", "hm", thread="t2"), PERSONA)
    assert other.account.unchanged is None
    stranger = mind.compose(Owner("home", "helper", "ann"), "t1", say("q", "hm"), PERSONA)
    assert stranger.account.unchanged is None


def test_the_prefix_is_byte_identical_when_nothing_changed_at_any_time_of_day() -> None:
    mind = memory()
    fill(mind, say("old", "Roses bloom in the garden.", 0, thread="t2"), *chat(6))
    write(mind, PAGE, "Anna has a garden.")
    mind.summaries.save(ANNA, Summary("t1", "They spoke.", START))
    systems = set()
    for hours in (0, 1, 7, 23, 24 * 40, 24 * 400):
        composed = ask(mind, ROSES, ASKED + hours * 60)
        systems.add((composed.system, composed.prefix))
    assert len(systems) == 1


def test_what_stands_before_the_excerpts_does_not_change_with_the_question() -> None:
    mind = memory()
    fill(mind, say("old", "Roses bloom in the garden.", 0, thread="t2"))
    fill(mind, say("old2", "The house needs paint.", 0, thread="t3"))
    write(mind, PAGE, "Anna has a garden.")
    first, second = ask(mind, ROSES), ask(mind, "Does the house need paint?")
    edge = first.system.index("<excerpts>")
    assert first.system[:edge] == second.system[:edge]
    assert second.account.unchanged is not None
    assert second.account.unchanged >= edge


def test_same_input_same_bytes_in_a_new_memory() -> None:
    def build() -> Composition:
        mind = memory()
        fill(mind, *(say(f"m{n}", f"roses garden {n % 5}", n % 7, thread=f"o{n % 3}")
                     for n in range(30)))  # fmt: skip
        fill(mind, *chat(10))
        write(mind, PAGE, "Anna has a garden.")
        return ask(mind, ROSES)

    first, second = build(), build()
    assert (first.system, first.prefix, first.items) == (second.system, second.prefix, second.items)


@pytest.mark.parametrize(
    ("setting", "layer"),
    [
        ("summary_cap", Layer.SUMMARY),
        ("notes_cap", Layer.NOTES),
        ("excerpts_cap", Layer.EXCERPTS),
        ("excerpts_limit", Layer.EXCERPTS),
        ("window_cap", Layer.WINDOW),
    ],
)
def test_a_layer_with_a_cap_of_nothing_is_switched_off(setting: str, layer: Layer) -> None:
    mind = memory(**{setting: 0})
    fill(mind, say("old", "Roses bloom in the garden.", 0, thread="t2"), *chat(6))
    write(mind, PAGE, "Anna has a garden.")
    mind.summaries.save(ANNA, Summary("t1", "They spoke.", START))
    composed = ask(mind, ROSES)
    check(composed)
    for row in composed.account.layers:
        expected = "skipped" if row.layer is layer else "ok"
        assert row.status == expected
    assert text_of(composed, layer) == ""


# ---- best effort


class Unreliable:
    """A store of which one part fails or hangs until it is released."""

    def __init__(self, part: str, hang: bool) -> None:
        self.store = InMemoryStore()
        self.part = part
        self.broken = False
        self.hang = hang
        self.release = threading.Event()

    keeps_time = False

    def transaction(self) -> Any:
        return self.store.transaction()

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[Any]:
        with self.store.reading() as parts:
            yield _Breaking(parts, self) if self.broken else parts

    def close(self) -> None:
        self.store.close()


class _Breaking:
    def __init__(self, parts: Any, owner: Unreliable) -> None:
        self._parts, self._owner = parts, owner

    def __getattr__(self, name: str) -> Any:
        if name == self._owner.part:
            if self._owner.hang:
                self._owner.release.wait()
            raise StoreError(f"{name} is out of order")
        return getattr(self._parts, name)


@pytest.mark.parametrize("hang", [False, True], ids=["fails", "hangs"])
@pytest.mark.parametrize(
    ("part", "lost"),
    [
        ("notes", [Layer.NOTES]),
        ("state", [Layer.SUMMARY]),
        ("messages", [Layer.EXCERPTS, Layer.LAST_EXCHANGE, Layer.WINDOW]),
    ],
)
def test_a_store_that_does_not_answer_costs_its_layer_and_not_the_turn(
    part: str, lost: list[Layer], hang: bool
) -> None:
    store = Unreliable(part, hang)
    mind = memory(store, layer_seconds=0.02)
    fill(mind, say("old", "Roses bloom in the garden.", 0, thread="t2"), *chat(6))
    write(mind, PAGE, "Anna has a garden.")
    mind.summaries.save(ANNA, Summary("t1", "They spoke.", START))
    store.broken = True
    try:
        composed = ask(mind, ROSES)
    finally:
        store.release.set()
    check(composed)
    for row in composed.account.layers:
        assert row.status == ("failed" if row.layer in lost else "ok")
        if row.layer in lost:
            assert ("LayerTimeout" if hang else f"{part} is out of order") in row.note
            assert text_of(composed, row.layer) == ""
    assert composed.messages[-1].content == ROSES


def test_a_store_that_cannot_be_opened_leaves_persona_and_message() -> None:
    mind = memory()
    write(mind, PAGE, "Anna has a garden.")
    mind.store.close()
    composed = ask(mind, ROSES)
    check(composed)
    assert composed.system == PERSONA
    assert [row.status for row in composed.account.layers[1:]] == ["failed"] * 5


def test_a_hung_store_that_comes_back_is_used_again_and_leaves_no_thread() -> None:
    store = Unreliable("notes", hang=True)
    mind = memory(store, layer_seconds=0.02)
    write(mind, PAGE, "Anna has a garden.")
    before = set(threading.enumerate())
    store.broken = True
    for number in range(3):
        assert ask(mind, "hm", ASKED + number).account.row(Layer.NOTES).status == "failed"
    store.broken = False
    store.release.set()
    assert ask(mind, "hm", ASKED + 9).account.row(Layer.NOTES).status == "ok"
    started = set(threading.enumerate()) - before
    for _ in range(1_000):
        started = {thread for thread in started if thread.is_alive()}
        if len(started) == 1:  # the one that is kept for the next turn
            break
        next(iter(started)).join(timeout=0.01)
    assert len(started) == 1


def test_composing_reads_no_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SettableClock(at(ASKED))
    mind = memory()
    mind.clock = clock
    write(mind, PAGE, "Anna has a garden.")
    first = mind.compose(ANNA, "t1", "hm", PERSONA)
    clock.advance(timedelta(days=700))
    assert mind.compose(ANNA, "t1", "hm", PERSONA).system == first.system
