"""A replay: its clock and order, what each turn may see, the arms, what holds for every turn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import time_machine

from eval.dataset import (
    ConversationRecord,
    Dataset,
    NoteRecord,
    SummaryRecord,
    ThreadRecord,
    from_line,
)
from eval.errors import RunError
from eval.happenings import happenings
from eval.loaders import load
from eval.offered import texts
from eval.replay import Progress, replay
from eval.runs import Run, list_runs, records
from eval.turns import find_question, load_turn, memory_at
from memcore import Layer, Message, MnemoscopeError
from memcore.errors import InvalidSettings
from tests.small_run import dataset as small_dataset
from tests.talks import asked, at, chatter, dataset, manifest_of, said, tables_of, talk

NARROW = {"window_cap": 400}
"""Settings under which old messages leave the window at once."""


def run_of(out: Path, *talks: ConversationRecord, **more: Any) -> Run:
    return replay(dataset(*talks), out, **more)


def prompt(run: Run, question: str) -> str:
    """All that a question's turn sends: system prompt and history."""
    view = load_turn(run, *find_question(run, question))
    return view.system + "\n".join(turn.content for turn in view.turns)


def layer_text(run: Run, question: str, layer: Layer) -> str:
    return load_turn(run, *find_question(run, question)).text(layer)


def ages(run: Run) -> dict[str, float]:
    table = run.table("questions")
    return dict(zip(table["question"], table["age_days"], strict=True))


# ---- order and the clock


def test_at_one_moment_messages_come_before_notes_summaries_and_questions() -> None:
    one = talk(
        [said("b", 1, "Second."), said("a", 1, "First.", "assistant"), said("z", 0, "Before.")],
        [asked("q", 1, "Which?"), asked("early", 0.5, "Which?")],
        notes=[NoteRecord(kind="page", time=at(1), text="Note.")],
        summaries=[SummaryRecord(thread="main", time=at(1), text="Sum.")],
    )
    found = [getattr(one, "id", type(one).__name__) for one in happenings(one)]
    assert found == ["z", "early", "a", "b", "NoteRecord", "SummaryRecord", "q"]


def test_a_question_sees_what_is_said_noted_and_summed_up_at_its_very_moment(
    tmp_path: Path,
) -> None:
    run = run_of(
        tmp_path,
        talk(
            [said("m", 1, "The parcel is yellow.")],
            [asked("q", 1, "Which colour has the parcel?")],
            notes=[NoteRecord(kind="page", time=at(1), text="She likes tulips.")],
            summaries=[SummaryRecord(thread="main", time=at(1), text="They spoke of kites.")],
        ),
    )
    found = prompt(run, "q")
    assert "The parcel is yellow." in found
    assert "She likes tulips." in found
    assert "They spoke of kites." in found


def later_talk() -> ConversationRecord:
    """All that can be dated, once long before a question and once a second after it."""
    first, late = at(1), at(20, seconds=1)
    return talk(
        [
            said("m1", first, "The green parcel weighs nine kilos."),
            said("r1", 1.01, "Noted.", "assistant"),
            *chatter(6, 2),
            said("m2", late, "The violet parcel weighs two kilos."),
            said("r2", at(20, seconds=2), "Noted, violet.", "assistant"),
        ],
        [asked("q", 20, "How many kilos weighs the parcel?", ["m1"])],
        notes=[
            NoteRecord(kind="page", time=first, text="Page: amber."),
            NoteRecord(kind="dated", time=first, text="Dated: amber."),
            NoteRecord(kind="page", time=late, text="Page: violet."),
            NoteRecord(kind="dated", time=late, text="Dated: violet."),
        ],
        summaries=[
            SummaryRecord(thread="main", time=first, text="Summary: amber."),
            SummaryRecord(thread="main", time=late, text="Summary: violet."),
        ],
    )


@pytest.mark.parametrize("arm", ["first-search", "no-search", "full-context"])
def test_what_is_dated_after_a_question_is_invisible_to_it(tmp_path: Path, arm: str) -> None:
    run = run_of(tmp_path, later_talk(), arm=arm)
    view = load_turn(run, *find_question(run, "q"))
    found = prompt(run, "q")
    assert "nine kilos" in found
    assert "violet" not in found
    offered = {id for item in view.offered for id in (item.id, *item.covers)}
    assert not offered & {"m2", "r2", "2026-03-21"}
    if arm != "full-context":
        assert "Page: amber." in found
        assert "Dated: amber." in found
        assert "Summary: amber." in found
        assert not any("violet" in text for text in texts(view).values())


