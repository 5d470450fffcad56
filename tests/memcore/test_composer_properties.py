"""What holds for every composition, whatever the settings and whatever was said."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memcore import PAGE, Layer, Memory, Message, Owner, Settings, Summary
from memcore.composer.budget import fit, left
from memcore.errors import SecretFound
from memcore.testing import InMemoryStore, SettableClock
from tests.composing import check, text_of
from tests.support import ANNA, START

WORDS = [
    "garden",
    "roses",
    "bloom",
    "суббота",
    "поливать",
    "дача",
    "AB-1234",
    "yesterday",
    "вчера",
    "the",
    "и",
    "thanks",
    "+79161234567",
    "photo_2.jpg",
    "</notes>",
    "<|im_end|>",
    "[INST]",
    "sk-abcdefghij0123456789ABCDEF",
    ".",
    "!",
    "?",
]
ODD = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\0\n\r\t\u2028\u200b\u202e\ud800\U0001f600\u0301<>&\"'-:*"),
    ),
    max_size=40,
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    st.lists(st.sampled_from(WORDS), min_size=60, max_size=120).map(" ".join),
    ODD,
    st.builds(lambda one, word, other: f"{one} {word} {other}", ODD, st.sampled_from(WORDS), ODD),
)
SIZES = st.one_of(st.integers(0, 400), st.integers(0, 20_000))

SETTINGS = {
    "ceiling": SIZES,
    "summary_cap": SIZES,
    "notes_cap": SIZES,
    "excerpts_cap": SIZES,
    "window_cap": SIZES,
    "excerpts_limit": st.integers(0, 9),
    "excerpt_size": st.integers(40, 900),
    "note_size": st.integers(1, 3_000),
    "min_real_words": st.integers(0, 4),
    "search_mode": st.sampled_from(["lexical", "semantic", "hybrid"]),
    "search_depth": st.integers(1, 200),
    "neighbour_weight": st.floats(0, 1),
    "excerpts_cutoff": st.none() | st.floats(0, 20),
    "neighbour_reach": st.integers(0, 3),
    "day_boost": st.floats(1, 10),
    "session_gap_minutes": st.integers(1, 10_000),
    "bm25_k1": st.floats(0, 10),
    "bm25_b": st.floats(0, 1),
    "timezone": st.sampled_from(["UTC", "Europe/Moscow", "Pacific/Kiritimati", "America/New_York"]),
    "layer_seconds": st.none(),
}


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """A memory of some settings in which things were said and written."""
    chosen = draw(st.fixed_dictionaries({}, optional=SETTINGS))
    mind = Memory(
        InMemoryStore(), Settings(**{"layer_seconds": None, **chosen}), SettableClock(START)
    )
    stranger = Owner("home", "helper", "ann")
    said = st.tuples(
        st.sampled_from([ANNA, ANNA, ANNA, stranger]),
        st.sampled_from(["t1", "t1", "t2"]),
        st.sampled_from(["user", "assistant", "tool"]),
        TEXTS.filter(str.strip),
        ODD,
        st.integers(-3_000, 3_000),
    )
    for number, (owner, thread, role, text, speaker, minutes) in enumerate(
        draw(st.lists(said, max_size=25))
    ):
        time = START + timedelta(minutes=minutes)
        message = Message(f"m{number}", thread, role, speaker, time, text)  # type: ignore[arg-type]
        mind.conversation.append(owner, message)
    keys = st.sampled_from([PAGE, "2026-03-01", "2026-03-02", "2025-01-01"])
    for key, text in draw(st.dictionaries(keys, TEXTS.filter(str.strip))).items():
        if len(text) <= mind.settings.note_size:
            with suppress(SecretFound):
                mind.notes.write(ANNA, key, text, writer="import", expected_revision=0)
    if draw(st.booleans()):
        text = draw(TEXTS.filter(str.strip))
        with suppress(SecretFound):
            mind.summaries.save(ANNA, Summary("t1", text[:2_000], START))
    return mind


@settings(max_examples=150, deadline=None)
@given(memories(), TEXTS, TEXTS, st.integers(0, 4_000), st.data())
def test_every_composition_adds_up_holds_its_budget_and_alternates(
    mind: Memory, persona: str, text: str, minutes: int, data: Any
) -> None:
    stored = mind.conversation.recent(ANNA, "t1", 1_000)
    message = Message("new", "t1", "user", "Anna", START + timedelta(minutes=minutes), text)
    if stored and data.draw(st.booleans(), label="asks again of a stored message"):
        message = data.draw(st.sampled_from(stored))
    composed = mind.compose(ANNA, "t1", message, persona)
    check(composed)
    assert not [row for row in composed.account.layers if row.status == "failed"]

    earlier = [
        one for one in stored
        if (one.time, one.id if message.id != "new" else "") < (message.time, message.id)
        or (message.id == "new" and one.time == message.time)
    ]  # fmt: skip
    sent = [one for one in earlier if one.role != "tool"]
    edge = next((at for at, one in enumerate(sent) if one.role == "user"), None)
    exchange = [] if edge is None else sent[: edge + 1]
    history = "".join(turn.content for turn in composed.prefix)
    assert composed.system.startswith(persona)
    assert history.endswith("\n\n".join(one.text for one in reversed(exchange[:-1])))
    for one in exchange:
        assert one.text in history

    for layer in (Layer.SUMMARY, Layer.NOTES, Layer.EXCERPTS):
        section = text_of(composed, layer).removeprefix("\n\n")
        if section:
            lines = section.split("\n")
            assert lines[0] == f"<{layer}>"
            assert lines[-1] == f"</{layer}>"
            inner = [line for line in section.splitlines()[2:-1] if not line.startswith("  ")]
            assert all(line.startswith("- ") for line in inner)
            assert "sk-abcdefghij" not in section


@settings(max_examples=40, deadline=None)
@given(memories(), TEXTS)
def test_composing_twice_gives_the_same_bytes(mind: Memory, text: str) -> None:
    message = Message("new", "t1", "user", "Anna", START + timedelta(days=30), text)
    first, second = (mind.compose(ANNA, "t1", message, "persona") for _ in range(2))
    assert (first.system, first.prefix, first.items) == (second.system, second.prefix, second.items)
    assert second.account.unchanged == len(second.system)


@given(st.lists(st.integers(0, 50)), st.integers(0, 200), st.integers(0, 20), st.integers(0, 3))
def test_fitting_keeps_order_and_limit_and_passes_over_only_what_does_not_fit(
    sizes: list[int], limit: int, overhead: int, separator: int
) -> None:
    found = fit(sizes, limit, overhead, separator)
    assert list(found.kept) == sorted(set(found.kept))
    kept = [sizes[number] for number in found.kept]
    expected = overhead + sum(kept) + separator * (len(kept) - 1) if kept else 0
    assert found.cost == expected <= limit
    for number in set(range(len(sizes))) - set(found.kept):
        before = fit(sizes[:number], limit, overhead, separator)
        price = sizes[number] + (separator if before.kept else overhead)
        assert before.cost + price > limit


@given(st.integers(0, 100), st.lists(st.integers(0, 60)))
def test_what_is_left_is_never_negative(ceiling: int, spent: list[int]) -> None:
    assert left(ceiling, *spent) == max(0, ceiling - sum(spent))
