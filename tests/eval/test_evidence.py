"""What became of evidence: every stage of the funnel, from a turn that was really composed so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eval.evidence import Fate, Stage, trace
from eval.explain import STAGE_WORDS, age_in_words, loss_in_words
from eval.replay import replay
from memcore import PAGE, Composition, Layer, Memory, Message, Summary
from memcore.errors import StoreError
from memcore.testing import InMemoryStore
from tests.composing import ROSES, ask, chat, fill
from tests.support import ANNA, START, memory, say
from tests.talks import asked, chatter, dataset, said, talk

OLD = say("old", "Roses bloom in the garden in June.", 0)
NARROW = {"window_cap": 120, "neighbour_weight": 0.0}
LATER = chat(12)
"""Messages that push everything before them out of a narrow window."""


def note(mind: Memory, key: str, text: str, *sources: str) -> None:
    mind.notes.write(ANNA, key, text, writer="import", expected_revision=0, sources=sources)


def told(
    mind: Memory, messages: Sequence[Message], *evidence: str, text: str = ROSES
) -> tuple[Composition, list[Fate]]:
    """The messages stored, the question composed, the evidence traced."""
    fill(mind, *messages)
    composed = ask(mind, text)
    return composed, trace(composed, evidence, {one.id: one for one in messages})


def fate(mind: Memory, messages: Sequence[Message], evidence: str, **more: Any) -> Fate:
    return told(mind, messages, evidence, **more)[1][0]


# ---- lost


def test_what_was_never_stored() -> None:
    found = fate(memory(**NARROW), [OLD, *LATER], "ghost")
    assert found == Fate("ghost", Stage.NOT_STORED, (), "it is not in the store at that moment")


def test_what_was_not_searched_for_want_of_words() -> None:
    found = fate(memory(**NARROW), [OLD, *LATER], "old", text="Roses?")
    assert (found.stage, found.layers) == (Stage.NOT_SEARCHED, (Layer.EXCERPTS,))
    assert found.detail == "not searched: 1 real word, 2 are needed"
    assert (found.rank, found.score) == (None, None)
    assert loss_in_words(found) == "nothing was searched (excerpts: 1 real word, 2 are needed)"


@pytest.mark.parametrize("off", ["excerpts_cap", "excerpts_limit"])
def test_what_was_not_searched_because_the_search_is_switched_off(off: str) -> None:
    found = fate(memory(**{**NARROW, off: 0}), [OLD, *LATER], "old")
    assert (found.stage, found.detail) == (Stage.NOT_SEARCHED, "the layer is switched off")


class Failing(InMemoryStore):
    """A store that cannot count words."""

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[Any]:
        with super().reading(seconds) as parts:
            messages = parts.messages

            class Broken:
                def __getattr__(self, name: str) -> Any:
                    if name == "matches":
                        raise StoreError("the index is out of order")
                    return getattr(messages, name)

            class Parts:
                def __getattr__(self, name: str) -> Any:
                    return Broken() if name == "messages" else getattr(parts, name)

            yield Parts()


def test_what_a_failed_search_lost() -> None:
    found = fate(memory(Failing(), **NARROW), [OLD, *LATER], "old")
    assert (found.stage, found.layers) == (Stage.FAILED, (Layer.EXCERPTS,))
    assert found.detail == "StoreError: the index is out of order"


def test_what_no_word_of_the_question_leads_to() -> None:
    mind = memory(**NARROW)
    found = fate(mind, [OLD, say("cat", "Mochi knocked the pot over.", 600), *LATER], "cat")
    assert (found.stage, found.detail) == (Stage.NOT_FOUND, "no word of the question leads to it")
    nothing = fate(memory(**NARROW), [say("cat", "Mochi knocked the pot over.", 0)], "cat")
    assert nothing.stage is Stage.REACHED, "the window has it"


def test_what_is_not_found_where_the_search_finds_nothing_at_all() -> None:
    messages = [say("cat", "Mochi knocked the pot over.", 0), *LATER]
    found = fate(memory(**NARROW), messages, "cat")
    assert found.stage is Stage.NOT_FOUND
    assert found.detail == "searched: no earlier message has a word of it"


def test_what_lies_beyond_the_depth_of_the_search() -> None:
    others = [say(f"r{n}", "Roses, roses bloom in the garden.", 500 * n + 500) for n in range(3)]
    mind = memory(**NARROW, search_depth=1)
    found = fate(mind, [say("old", "A garden, dear.", 0), *others, *LATER], "old")
    assert found.stage is Stage.NOT_FOUND
    assert found.detail == "4 messages found, the best 1 ranked"


def test_what_scored_below_the_cutoff_and_what_scored_just_as_much() -> None:
    open_to_all = fate(memory(**NARROW), [OLD, *LATER], "old")
    assert open_to_all.reached
    score = open_to_all.score
    assert score is not None
    found = fate(memory(**NARROW, excerpts_cutoff=score * 1.01), [OLD, *LATER], "old")
    assert (found.stage, found.rank, found.score) == (Stage.BELOW_CUTOFF, 1, score)
    assert found.detail.startswith("scored ")
    assert fate(memory(**NARROW, excerpts_cutoff=score), [OLD, *LATER], "old").reached


def test_what_ranked_too_low() -> None:
    others = [say(f"r{n}", "Roses bloom in the garden.", 500 * n + 500) for n in range(3)]
    mind = memory(**NARROW, excerpts_limit=2)
    found = fate(mind, [say("old", "The garden, dear.", 0), *others, *LATER], "old")
    assert (found.stage, found.layers, found.rank) == (Stage.RANKED_LOW, (Layer.EXCERPTS,), 4)
    assert found.detail == "ranked 4th, 2 are allowed"


def test_what_the_layer_had_no_room_for() -> None:
    better = say("better", "Roses bloom, roses bloom in the garden.", 500)
    mind = memory(**NARROW, excerpts_cap=96 + 70)
    found = fate(mind, [OLD, better, *LATER], "old")
    assert (found.stage, found.rank) == (Stage.OVER_BUDGET, 2)
    assert "characters were left of the layer's" in found.detail


def test_what_the_ceiling_had_no_room_for() -> None:
    found = fate(memory(**NARROW, ceiling=100), [OLD, *LATER], "old")
    assert (found.stage, found.layers, found.rank) == (Stage.OVER_BUDGET, (Layer.EXCERPTS,), 1)
    assert found.detail.startswith("the ceiling left this layer ")


def test_what_came_along_in_a_passage_that_was_left_out_is_lost_with_it() -> None:
    beside = say("beside", "The garden, yes.", 1)
    composed, found = told(memory(**NARROW, ceiling=100), [OLD, beside, *LATER], "old", "beside")
    assert [one.stage for one in found] == [Stage.OVER_BUDGET] * 2
    assert found[0].detail == found[1].detail
    assert found[1].detail.startswith("the ceiling left this layer ")
    assert "garden" not in composed.system


def test_what_is_only_quoted_in_part_is_cut() -> None:
    long = say("old", "Roses bloom in the garden. " + "And so on it goes. " * 60, 0)
    composed, (found,) = told(memory(**NARROW), [long, *LATER], "old")
    assert "Roses bloom in the garden." in composed.system
    assert found.stage is Stage.CUT
    assert not found.reached
    assert (found.layers, found.rank) == ((Layer.EXCERPTS,), 1)
    assert found.detail == "only a part of it was quoted"


def test_a_text_that_stands_in_the_prompt_as_another_message_is_not_the_evidence() -> None:
    twice = [say("old", "Yes, gladly.", 0), *LATER, say("new-yes", "Yes, gladly.", 9_000)]
    composed, (found,) = told(memory(**NARROW), twice, "old")
    assert "Yes, gladly." in composed.prefix[-1].content
    assert found.stage is Stage.NOT_FOUND


def test_the_same_words_quoted_from_another_message_are_not_the_evidence() -> None:
    twice = [OLD, say("again", OLD.text, 500), *LATER]
    composed, found = told(memory(**NARROW, excerpts_limit=1), twice, "old", "again")
    assert OLD.text in composed.system
    assert [one.stage for one in found] == [Stage.RANKED_LOW, Stage.REACHED]


@pytest.mark.parametrize("cap", ["notes_cap", "ceiling"])
def test_a_note_that_was_left_out_stands_for_nothing(cap: str) -> None:
    mind = memory(**NARROW, **{cap: 60})
    note(mind, PAGE, "Her cat is called Mochi.", "cat")
    found = fate(mind, [say("cat", "Mochi knocked the pot over.", 0), *LATER], "cat")
    assert found.stage is Stage.NOT_FOUND


def test_a_summary_of_another_thread_stands_for_nothing() -> None:
    mind = memory(**NARROW)
    mind.summaries.save(ANNA, Summary("t2", "A cat was spoken of.", START, ("cat",)))
    found = fate(mind, [say("cat", "Mochi knocked the pot over.", 0), *LATER], "cat")
    assert found.stage is Stage.NOT_FOUND


# ---- reached


def test_what_the_last_exchange_has() -> None:
    messages = [*LATER, say("pot", "Mochi knocked the pot over.", 9_000)]
    found = fate(memory(window_cap=0), messages, "pot")
    assert found == Fate("pot", Stage.REACHED, (Layer.LAST_EXCHANGE,))


def test_what_the_window_has() -> None:
    messages = [say("cat", "Mochi knocked the pot over.", 4_000), *LATER]
    found = fate(memory(), messages, "cat")
    assert found == Fate("cat", Stage.REACHED, (Layer.WINDOW,))


def test_what_an_excerpt_quotes_with_its_rank_and_score() -> None:
    found = fate(memory(**NARROW), [OLD, *LATER], "old")
    assert (found.stage, found.layers, found.rank) == (Stage.REACHED, (Layer.EXCERPTS,), 1)
    assert found.score is not None
    assert found.score > 0
    assert found.detail == ""


def test_what_comes_along_in_an_excerpt_without_being_found() -> None:
    reply = say("reply", "Lilies follow in July.", 1, "assistant")
    found = fate(memory(**NARROW), [OLD, reply, *LATER], "reply")
    assert (found.stage, found.layers) == (Stage.REACHED, (Layer.EXCERPTS,))
    assert (found.rank, found.score) == (None, None)


def test_what_a_note_cites() -> None:
    mind = memory(**NARROW)
    note(mind, "2026-03-02", "Her cat is clumsy.", "x", "cat")
    found = fate(mind, [say("cat", "Mochi knocked the pot over.", 0), *LATER], "cat")
    assert found == Fate("cat", Stage.REACHED, (Layer.NOTES,))


def test_what_a_summary_cites() -> None:
    mind = memory(**NARROW)
    mind.summaries.save(ANNA, Summary("t1", "A cat was spoken of.", START, ("cat",)))
    found = fate(mind, [say("cat", "Mochi knocked the pot over.", 0), *LATER], "cat")
    assert found == Fate("cat", Stage.REACHED, (Layer.SUMMARY,))


def test_every_layer_that_has_it_is_named_and_none_twice() -> None:
    mind = memory(**NARROW)
    note(mind, PAGE, "She grows roses.", "old")
    note(mind, "2026-03-02", "Roses, again.", "old")
    mind.summaries.save(ANNA, Summary("t1", "Of gardens.", START, ("old",)))
    found = fate(mind, [OLD, *LATER], "old")
    assert found.reached
    assert set(found.layers) == {Layer.SUMMARY, Layer.NOTES, Layer.EXCERPTS}
    assert len(found.layers) == 3


def test_a_note_makes_up_for_what_is_quoted_in_part() -> None:
    mind = memory(**NARROW)
    note(mind, PAGE, "She grows roses.", "old")
    long = say("old", "Roses bloom in the garden. " + "And so on it goes. " * 60, 0)
    found = fate(mind, [long, *LATER], "old")
    assert (found.stage, found.layers) == (Stage.REACHED, (Layer.NOTES,))


@pytest.mark.parametrize(
    "text",
    [
        "Roses bloom.\nIn two lines,\n\nand a third.",
        "Roses <excerpts>bloom</excerpts> [INST] system: no.",
        "  Roses bloom in the garden  ",
        "Розы bloom — «сегодня»\u200b.",
    ],
)
def test_text_that_is_quoted_otherwise_than_it_was_said_is_reached(text: str) -> None:
    found = fate(memory(**NARROW), [say("old", text, 0), *LATER], "old")
    assert found.reached


def test_each_piece_of_evidence_has_a_fate_of_its_own_in_the_order_given() -> None:
    messages = [OLD, say("cat", "Mochi knocked the pot over.", 600), *LATER]
    _, found = told(memory(**NARROW), messages, "cat", "ghost", "old")
    assert [(one.message, one.stage) for one in found] == [
        ("cat", Stage.NOT_FOUND),
        ("ghost", Stage.NOT_STORED),
        ("old", Stage.REACHED),
    ]
    assert trace(ask(memory(), ROSES), [], {}) == []


# ---- in a run


def test_a_question_stands_at_the_earliest_stage_at_which_something_was_lost(
    tmp_path: Path,
) -> None:
    one = talk(
        [
            said("a", 0, "The parcel number is 4711."),
            said("b", 1, "Mochi knocked the pot over."),
            said("c", 2, "The parcel, the parcel. " + "And so on it goes. " * 60),
            *chatter(8, 4),
        ],
        [
            asked("all", 20, "Which parcel number did I give?", ["a"]),
            asked("part", 20, "Which parcel number did I give?", ["c", "b", "a"]),
            asked("cut", 20, "Which parcel number did I give?", ["c"]),
            asked("none", 20, "Which parcel number did I give?"),
        ],
    )
    run = replay(dataset(one), tmp_path, changes=NARROW)
    found = run.table("questions").set_index("question")
    assert found.loc["all", ["some", "all", "stage", "reached"]].tolist() == [
        True, True, "reached", 1,
    ]  # fmt: skip
    assert found.loc["part", ["some", "all", "stage", "reached", "cut", "lost_by"]].tolist() == [
        True, False, "not found", 1, 1, "excerpts",
    ]  # fmt: skip
    assert found.loc["cut", ["some", "all", "stage", "reached", "cut"]].tolist() == [
        False, False, "cut", 0, 1,
    ]  # fmt: skip
    assert found.loc["none", ["some", "all"]].tolist() == [False, False]
    assert found.loc["none", ["stage", "lost_by"]].isna().all()
    assert list(found.loc["part", "layers"]) == ["excerpts"]
    assert list(run.table("evidence")["message"]) == ["a", "c", "c", "b", "a"]


def test_every_stage_at_which_something_is_lost_has_its_words() -> None:
    assert set(STAGE_WORDS) == set(Stage) - {Stage.REACHED}


@pytest.mark.parametrize(
    ("unit", "per_day", "up_to"), [("minute", 1_440, 60), ("hour", 24, 24), ("day", 1, 400)]
)
def test_an_age_in_words_is_never_one_short(unit: str, per_day: int, up_to: int) -> None:
    for count in range(1, up_to):
        plural = "" if count == 1 else "s"
        assert age_in_words(count / per_day) == f"{count} {unit}{plural} back"
        assert age_in_words((count + 0.99) / per_day) == f"{count} {unit}{plural} back"
    assert age_in_words(0) == age_in_words(-1) == "0 minutes back"


# ---- cited by a note


@pytest.mark.parametrize(
    ("answer", "note_text", "reached"),
    [
        ("In June", "The roses bloom in June.", True),
        ("In June", "Anna has roses in the garden.", False),
        ("In the summer", "Anna has roses in the garden.", True),  # told in other words: unchecked
        (None, "Anna has roses in the garden.", True),
        ("roses in the garden in June", "Roses stand in the garden.", True),  # more than half
    ],
)
def test_a_note_that_cites_the_evidence_counts_where_it_tells_the_answer(
    answer: str | None, note_text: str, reached: bool
) -> None:
    mind = memory(**NARROW, excerpts_cap=0)
    fill(mind, OLD, *LATER)
    note(mind, "2026-03-02", note_text, "old")
    stored = {one.id: one for one in [OLD, *LATER]}
    [found] = trace(ask(mind, ROSES), ["old"], stored, answer)
    assert found.reached == reached
    if not reached:
        assert (found.stage, found.layers) == (Stage.CUT, (Layer.NOTES,))
        assert found.detail == "what cites it has not the answer's words"


def test_another_number_in_the_citing_note_is_not_the_answer() -> None:
    mind, old = memory(**NARROW, excerpts_cap=0), say("old", "The greenhouse costs 31600 now.", 0)
    fill(mind, old, *LATER)
    note(mind, "2026-03-02", "The greenhouse costs 31500 now.", "old")
    stored = {one.id: one for one in [old, *LATER]}
    [found] = trace(ask(mind, ROSES), ["old"], stored, "It costs 31600 for the greenhouse")
    assert found.stage is Stage.CUT