def test_a_question_leaves_no_trace_in_the_turns_after_it(tmp_path: Path) -> None:
    base = [
        said("m1", 0, "My parcel number is 4711."),
        said("r1", 0.1, "Noted.", "assistant"),
        *chatter(4, 1),
        said("m2", 9, "Was there something about a zeppelin in the parcel?"),
    ]
    questions = [
        asked("q1", 8, "Is there a zeppelin in parcel 4711?", ["m1"]),
        asked("q2", 8.5, "How high did the zeppelin fly?"),
    ]
    one = run_of(tmp_path, talk(base), name="without", changes=NARROW)
    two = run_of(tmp_path, talk(base, questions), name="with", changes=NARROW)

    def seen(run: Run, table: str) -> list[dict[str, Any]]:
        found = run.query(
            f"SELECT t.id AS said, x.* EXCLUDE (turn) FROM {{turns}} AS t "
            f"JOIN {{{table}}} AS x USING (conversation, turn) WHERE NOT t.is_question "
            "ORDER BY t.turn"
        )
        # how much of the prompt is new is counted from the turn before, which may be a question
        rows = records(found.drop(columns="unchanged", errors="ignore").astype(str))
        return sorted(rows, key=str)

    for table in ("turns", "layers", "items"):
        assert seen(one, table) == seen(two, table)
    assert "zeppelin" not in layer_text(two, "q2", Layer.WINDOW)


def test_a_question_may_have_the_id_of_a_message(tmp_path: Path) -> None:
    messages = [
        said("1", 0, "My parcel number is 4711."),
        said("2", 0.1, "Noted.", "assistant"),
        *chatter(6, 1),
        said("3", 15, "The parcel has come."),
        said("4", 15.1, "Good.", "assistant"),
    ]
    runs = [
        run_of(
            tmp_path,
            talk(messages, [asked(id, 20, "Which parcel number did I give?", ["1"])]),
            name=f"asked-{id}",
            changes=NARROW,
        )
        for id in ("other", "1", "3")
    ]
    prompts = [prompt(run, run.name.removeprefix("asked-")) for run in runs]
    assert "4711" in prompts[0]
    assert "The parcel has come." in prompts[0]
    assert prompts == [prompts[0]] * 3
    for run, id in zip(runs, ("other", "1", "3"), strict=True):
        view = load_turn(run, *find_question(run, id))
        assert (view.row["id"], view.row["messages_before"]) == (id, 10)
        composed, fates = memory_at(run, "talk", view.number).compose({})
        assert composed.system == view.system
        assert fates == list(view.fates)


def test_messages_and_questions_are_turns_with_what_was_there_before_them(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        talk(
            [
                said("m1", 0, "Good morning."),
                said("r1", 0.1, "Good morning.", "assistant"),
                said("t1", 0.2, "till: open", "tool"),
                said("m2", 1, "The parcel came."),
            ],
            [asked("q", 0.5, "What is open?")],
        ),
    )
    found = run.table("turns")
    assert list(found["id"]) == ["m1", "q", "m2"]
    assert list(found["is_question"]) == [False, True, False]
    assert list(found["messages_before"]) == [0, 3, 3]
    assert list(found["time"]) == [at(0), at(0.5), at(1)]


# ---- ages, days and time zones


def test_the_age_of_an_answer_runs_from_its_newest_evidence_in_days(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        talk(
            [said("a", 0, "The parcel is red."), said("b", 3, "The parcel is blue.")],
            [
                asked("old", 12, "Which?", ["a"]),
                asked("newest", 12, "Which?", ["a", "b"]),
                asked("hour", at(3, seconds=3_600), "Which?", ["b"]),
                asked("none", 12, "Which?", answerable=False),
            ],
        ),
    )
    found = ages(run)
    assert found["old"] == 12
    assert found["newest"] == 9
    assert found["hour"] == 1 / 24
    assert pd.isna(found["none"])


