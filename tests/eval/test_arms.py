"""What each arm means, on a small conversation where every figure is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.arms import ARMS, arms_named
from eval.dataset import ConversationRecord, NoteRecord, SummaryRecord
from eval.evidence import Beside, Stage
from eval.evidence_path import path, ways
from eval.explain import source_in_words, verdict
from eval.recall import questions, report
from eval.replay import replay
from eval.runs import Run, records
from eval.text_report import recall_text, turn_text
from eval.turns import find_question, load_turn, memory_at, recomposed
from memcore import Layer, MnemoscopeError
from tests.talks import asked, at, chatter, dataset, said, tables_of, talk

LONG = "The birthday party for grandmother " + "goes on and on with the guests " * 9 + "until ten."
NARROW = {"window_cap": 500}


def told() -> ConversationRecord:
    return talk(
        [
            said("locker", 0, "My locker has the number 4711."),
            said("locker-r", 0.001, "Noted.", "assistant"),
            said("party", 1, LONG),
            said("party-r", 1.001, "What a day.", "assistant"),
            said("aunt", 2, "Aunt Zelda is allergic to walnuts."),
            said("aunt-r", 2.001, "No walnuts then.", "assistant"),
            said("code", 2.5, "The gate opens with tulip."),
            said("code-r", 2.501, "Good.", "assistant"),
            *chatter(20, 3, 0.25),
        ],
        [
            asked("past", 30, "Which number did I tell you my locker has?", ["locker"]),
            asked("plain", 30.1, "Which locker number is mine?", ["locker"]),
            asked("long", 30.2, "When did grandmother have her birthday party?", ["party"]),
            asked("form", 30.3, "Did you hear of Zelda's allergy, to a walnut?", ["aunt"]),
            asked("noted", 30.4, "Which thing ought she not be eating?", ["aunt"]),
            asked("summed", 30.5, "How do they let themselves inside?", ["code"]),
            asked("never", 30.6, "Did I tell you of my boat?", answerable=False),
        ],
        notes=[
            NoteRecord(kind="page", time=at(4), text="Zelda: no walnuts.", sources=["aunt"]),
        ],
        summaries=[
            SummaryRecord(thread="main", time=at(5), text="The gate: tulip.", sources=["code"]),
        ],
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    out = tmp_path_factory.mktemp("arms")
    return {
        arm: replay(dataset(told()), out, arm=arm, name=arm, changes=NARROW) for arm in ARMS
    }  # fmt: skip


def reached_by(run: Run) -> dict[str, list[str]]:
    return {row["question"]: list(row["layers"]) for row in records(questions(run)) if row["some"]}


EXPECTED: dict[str, dict[str, list[str]]] = {
    "first-search": {
        "past": ["excerpts"], "plain": ["excerpts"], "long": ["excerpts"],
        "form": ["excerpts", "notes"], "noted": ["notes"], "summed": ["summary"],
    },
    "tool-only": {
        "past": ["tools"], "long": ["tools"], "form": ["notes", "tools"], "noted": ["notes"],
        "summed": ["summary"],
    },
    "tool-always": {
        "past": ["tools"], "plain": ["tools"], "long": ["tools"], "form": ["notes", "tools"],
        "noted": ["notes"], "summed": ["summary"],
    },
    "no-search": {"form": ["notes"], "noted": ["notes"], "summed": ["summary"]},
    "no-summary": {
        "past": ["excerpts"], "plain": ["excerpts"], "long": ["excerpts"],
        "form": ["excerpts", "notes"], "noted": ["notes"],
    },
    "no-notes": {
        "past": ["excerpts"], "plain": ["excerpts"], "long": ["excerpts"],
        "form": ["excerpts"], "summed": ["summary"],
    },
    "no-window": {
        "past": ["excerpts"], "plain": ["excerpts"], "long": ["excerpts"],
        "form": ["excerpts", "notes"], "noted": ["notes"], "summed": ["summary"],
    },
    "grep": {
        "past": ["grep"], "plain": ["grep"], "long": ["grep"], "form": ["grep", "notes"],
        "noted": ["notes"], "summed": ["summary"],
    },
    "full-context": {
        name: ["window"] for name in ("past", "plain", "long", "form", "noted", "summed")
    },
}  # fmt: skip


@pytest.mark.parametrize("arm", list(ARMS))
def test_each_arm_reaches_what_its_layers_can(runs: dict[str, Run], arm: str) -> None:
    assert reached_by(runs[arm]) == EXPECTED[arm]


def test_the_last_exchange_stays_where_the_window_is_off(runs: dict[str, Run]) -> None:
    view = load_turn(runs["no-window"], *find_question(runs["no-window"], "past"))
    assert {layer for layer, _ in view.history} == {Layer.LAST_EXCHANGE}
    assert view.layer(Layer.WINDOW)["status"] == "skipped"


def test_without_a_brain_the_tool_is_called_by_the_stated_policy_in_every_turn(
    runs: dict[str, Run],
) -> None:
    only, always = runs["tool-only"], runs["tool-always"]
    called = only.query(
        "SELECT q.question, c.name, c.arguments, c.error FROM {calls} AS c "
        "JOIN {questions} AS q USING (conversation, turn) ORDER BY turn"
    )
    assert called["question"].tolist() == ["past", "long", "form", "never"]
    assert set(called["name"]) == {"search_messages"}
    assert json.loads(called["arguments"][0]) == {
        "query": "Which number did I tell you my locker has?"
    }
    assert not called["error"].any()
    turns = only.query("SELECT count(*) AS n FROM {turns}")["n"].iloc[0]
    assert len(always.table("calls")) == turns
    assert runs["first-search"].table("calls").empty


def test_a_result_counts_as_evidence_only_where_it_has_the_whole_message(
    runs: dict[str, Run], tmp_path: Path
) -> None:
    longer = LONG + " and so on" * 40
    asking = asked("longer", 20, "How long did the birthday party go on?", ["party"])
    talks = talk([said("party", 1, longer), *chatter(20, 3, 0.3)], [asking])
    run = replay(dataset(talks), tmp_path, arm="tool-always", changes=NARROW, name="longer")
    view = load_turn(run, *find_question(run, "longer"))
    (fate,) = view.fates
    assert "birthday party" in view.calls["result"].iloc[0]
    assert longer not in view.calls["result"].iloc[0]
    assert (fate.stage, fate.layers) == (Stage.CUT, (Beside.TOOLS,))
    assert fate.detail == "the tool returned only a part of it"
    plain = load_turn(runs["tool-only"], *find_question(runs["tool-only"], "plain"))
    assert plain.fates[0].stage is Stage.NOT_SEARCHED
    assert plain.fates[0].detail == "the search tool was not called"
    lost = load_turn(runs["tool-always"], *find_question(runs["tool-always"], "never"))
    assert lost.fates == ()


def test_what_the_tool_returned_counts_into_the_characters(runs: dict[str, Run]) -> None:
    for arm in ("tool-only", "tool-always"):
        run = runs[arm]
        results = run.query(
            "SELECT turn, sum(length(result)) AS size FROM {calls} GROUP BY turn"
        ).set_index("turn")["size"]
        for row in records(run.query("SELECT * FROM {turns} JOIN {questions} USING (turn)")):
            assert row["tool_characters"] == results.get(row["turn"], 0)
            assert row["characters"] == row["total"] + row["tool_characters"]
        turns = run.table("turns")
        mean = (turns["total"] + turns["tool_characters"]).mean()
        assert run.manifest["results"]["characters_per_turn"] == round(float(mean), 1)
        measured = report(run)
        assert measured["tool_characters_per_question"] > 0
        assert "what the search tool returned" in recall_text(measured)


def test_grep_finds_inside_a_word_and_misses_another_form(tmp_path: Path) -> None:
    made = talk(
        [
            said("inside", 0, "The storeroom on Elm Street."),
            said("form", 1, "She bought three geese."),
            said("both", 2, "A store and a street."),
            *chatter(12, 3),
        ],
        [
            asked("inside", 30, "store street?", ["inside"]),
            asked("form", 30.1, "Any goose?", ["form"]),
        ],
    )
    run = replay(dataset(made), tmp_path, arm="grep", name="grep", changes=NARROW)
    assert reached_by(run) == {"inside": ["grep"]}
    view = load_turn(run, *find_question(run, "inside"))
    quoted = [item.id for item in view.offered if item.layer is Layer.EXCERPTS]
    assert quoted == ["both", "inside"], "most words, then newest"
    assert "The storeroom on Elm Street." in view.system
    missed = load_turn(run, *find_question(run, "form"))
    assert missed.fates[0].layers == (Beside.GREP,)
    assert missed.fates[0].stage is Stage.NOT_FOUND
    assert missed.text(Layer.EXCERPTS) == ""


def test_grep_stays_within_the_excerpts_budget_and_in_the_account(tmp_path: Path) -> None:
    lines = [said(f"k{n:02}", n * 0.01, f"Kettle number {n}. " + "x" * 150) for n in range(20)]
    made = talk([*lines, *chatter(12, 3)], [asked("q", 30, "Which kettle?", ["k00"])])
    few = replay(dataset(made), tmp_path, arm="grep", name="few", changes=NARROW)
    view = load_turn(few, *find_question(few, "q"))
    kept = [item.id for item in view.offered if item.kept and item.layer is Layer.EXCERPTS]
    assert kept == ["k19", "k18", "k17", "k16"]
    row = view.layer(Layer.EXCERPTS)
    assert row["received"] == len(view.text(Layer.EXCERPTS)) <= 2_000
    assert view.row["total"] == sum(len(view.text(layer)) for layer in Layer)
    assert view.fates[0].stage is Stage.RANKED_LOW
    small = replay(dataset(made), tmp_path, arm="grep", name="small",
                   changes={**NARROW, "excerpts_cap": 400})  # fmt: skip
    view = load_turn(small, *find_question(small, "q"))
    assert view.layer(Layer.EXCERPTS)["received"] <= 400
    assert view.layer(Layer.EXCERPTS)["kept"] == 1
    assert view.fates[0].stage is Stage.OVER_BUDGET


@pytest.mark.parametrize("arm", list(ARMS))
def test_a_turn_is_composed_again_as_its_arm_took_it(runs: dict[str, Run], arm: str) -> None:
    for name in ("past", "long", "form"):
        view = load_turn(runs[arm], *find_question(runs[arm], name))
        at_turn = memory_at(runs[arm], "talk", view.number)
        again = recomposed(view, at_turn, {})
        assert again.fates == view.fates
        assert again.system == view.system
        assert again.calls["result"].tolist() == view.calls["result"].tolist()
        assert again.row["total"] == view.row["total"]


@pytest.mark.parametrize("arm", list(ARMS))
def test_every_turn_can_be_told_in_words(runs: dict[str, Run], arm: str) -> None:
    run = runs[arm]
    for name in ("past", "plain", "long", "never"):
        view = load_turn(run, *find_question(run, name))
        text = turn_text(view)
        assert ("== Tool call: search_messages" in text) == (len(view.calls) > 0)
        assert verdict(view.talk, view.messages, view.row["time"], view.fates)
        for fate in view.fates:
            assert any(way.has for way in ways(view, fate)) == fate.reached
            assert len(path(view, fate)) == 6
    assert recall_text(report(run))


def test_two_replays_of_an_arm_have_the_same_bytes(runs: dict[str, Run], tmp_path: Path) -> None:
    for arm in ("tool-always", "grep"):
        again = replay(dataset(told()), tmp_path, arm=arm, name=arm, changes=NARROW)
        assert tables_of(again.folder) == tables_of(runs[arm].folder)


def test_a_question_leaves_no_trace_in_what_the_tool_finds(tmp_path: Path) -> None:
    def found(*more: Any) -> list[str]:
        made = talk(told().threads[0].messages, [*more, asked("q", 40, "Did I name a locker?")])
        run = replay(dataset(made), tmp_path, arm="tool-always", name=f"run{len(more)}")
        return list(load_turn(run, *find_question(run, "q")).calls["result"])

    assert found() == found(asked("before", 39, "Did I name a locker, the locker?"))


def test_arms_are_named_with_commas_and_all_are_meant_by_none() -> None:
    assert arms_named("grep, first-search,grep") == ["grep", "first-search"]
    assert arms_named("") == list(ARMS)
    with pytest.raises(MnemoscopeError, match="there is no arm 'magic'; there are first-search,"):
        arms_named("grep,magic")


def test_a_way_that_nobody_knows_is_shown_by_its_own_name() -> None:
    assert source_in_words("tools") == "search tool"
    assert source_in_words("window") == "window"
    assert source_in_words("telepathy") == "telepathy"
