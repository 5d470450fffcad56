"""A turn of a run as it is read back, explained, compared and composed anew."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from eval.differences import items_changed, lines_changed, unchanged
from eval.evidence import Stage
from eval.evidence_path import STEPS, State, path, ways
from eval.explain import search_in_words, verdict
from eval.figures_turn import Budget, budget_figure
from eval.offered import texts
from eval.runs import Run
from eval.timeline import entries, page_around, place_of, what_matters
from eval.turn_list import most_telling, standing, turns_of
from eval.turns import (
    TurnView,
    find_question,
    load_turn,
    memory_at,
    previous_turn,
    recomposed,
    records,
    turn_list,
)
from memcore import Layer, MnemoscopeError, NotFound
from tests.small_run import make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("runs"))


def view(run: Run, question: str) -> TurnView:
    return load_turn(run, *find_question(run, question))


def test_a_turn_read_back_has_the_prompt_that_was_composed(run: Run) -> None:
    for number in turn_list(run, "nina")["turn"]:
        one = load_turn(run, "nina", int(number))
        composed, _ = memory_at(run, "nina", int(number)).compose({})
        assert one.system == composed.system
        assert one.turns == list(composed.messages)
        assert sum(row["received"] for row in records(one.layers)) == one.row["total"]


def test_composed_again_with_nothing_changed_it_is_the_same_turn(run: Run) -> None:
    for number in turn_list(run, "nina")["turn"]:
        one = load_turn(run, "nina", int(number))
        again = recomposed(one, memory_at(run, "nina", one.number), {})
        assert (again.system, again.turns, again.fates) == (one.system, one.turns, one.fates)
        assert again.offered == one.offered
        assert again.row["total"] == one.row["total"]
        assert items_changed(one, again).empty
        assert list(again.layers.columns) == list(one.layers.columns)


def test_more_excerpts_reach_a_lost_answer_at_a_price(run: Run) -> None:
    one = view(run, "q-low")
    assert one.fates[0].stage is Stage.RANKED_LOW
    changes = {"excerpts_limit": 20, "excerpts_cap": 8_000}
    other = recomposed(one, memory_at(run, "nina", one.number), changes)
    assert other.fates[0].reached
    assert other.row["total"] > one.row["total"]
    changed = items_changed(one, other)
    assert "jacket" in set(changed.loc[changed["change"] == "entered", "id"])
    lines = lines_changed(one.system, other.system)
    assert any(line.sign == "+" and "134" in line.text for line in lines)


def test_a_setting_that_is_not_accepted_says_so(run: Run) -> None:
    one = view(run, "q-low")
    with pytest.raises(MnemoscopeError, match="ceiling"):
        recomposed(one, memory_at(run, "nina", one.number), {"ceiling": -1})


@pytest.mark.parametrize(
    ("question", "lost_at"),
    [
        ("q-low", "within the number allowed"),
        ("q-unfound", "found"),
        ("q-short", "searched"),
        ("q-quoted", None),
        ("q-note", None),
        ("q-window", None),
    ],
)
def test_the_path_names_the_one_step_that_lost_the_answer(
    run: Run, question: str, lost_at: str | None
) -> None:
    one = view(run, question)
    steps = path(one, one.fates[0])
    assert tuple(step.name for step in steps) == STEPS
    lost = [step.name for step in steps if step.state is State.LOST]
    assert lost == ([lost_at] if lost_at else [])
    assert (steps[-1].state is State.PASSED) == (lost_at is None)
    if lost_at:
        at = STEPS.index(lost_at)
        assert all(step.state is State.PASSED for step in steps[:at])
        assert all(step.state is State.NOT_REACHED for step in steps[at + 1 :])


def test_an_answer_that_no_search_brought_passes_the_search_by(run: Run) -> None:
    one = view(run, "q-note")
    states = [step.state for step in path(one, one.fates[0])]
    assert states == [State.PASSED, *[State.ASIDE] * 4, State.PASSED]


def test_every_layer_says_why_it_has_not_the_answer(run: Run) -> None:
    one = view(run, "q-low")
    found = {way.layer: way for way in ways(one, one.fates[0])}
    assert not any(way.has for way in found.values())
    assert found[Layer.NOTES].why == "none of the 2 notes in the prompt cites it"
    assert found[Layer.SUMMARY].why == "there is no summary in the prompt"
    assert "begins at" in found[Layer.WINDOW].why
    assert "17th" in found[Layer.EXCERPTS].why


def test_the_layer_that_has_the_answer_is_named(run: Run) -> None:
    one = view(run, "q-note")
    found = {way.layer: way for way in ways(one, one.fates[0])}
    assert [layer for layer, way in found.items() if way.has] == [Layer.NOTES]
    assert found[Layer.NOTES].why == "note 2026-03-05 cites it"


def test_the_verdict_is_in_the_conversations_own_time(run: Run) -> None:
    one = view(run, "q-low")
    words = verdict(one.talk, one.messages, one.row["time"], one.fates)
    assert words.startswith("The answer was given 40 days back (1 Mar 2026). It is NOT")
    assert "ranked 17th, 2 are allowed" in words


def test_what_is_only_cited_by_a_note_is_never_said_to_be_in_the_prompt(run: Run) -> None:
    one = view(run, "q-note")
    words = verdict(one.talk, one.messages, one.row["time"], one.fates)
    assert "It is NOT QUOTED whole in this prompt, but cited by what is there: notes" in words
    assert "judged by its words alone" in words
    quoted = view(run, "q-window")
    words = verdict(quoted.talk, quoted.messages, quoted.row["time"], quoted.fates)
    assert "It IS in this prompt: window" in words


def test_an_ordinary_turn_tells_what_its_search_brought(run: Run) -> None:
    one = load_turn(run, "nina", 5)
    words = search_in_words(one.layer(Layer.EXCERPTS), one.offered)
    assert words.startswith("The search found ")
    first = load_turn(run, "nina", 0)
    assert "found nothing" in search_in_words(first.layer(Layer.EXCERPTS), first.offered)
    short = view(run, "q-short")
    words = search_in_words(short.layer(Layer.EXCERPTS), short.offered)
    assert words.startswith("Nothing was searched: 1 real word,")


def test_the_timeline_holds_nothing_that_was_said_later(run: Run) -> None:
    for number in turn_list(run, "nina")["turn"]:
        one = load_turn(run, "nina", int(number))
        said = entries(one)
        assert len(said) == one.row["messages_before"]
        assert all(entry.message.time <= one.row["time"] for entry in said)
        assert all(entry.message.id != one.row["id"] for entry in said)


def test_the_timeline_marks_what_the_prompt_holds(run: Run) -> None:
    one = view(run, "q-quoted")
    cat = entries(one)[place_of(entries(one), "cat") or 0]
    assert cat.fate is not None
    assert cat.fate.reached
    assert [layer for layer, _ in cat.held] == [Layer.EXCERPTS]
    phone = next(entry for entry in entries(one) if entry.message.id == "phone")
    assert (Layer.NOTES, "2026-03-05") in phone.held


def test_days_are_the_owners(run: Run) -> None:
    one = load_turn(run, "nina", 3)
    assert {entry.local.utcoffset().total_seconds() for entry in entries(one)} == {10_800}  # type: ignore[union-attr]


def test_what_matters_shows_the_evidence_and_the_last_messages(run: Run) -> None:
    one = view(run, "q-low")
    said = entries(one)
    stretches = what_matters(said)
    places = {place for stretch in stretches for place in stretch}
    assert place_of(said, "jacket") in places
    assert {len(said) - 1, len(said) - 4} <= places
    assert len(places) < len(said)
    assert all(a.stop < b.start for a, b in pairwise(stretches))


def test_a_page_opens_at_the_day_of_a_message(run: Run) -> None:
    said = entries(view(run, "q-low"))
    at = place_of(said, "noise2r")
    assert at is not None
    page = page_around(said, at, 10)
    assert said[page.start].message.id == "noise2"
    assert at in page
    assert len(page) == 10


def test_a_page_around_nothing_ends_with_the_newest(run: Run) -> None:
    said = entries(view(run, "q-low"))
    assert page_around(said, None, 10) == range(len(said) - 10, len(said))
    assert page_around(said, 10**6, 10) == range(len(said) - 10, len(said))
    assert page_around([], None) == range(0)
    assert what_matters([]) == []


def test_turns_are_listed_by_how_they_fared(run: Run) -> None:
    listed = turn_list(run, "nina")
    fared = {row["id"]: standing(row) for row in records(listed)}
    assert fared["q-low"] == "lost"
    assert fared["q-part"] == "partly"
    assert fared["q-note"] == "reached"
    assert fared["q-none"] == "unmeasured"
    assert fared["jacket"] == "turn"
    assert len(turns_of(listed, "all")) == len(listed)
    assert len(turns_of(listed, "questions")) == 8
    assert len(turns_of(listed, "lost")) == 4
    assert most_telling(listed) == find_question(run, "q-low")[1]


def test_a_conversation_without_turns_has_none_to_open(run: Run) -> None:
    with pytest.raises(NotFound):
        most_telling(turn_list(run, "nobody"))


def test_the_turn_before_is_the_one_composed_before(run: Run) -> None:
    one = view(run, "q-unfound")
    before = previous_turn(one)
    assert before == one.number - 1
    assert previous_turn(load_turn(run, "nina", 0)) is None


def test_what_is_unchanged_agrees_with_the_account(run: Run) -> None:
    for number in turn_list(run, "nina")["turn"][1:]:
        one = load_turn(run, "nina", int(number))
        before = load_turn(run, "nina", int(number) - 1)
        same = unchanged(before, one)
        if before.system != one.system:
            assert same == one.row["unchanged"]
        else:
            assert same >= len(one.system)


def test_messages_move_from_the_last_exchange_into_the_window(run: Run) -> None:
    before, after = load_turn(run, "nina", 5), load_turn(run, "nina", 6)
    changed = items_changed(before, after)
    moved = changed[changed["change"] == "moved"]
    assert set(moved["layer"]) == {"window"}
    assert set(moved["id"]) == {i.id for i in before.offered if i.layer is Layer.LAST_EXCHANGE}


def test_a_difference_of_texts_counts_what_it_leaves_out() -> None:
    before = "\n".join("abcdefgh")
    after = "\n".join("abcdXfgh")
    found = lines_changed(before, after)
    assert [(line.sign, line.text, line.skipped) for line in found] == [
        (" ", "", 3), (" ", "d", 0), ("-", "e", 0), ("+", "X", 0), (" ", "f", 0), (" ", "", 2),
    ]  # fmt: skip
    assert lines_changed(before, before) == []


def test_every_item_has_its_text(run: Run) -> None:
    for question in ("q-low", "q-note", "q-quoted"):
        one = view(run, question)
        found = texts(one)
        assert {(item.layer, item.id) for item in one.offered} <= set(found)
    assert found[Layer.NOTES, "2026-03-05"] == "Her phone: 555-0142."


def test_the_picture_shows_each_layer_with_its_numbers(run: Run) -> None:
    one = view(run, "q-low")
    budget = Budget("run", one.layers, one.row["ceiling"], one.row["spent"])
    words = " ".join(note["text"] for note in budget_figure([budget])["layout"]["annotations"])
    for layer in (Layer.NOTES, Layer.EXCERPTS):
        assert f"{one.layer(layer)['received']:,} / {one.layer(layer)['cap']:,.0f}" in words
    assert f"{one.row['spent']:,} of 18,000" in words


def test_a_ceiling_that_nothing_reaches_does_not_stretch_the_picture(tmp_path: Path) -> None:
    run = make_run(tmp_path, ceiling=10**9, window_cap=10**9)
    one = load_turn(run, "nina", 19)
    figure = budget_figure([Budget("run", one.layers, one.row["ceiling"], one.row["spent"])])
    assert figure["layout"]["xaxis"]["range"][1] < 50_000
    assert figure["layout"]["xaxis2"]["range"][1] < 50_000


def test_layers_of_two_compositions_stand_side_by_side(run: Run) -> None:
    one = view(run, "q-low")
    budgets = [Budget(name, one.layers, 18_000, 1) for name in ("run", "what if")]
    names = budget_figure(budgets)["layout"]["yaxis2"]["categoryarray"]
    assert tuple(names[:2]) == ("last exchange · run", "last exchange · what if")


def test_an_unknown_turn_is_not_found(run: Run) -> None:
    with pytest.raises(NotFound):
        load_turn(run, "nina", 999)
    with pytest.raises(NotFound):
        memory_at(run, "nina", 999)


def test_tables_of_a_turn_are_only_its_own(run: Run) -> None:
    one = view(run, "q-low")
    assert isinstance(one.items, pd.DataFrame)
    assert set(one.items["turn"]) == {one.number}