NEAR_MIDNIGHT = datetime(2026, 3, 1, 21, 30, tzinfo=UTC)
"""Half past midnight of the second of March in Moscow, half past four of the first in New York."""


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Europe/Moscow", "2026-03-02"), ("UTC", "2026-03-01"), ("America/New_York", "2026-03-01")],
)
def test_the_conversations_time_zone_decides_the_day_of_a_note_and_of_an_excerpt(
    tmp_path: Path, zone: str, day: str
) -> None:
    run = run_of(
        tmp_path,
        talk(
            [said("m", NEAR_MIDNIGHT, "The parcel number is 4711."), *chatter(6, 2)],
            [asked("q", 20, "Which parcel number was it?", ["m"])],
            notes=[NoteRecord(kind="dated", time=NEAR_MIDNIGHT, text="She cannot sleep.")],
            timezone=zone,
        ),
        changes=NARROW,
    )
    assert f"- {day}\n  She cannot sleep." in layer_text(run, "q", Layer.NOTES)
    assert f"- {day}\n  Ann: The parcel number is 4711." in layer_text(run, "q", Layer.EXCERPTS)


def test_notes_of_one_local_day_are_joined_and_of_two_are_not(tmp_path: Path) -> None:
    times = [NEAR_MIDNIGHT - timedelta(hours=1), NEAR_MIDNIGHT, NEAR_MIDNIGHT + timedelta(hours=1)]
    run = run_of(
        tmp_path,
        talk(
            [said("m", at(2), "Good morning.")],
            [asked("q", 3, "What is noted of me?")],
            notes=[
                NoteRecord(kind="dated", time=time, text=f"Note {n}.")
                for n, time in enumerate(times)
            ],
            timezone="Europe/Moscow",
        ),
    )
    notes = layer_text(run, "q", Layer.NOTES)
    assert "- 2026-03-02\n  Note 1.\n  Note 2.\n- 2026-03-01\n  Note 0." in notes


@pytest.mark.parametrize(("zone", "first"), [("Europe/Moscow", "near"), ("UTC", "far")])
def test_yesterday_near_midnight_is_the_owners_yesterday(
    tmp_path: Path, zone: str, first: str
) -> None:
    asked_at = datetime(2026, 3, 10, 21, 30, tzinfo=UTC)  # in Moscow it is the 11th already
    said_then = {
        "far": asked_at - timedelta(days=1, hours=9),
        "near": asked_at - timedelta(hours=9),
    }
    messages = [said(id, time, "Купила синюю лампу.") for id, time in said_then.items()]
    run = run_of(
        tmp_path,
        talk(messages, [asked("q", asked_at, "Что я вчера купила, лампу?")], timezone=zone),
        changes={"window_cap": 0, "neighbour_weight": 0, "session_gap_minutes": 1},
    )
    ranked = run.query("SELECT message FROM {scores} ORDER BY rank")
    assert ranked["message"].iloc[0] == first


def test_a_time_zone_that_is_set_holds_for_every_conversation(tmp_path: Path) -> None:
    one = talk(
        [said("m", at(2), "Good morning.")],
        [asked("q", 3, "What is noted of me?")],
        notes=[NoteRecord(kind="dated", time=NEAR_MIDNIGHT, text="Awake.")],
        timezone="Europe/Moscow",
    )
    run = run_of(tmp_path, one, changes={"timezone": "UTC"})
    assert "- 2026-03-01\n  Awake." in layer_text(run, "q", Layer.NOTES)


# ---- what the gate refuses


def refusing_talk(id: str = "talk") -> ConversationRecord:
    return talk(
        [said("m1", 0, "Good morning."), said("m2", 5, "How are you today, dear shop?")],
        [asked("q", 6, "What is noted of me?")],
        id=id,
        notes=[
            NoteRecord(kind="dated", time=at(1), text="First of the day. " + "a" * 1_500),
            NoteRecord(kind="dated", time=at(1.1), text="Second of the day. " + "b" * 600),
            NoteRecord(kind="page", time=at(1.2), text="A decent page."),
            NoteRecord(kind="page", time=at(2), text="Key sk-abcdefghij0123456789ABCDEF."),
            NoteRecord(kind="dated", time=at(3), text="Still taken."),
        ],
        summaries=[SummaryRecord(thread="main", time=at(3), text="s" * 2_000)],
    )


def test_refused_notes_are_listed_and_the_replay_goes_on(tmp_path: Path) -> None:
    run = run_of(tmp_path, refusing_talk(), name="refusing")
    refused = manifest_of(run.folder)["refused"]
    assert len(refused) == 3
    assert all(one.startswith("talk, 2026-03-0") for one in refused)
    assert "the note has 2138 characters and an item holds at most 2000" in refused[0]
    assert "a secret (OpenAI key)" in refused[1]
    assert "2000 characters" in refused[2]
    notes = layer_text(run, "q", Layer.NOTES)
    assert "First of the day." in notes
    assert "A decent page." in notes
    assert "Still taken." in notes
    assert "Second of the day." not in notes
    assert layer_text(run, "q", Layer.SUMMARY) == ""
    assert "sk-abcdef" not in prompt(run, "q") + "".join(refused)


# ---- nothing but data and settings


def test_shifting_the_machines_clock_by_two_years_changes_no_byte(tmp_path: Path) -> None:
    runs = []
    for year in (2024, 2026, 2028):
        with time_machine.travel(datetime(year, 5, 17, 23, 59, 30, tzinfo=UTC)):
            runs.append(replay(small_dataset(), tmp_path, name=f"in-{year}"))
    first, *others = [tables_of(run.folder) for run in runs]
    assert len(first) == 10
    assert others == [first, first]
    results = [manifest_of(run.folder)["results"] for run in runs]
    assert results == [results[0]] * 3
    assert manifest_of(runs[0].folder)["started"].startswith("2024-05-17")


def test_two_replays_of_one_input_give_the_same_bytes(tmp_path: Path) -> None:
    made = dataset(refusing_talk("a"), later_talk())
    one, two = (replay(made, tmp_path / name, name="same") for name in "xy")
    assert tables_of(one.folder) == tables_of(two.folder)


def test_a_conversation_is_replayed_alike_alone_and_among_others(tmp_path: Path) -> None:
    alone = run_of(tmp_path, later_talk(), name="alone")
    among = run_of(
        tmp_path,
        refusing_talk("first"),
        later_talk(),
        later_talk().model_copy(update={"id": "last"}),
        name="among",
    )
    for table in ("turns", "layers", "items", "questions", "evidence", "scores"):
        other = among.table(table, "talk")
        assert alone.table(table).astype(str).equals(other.astype(str)), table


def test_a_run_keeps_the_conversation_that_was_replayed(tmp_path: Path) -> None:
    run = run_of(tmp_path, later_talk())
    (record,) = run.table("conversations")["record"]
    assert from_line(record) == later_talk()


def test_no_layer_is_given_up_for_being_slow_unless_a_limit_is_asked_for(tmp_path: Path) -> None:
    plain = replay(dataset(later_talk()), tmp_path)
    assert plain.manifest["settings"]["layer_seconds"] is None
    limited = replay(dataset(later_talk()), tmp_path, changes={"layer_seconds": "5"})
    assert limited.manifest["settings"]["layer_seconds"] == 5


def test_the_manifest_says_what_was_replayed_and_how(tmp_path: Path) -> None:
    made = dataset(later_talk())
    begun = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    run = replay(made, tmp_path, changes={"excerpts_limit": "2"}, now=lambda: begun)
    manifest = manifest_of(run.folder)
    assert manifest["dataset"]["sha256"] == made.sha256
    assert manifest["counts"] == {"conversations": 1, "messages": 10, "questions": 1}
    assert manifest["settings"]["excerpts_limit"] == 2
    assert manifest["settings"]["ceiling"] == 18_000
    assert manifest["changed_settings"] == {"excerpts_limit": "2"}
    assert manifest["started"] == manifest["finished"] == begun.isoformat()
    assert manifest["status"] == "complete"
    assert run.folder.name == "made-first-search-20261130-120000-000000"
    assert not (run.folder / "parts").exists()


def test_progress_rises_to_all_turns(tmp_path: Path) -> None:
    seen: list[Progress] = []
    replay(dataset(later_talk(), refusing_talk("b")), tmp_path, on_progress=seen.append)
    assert [one.share for one in seen] == sorted(one.share for one in seen)
    assert seen[-1].share == 1
    assert seen[-1].turns == seen[-1].of_turns == 9


def test_a_conversation_in_which_nobody_speaks_is_no_fault(tmp_path: Path) -> None:
    quiet = talk([said("r", 0, "Hello?", "assistant")], id="quiet")
    run = run_of(tmp_path, quiet, talk(id="empty"))
    assert run.table("turns").empty
    assert run.manifest["results"]["old_answers_some"]["count"] == 0


@pytest.mark.parametrize(
    ("given", "said_why"),
    [
        ({"arm": "no-such"}, "there is no arm 'no-such'; there are first-search"),
        ({"changes": {"excerpts": 1}}, "unknown setting excerpts; known: "),
        ({"changes": {"ceiling": "many"}}, "ceiling"),
        ({"name": "a/b"}, "'a/b' is no name for a run"),
        ({"name": ".."}, "'..' is no name for a run"),
        ({"name": "."}, "'.' is no name for a run"),
        ({"name": "n" * 300}, "cannot be written"),
    ],
)
def test_what_cannot_be_replayed_is_refused_and_nothing_is_written(
    tmp_path: Path, given: dict[str, Any], said_why: str
) -> None:
    out = tmp_path / "runs"
    with pytest.raises(MnemoscopeError, match=said_why):
        replay(dataset(later_talk()), out, **given)
    assert list_runs(out) == []
    assert not list(out.glob("*"))


def test_an_environment_that_is_not_accepted_is_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_CEILING", "many")
    with pytest.raises(InvalidSettings, match="ceiling"):
        replay(dataset(later_talk()), tmp_path)


def test_a_folder_that_is_no_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine" / "parts" / "000000").mkdir(parents=True)
    with pytest.raises(RunError, match="is there already and is no run"):
        replay(dataset(later_talk()), tmp_path, name="mine")
    assert not (tmp_path / "mine" / "manifest.json").exists()


# ---- the arms


def threaded_talk() -> ConversationRecord:
    """Two threads whose messages alternate in time, and a question in a third, empty one."""
    return ConversationRecord(
        id="threads",
        persona="You are a shop's assistant.",
        threads=[
            ThreadRecord(
                id="one",
                messages=[
                    said("a1", 0, "My parcel number is 4711."),
                    said("a2", 2, "Noted, 4711.", "assistant"),
                    said("a3", 4, "And the lamp is blue."),
                ],
            ),
            ThreadRecord(
                id="two",
                messages=[
                    said("b1", 1, "The kettle whistles."),
                    said("b2", 3, "It does.", "assistant"),
                    said("b3", 5, "The bell rings."),
                ],
            ),
            ThreadRecord(id="asked", messages=[]),
        ],
        notes=[NoteRecord(kind="page", time=at(1), text="A page nobody needs.")],
        summaries=[SummaryRecord(thread="one", time=at(1), text="A summary nobody needs.")],
        questions=[
            asked("early", 2.5, "Which parcel number was it?", ["a1"]),
            asked("q", 20, "Which parcel number was it?", ["a1"], thread="asked"),
        ],
    )


def test_full_context_sends_all_threads_as_one_history_and_nothing_else(tmp_path: Path) -> None:
    run = run_of(tmp_path, threaded_talk(), arm="full-context")
    history = {
        id: [message.id for _, message in load_turn(run, *find_question(run, id)).history]
        for id in ("early", "q")
    }
    assert history == {"early": ["a1", "b1", "a2"], "q": ["a1", "b1", "a2", "b2", "a3", "b3"]}
    view = load_turn(run, *find_question(run, "q"))
    assert view.system == "You are a shop's assistant."
    assert all(fate.reached for fate in view.fates)
    assert view.row["thread"] == "asked"


def test_full_context_replays_the_questions_alone(tmp_path: Path) -> None:
    run = run_of(tmp_path, threaded_talk(), arm="full-context")
    assert list(run.table("turns")["id"]) == ["early", "q"]
    assert run.table("turns")["is_question"].all()
    other = run_of(tmp_path, threaded_talk(), arm="first-search")
    assert list(other.table("turns")["id"]) == ["a1", "b1", "early", "a3", "b3", "q"]


def test_full_context_is_bounded_by_nothing(tmp_path: Path) -> None:
    messages = [
        said(f"m{n}", n / 10, f"{n} " + "x" * 1_900, ("user", "assistant")[n % 2])
        for n in range(40)
    ]
    one = talk(messages, [asked("q", 30, "Which was the first of them?", ["m0"])])
    full = run_of(tmp_path, one, arm="full-context")
    assert full.table("questions")["all"].tolist() == [True]
    assert full.table("turns")["total"].iloc[0] > 18_000 * 4
    assert run_of(tmp_path, one).table("questions")["all"].tolist() == [False]


def test_no_search_offers_no_excerpt_and_is_otherwise_the_same(tmp_path: Path) -> None:
    one = threaded_talk()
    without = run_of(tmp_path, one, arm="no-search")
    search = without.query("SELECT * FROM {layers} WHERE layer = 'excerpts'")
    assert set(search["status"]) == {"skipped"}
    assert set(search["received"]) == {0}
    assert without.table("scores").empty
    found = {
        run.name: dict(zip(run.table("questions")["question"], run.table("questions")["stage"],
                           strict=True))
        for run in (without, run_of(tmp_path, one, name="searched"))
    }  # fmt: skip
    assert found["searched"]["q"] == "reached"
    assert found[without.name]["q"] == "not searched"
    same = "SELECT * FROM {layers} WHERE layer <> 'excerpts' ORDER BY ALL"
    other = run_of(tmp_path, one, name="again")
    assert without.query(same).astype(str).equals(other.query(same).astype(str))


def test_the_arms_settings_come_on_top_of_what_is_asked(tmp_path: Path) -> None:
    run = run_of(tmp_path, threaded_talk(), arm="no-search", changes={"excerpts_cap": "900"})
    assert run.manifest["settings"]["excerpts_cap"] == 0
    assert run.manifest["changed_settings"] == {"excerpts_cap": "900"}


# ---- what holds for every turn


def last_exchange(one: ConversationRecord, row: dict[str, Any]) -> list[Message]:
    """What was said in the thread since its newest user message, before the turn."""
    own = None if row["is_question"] else row["id"]
    exchange: list[Message] = []
    for message in one.messages():
        if message.id == own or message.time > row["time"]:
            break
        if message.thread == row["thread"] and message.role != "tool":
            exchange = [message] if message.role == "user" else [*exchange, message]
    return exchange if exchange and exchange[0].role == "user" else []


def check_every_turn(run: Run) -> int:
    """The account of every turn against the texts themselves; returns how many there are."""
    talks = {
        row["conversation"]: from_line(row["record"]) for row in records(run.table("conversations"))
    }
    time_of = {
        (id, message.id): message.time for id, one in talks.items() for message in one.messages()
    }
    layers: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in records(run.table("layers")):
        layers.setdefault((row["conversation"], row["turn"]), []).append(row)
    turns = records(run.table("turns"))
    for row in turns:
        part = layers[row["conversation"], row["turn"]]
        texts = {one["layer"]: one["text"] for one in part}
        received = {one["layer"]: one["received"] for one in part}
        one = talks[row["conversation"]]
        assert list(received) == list(Layer)
        assert sum(received.values()) == row["total"]
        assert {layer: len(text) for layer, text in texts.items()} == received
        assert texts["persona"] == one.persona
        assert row["spent"] == row["total"] - received["persona"]
        assert row["spent"] <= max(row["ceiling"], received["last_exchange"])
        exchange = last_exchange(one, row)
        joined = texts["last_exchange"]
        assert all(message.text in joined for message in exchange), (row["conversation"], row["id"])
        assert received["last_exchange"] >= sum(len(message.text) for message in exchange)
        assert (joined == "") == (not exchange)
    items = run.query(
        "SELECT conversation, i.turn, t.time, unnest(i.covers) AS message "
        "FROM {items} AS i JOIN {turns} AS t USING (conversation, turn)"
    )
    seen = zip(items["conversation"], items["message"], items["time"], strict=True)
    assert all(time_of[talk, message] <= time for talk, message, time in seen)
    return len(turns)


@pytest.fixture(scope="module")
def two_of_the_bundled() -> Dataset:
    return load("shop", limit=2)


@pytest.mark.parametrize(
    ("arm", "changes"),
    [
        ("first-search", {}),
        ("full-context", {}),
        ("first-search", {"ceiling": 1_500, "window_cap": 900}),
    ],
    ids=["first-search", "full-context", "tight"],
)
def test_the_account_of_every_bundled_turn_adds_up(
    tmp_path: Path, two_of_the_bundled: Dataset, arm: str, changes: dict[str, Any]
) -> None:
    run = replay(two_of_the_bundled, tmp_path, arm=arm, changes=changes)
    assert check_every_turn(run) == run.manifest["results"]["turns"]
    assert run.manifest["results"]["failed_layers"] == 0


@pytest.mark.parametrize("file", ["locomo/locomo_dev.json", "longmemeval_s/000014.json"])
def test_the_account_of_every_turn_of_real_data_adds_up(
    tmp_path: Path, shared_data: Path, file: str
) -> None:
    if not (shared_data / file).exists():
        pytest.skip(f"{file} is not among the real data")
    run = replay(load(shared_data / file, limit=1), tmp_path)
    assert check_every_turn(run) > 200
