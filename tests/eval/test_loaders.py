"""Loaders: small files of each format with each defect, and the real files where they are."""

from __future__ import annotations

import copy
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from eval import loaders
from eval.dataset import Dataset, MessageRecord, QuestionRecord, to_line
from eval.errors import DatasetError, Fault
from eval.loaders import FORMATS, load
from memcore import InvalidInput


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def faults(source: Path | str, format: str = "auto") -> tuple[Fault, ...]:
    with pytest.raises(DatasetError) as caught:
        load(source, format)
    str(caught.value).encode("utf-8")
    return caught.value.faults


def fields(source: Path, format: str) -> set[str]:
    return {fault.field for fault in faults(source, format)}


def messages(dataset: Dataset) -> list[MessageRecord]:
    return [
        one for talk in dataset.conversations for thread in talk.threads for one in thread.messages
    ]


def questions(dataset: Dataset) -> list[QuestionRecord]:
    return [one for talk in dataset.conversations for one in talk.questions]


def repairs(dataset: Dataset, part: str) -> list[str]:
    """Where something was repaired whose description has that part."""
    return [one.where for one in dataset.repairs if part in one.what]


# LoCoMo


def turn(id: str, speaker: str, text: str = "Hello there.", **more: Any) -> dict[str, Any]:
    return {"dia_id": id, "speaker": speaker, "text": text, **more}


def asked(category: int = 4, evidence: Any = ("D1:1",), **more: Any) -> dict[str, Any]:
    more.setdefault("answer", "yes")
    return {"question": "Really?", "category": category, "evidence": list(evidence), **more}


def sample(*qa: dict[str, Any], **conversation: Any) -> dict[str, Any]:
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [turn("D1:1", "Bob"), turn("D1:2", "Ann")],
            "session_2_date_time": "9:00 am on 20 May, 2023",
            "session_2": [turn("D2:1", "Ann"), turn("D2:2", "Bob")],
        }
        | conversation,
        "qa": list(qa) or [asked()],
    }


def locomo(tmp_path: Path, *samples: dict[str, Any]) -> Dataset:
    return load(write(tmp_path / "locomo.json", list(samples)))


def test_locomo_sessions_become_one_dated_thread(tmp_path: Path) -> None:
    found = locomo(tmp_path, sample())
    assert (found.format, found.name) == ("locomo", "locomo")
    talk = found.conversations[0]
    assert (talk.id, talk.title) == ("conv-1", "Ann and Bob")
    assert [thread.id for thread in talk.threads] == ["main"]
    start = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert [(one.id, one.time) for one in messages(found)][:2] == [
        ("D1:1", start),
        ("D1:2", start + timedelta(seconds=1)),
    ]
    assert talk.questions[0].asked_at == datetime(2023, 5, 20, 9, 1, 1, tzinfo=UTC)
    for part in ("taken as UTC", "one second apart", "asked one minute", "not taken over"):
        assert repairs(found, part) == ["conv-1"]


def test_locomo_first_speaker_is_the_user_and_the_other_the_agent(tmp_path: Path) -> None:
    found = locomo(tmp_path, sample())
    talk = found.conversations[0]
    assert (talk.team, talk.agent, talk.person) == ("locomo", "Ann", "Bob")
    assert talk.persona == (
        "You are Ann, a friend of Bob. You answer from what the two of you have said."
    )
    assert {(one.speaker, one.role) for one in messages(found)} == {
        ("Bob", "user"),
        ("Ann", "assistant"),
    }
    assert repairs(found, "Bob speaks first") == ["conv-1"]


def test_locomo_sessions_go_by_number_and_only_where_they_exist(tmp_path: Path) -> None:
    value = sample(
        session_10_date_time="9:00 am on 1 June, 2023",
        session_10=[turn("D10:1", "Ann")],
        session_20_date_time="9:00 am on 2 June, 2023",
    )
    found = locomo(tmp_path, value)
    assert [one.id for one in messages(found)][-1] == "D10:1"
    assert repairs(found, "no such session, date passed over: session_20") == ["conv-1"]


def test_locomo_captions_are_part_of_the_message(tmp_path: Path) -> None:
    value = sample(
        session_1=[
            turn("D1:1", "Ann", "Look!", blip_caption="a grey cat", img_url=["http://x"]),
            turn("D1:2", "Bob", "", blip_caption="a dog"),
            turn("D1:3", "Bob", " "),
            turn("D1:4", "Ann", "Fine."),
        ]
    )
    found = locomo(tmp_path, value)
    assert [one.text for one in messages(found)][:3] == [
        "Look!\n[image: a grey cat]",
        "[image: a dog]",
        "Fine.",
    ]
    assert repairs(found, "neither text nor caption") == ["conv-1: D1:3"]


def test_locomo_session_that_begins_too_early_begins_after_the_one_before(tmp_path: Path) -> None:
    found = locomo(tmp_path, sample(session_2_date_time="1:56 pm on 8 May, 2023"))
    times = [one.time for one in messages(found)]
    assert times == [times[0] + timedelta(seconds=n) for n in range(4)]
    assert repairs(found, "before the last message") == ["conv-1: session_2"]


@pytest.mark.parametrize(
    ("category", "kind", "answerable"),
    [
        (1, "multi-hop", True),
        (2, "temporal", True),
        (3, "open-domain", True),
        (4, "single-hop", True),
        (5, "adversarial", False),
    ],
)
def test_locomo_category_says_kind_and_whether_it_can_be_answered(
    tmp_path: Path, category: int, kind: str, answerable: bool
) -> None:
    found = locomo(tmp_path, sample(asked(category, answer=2022)))
    question = questions(found)[0]
    assert (question.id, question.kind, question.answerable) == ("conv-1_q0", kind, answerable)
    assert question.answer == ("2022" if answerable else None)
    assert bool(repairs(found, "the answer is dropped")) is not answerable


@pytest.mark.parametrize(
    ("given", "read", "listed"),
    [
        (["D1:1", "D2:2"], ["D1:1", "D2:2"], ""),
        (["D1:1; D2:2"], ["D1:1", "D2:2"], "'D1:1; D2:2' read as D1:1, D2:2"),
        (["D1:1 D2:2 D2:1"], ["D1:1", "D2:2", "D2:1"], "read as D1:1, D2:2, D2:1"),
        (["D1:02"], ["D1:2"], "'D1:02' read as D1:2"),
        (["D:2:1"], ["D2:1"], "'D:2:1' read as D2:1"),
        (["D1:1", "D"], ["D1:1"], "'D' dropped"),
        (["D1:1", ""], ["D1:1"], "'' dropped"),
        (["D1:19"], [], "'D1:19' dropped; no turn D1:19"),
        (["D1:1; D1:19"], ["D1:1"], "read as D1:1; no turn D1:19"),
        (["D1:1", "D1:1"], ["D1:1"], "kept once"),
        (["D٣:1"], [], "dropped"),
    ],
)
def test_locomo_evidence_is_read_and_every_defect_is_listed(
    tmp_path: Path, given: list[str], read: list[str], listed: str
) -> None:
    found = locomo(tmp_path, sample(asked(evidence=given)))
    assert questions(found)[0].evidence == read
    where = "conv-1: conv-1_q0"
    about = [one.what for one in found.repairs if one.where == where]
    assert len(about) == bool(listed) + (not read)
    assert not listed or listed in about[0]
    assert (repairs(found, "has no evidence") == [where]) is (not read)


def test_locomo_faults_are_reported_all_at_once_with_their_fields(tmp_path: Path) -> None:
    first, second = sample(), sample()
    first["qa"] = [{"question": "", "category": 7, "evidence": "D1:1"}]
    del second["sample_id"]
    path = write(tmp_path / "x.json", [first, second, 3])
    assert fields(path, "locomo") == {
        "[0].qa[0].question",
        "[0].qa[0].category",
        "[0].qa[0].evidence",
        "[1].sample_id",
        "[2]",
    }


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"speaker_b": None}, "speaker_b"),
        ({"speaker_b": "Ann"}, "speaker_b"),
        ({"session_1_date_time": "8 May"}, "session_1_date_time"),
        ({"session_1_date_time": 5}, "session_1_date_time"),
        ({"session_1_date_time": "1:56 pm on 8 May, 0001"}, "session_1_date_time"),
        ({"session_3": [turn("D3:1", "Ann")]}, "session_3_date_time"),
        ({"session_1": {}}, "session_1"),
        ({"session_1": [turn("D1:1", "Eve")]}, "session_1[0].speaker"),
        ({"session_1": [{"speaker": "Ann", "text": "x"}]}, "session_1[0].dia_id"),
        ({"session_1": [turn("D1:1", "Ann", text=3)]}, "session_1[0].text"),  # type: ignore[arg-type]
    ],
)
def test_locomo_conversation_with_a_fault_is_refused(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    path = write(tmp_path / "x.json", [sample(**change)])
    assert f"[0].conversation.{field}" in fields(path, "locomo")


def test_locomo_sample_without_a_message_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    empty = sample(session_1=[], session_2=[])
    assert fields(write(tmp_path / "x.json", [empty]), "locomo") == {"[0].conversation"}
    twice = sample(session_2=[turn("D1:1", "Ann")])
    found = faults(write(tmp_path / "y.json", [twice, sample()]), "locomo")
    assert {fault.reason for fault in found} == {"'D1:1' is used twice", "'conv-1' is used twice"}


def test_locomo_development_half_has_the_published_counts(shared_data: Path) -> None:
    found = load(shared_data / "locomo" / "locomo_dev.json")
    assert found.format == "locomo"
    assert found.counts == {"conversations": 5, "messages": 2_760, "questions": 999}
    assert {talk.id: len(talk.questions) for talk in found.conversations} == {
        "conv-26": 199,
        "conv-30": 105,
        "conv-41": 193,
        "conv-42": 260,
        "conv-43": 242,
    }
    assert Counter(one.kind for one in questions(found)) == {
        "multi-hop": 142,
        "temporal": 156,
        "open-domain": 46,
        "single-hop": 418,
        "adversarial": 237,
    }
    assert repairs(found, "before the last message") == []


def test_locomo_development_half_has_exactly_the_known_defects(shared_data: Path) -> None:
    found = load(shared_data / "locomo" / "locomo_dev.json")
    assert {one.where: one.what for one in found.repairs if "evidence '" in one.what} == {
        "conv-26: conv-26_q37": "evidence 'D8:6; D9:17' read as D8:6, D9:17",
        "conv-42: conv-42_q58": "evidence 'D10:19' dropped; no turn D10:19",
        "conv-42: conv-42_q88": "evidence 'D' dropped",
        "conv-43: conv-43_q18": "evidence 'D:11:26' read as D11:26",
    }
    without = ["conv-26_q30", "conv-26_q46"]
    assert [one.id for one in questions(found) if not one.evidence] == without
    assert repairs(found, "has no evidence") == [f"conv-26: {id}" for id in without]
    assert len(repairs(found, "the answer is dropped")) == 2
    assert len(repairs(found, "no such session")) == 1


def test_locomo_development_half_has_the_known_ages(shared_data: Path) -> None:
    found = load(shared_data / "locomo" / "locomo_dev.json")
    old = Counter[str]()
    for talk in found.conversations:
        days = {one.id: one.time.date() for one in talk.messages()}
        last = max(days.values())
        for one in talk.questions:
            newest = max((days[id] for id in one.evidence), default=last)
            old[talk.id] += (last - newest).days >= 12
    assert old == {"conv-26": 156, "conv-30": 97, "conv-41": 156, "conv-42": 205, "conv-43": 208}


# LongMemEval


def said(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def original(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "How many cats?",
        "question_date": "2024/07/20 (Sat) 09:00",
        "answer": 3,
        "answer_session_ids": ["s2"],
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2024/07/01 (Mon) 08:00", "2024/07/05 (Fri) 11:00"],
        "haystack_sessions": [
            [said("Hi."), said("Hello.", "assistant")],
            [said("I have three cats.", has_answer=True), said("Lovely.", "assistant")],
        ],
    } | changes


def reme(given: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """The same question in ReMe's form."""
    triples = zip(
        given["haystack_session_ids"],
        given["haystack_dates"],
        given["haystack_sessions"],
        strict=True,
    )
    keys = ("question_type", "question_date", "answer_session_ids")
    return {
        "case_id": given["question_id"],
        "metadata": {"dataset": "longmemeval"},
        "queries": [
            {
                "query_id": given["question_id"],
                "question": given["question"],
                "golden_answer": given["answer"],
                "metadata": {key: given[key] for key in keys} | metadata,
            }
        ],
        "sessions": [
            {"session_id": id, "metadata": {"date": date}, "messages": turns}
            for id, date, turns in triples
        ],
    }


def longmemeval(tmp_path: Path, **changes: Any) -> Dataset:
    return load(write(tmp_path / "lme.json", [original(**changes)]))


def test_longmemeval_sessions_become_threads_and_the_question_has_its_own(tmp_path: Path) -> None:
    found = longmemeval(tmp_path)
    assert found.format == "longmemeval"
    talk = found.conversations[0]
    assert (talk.id, talk.team, talk.agent, talk.person) == (
        "q1",
        "longmemeval",
        "assistant",
        "q1",
    )
    assert [(thread.id, len(thread.messages)) for thread in talk.threads] == [
        ("s1", 2),
        ("s2", 2),
        ("asked", 0),
    ]
    assert [one.id for one in talk.messages()] == ["s1:0", "s1:1", "s2:0", "s2:1"]
    question = talk.questions[0]
    assert question.thread == "asked"
    assert question.asked_at == datetime(2024, 7, 20, 9, tzinfo=UTC)
    assert (question.answer, question.kind, question.evidence) == ("3", "multi-session", ["s2:0"])
    assert repairs(found, "taken as UTC") == ["q1"]
    assert repairs(found, "one second apart") == ["q1"]


def test_longmemeval_both_forms_give_the_same_content_and_hash(tmp_path: Path) -> None:
    first = longmemeval(tmp_path)
    second = load(write(tmp_path / "reme.json", reme(original())))
    assert second.format == "longmemeval"
    assert second.sha256 == first.sha256


def test_longmemeval_folder_gives_the_questions_of_its_files_in_order(tmp_path: Path) -> None:
    write(tmp_path / "all" / "2.json", [original(), original(question_id="q2")])
    write(tmp_path / "all" / "1.json", reme(original(question_id="q0")))
    write(tmp_path / "all" / "README.md", "words")
    found = load(tmp_path / "all")
    assert [talk.id for talk in found.conversations] == ["q0", "q1", "q2"]
    assert repairs(found, "not .json, passed over: README.md") == ["all"]


def test_longmemeval_repeated_session_ids_get_a_suffix(tmp_path: Path) -> None:
    ids = ["s", "s", "s#2", "asked"]
    found = longmemeval(
        tmp_path,
        haystack_session_ids=ids,
        haystack_dates=[f"2024/07/0{n} (Mon) 08:00" for n in range(1, 5)],
        haystack_sessions=[[said(f"Hi {n}.")] for n in range(4)],
    )
    threads = [thread.id for thread in found.conversations[0].threads]
    assert threads == ["s", "s#3", "s#2", "asked#2", "asked"]
    assert repairs(found, "id is used already") == ["q1: s", "q1: asked"]


def test_longmemeval_sessions_of_one_minute_follow_one_another(tmp_path: Path) -> None:
    found = longmemeval(
        tmp_path, haystack_dates=["2024/07/05 (Fri) 11:00", "2024/07/05 (Fri) 11:00"]
    )
    times = [one.time for one in found.conversations[0].messages()]
    assert times == [times[0] + timedelta(seconds=n) for n in range(4)]
    assert repairs(found, "before the last message") == ["q1: s2"]


def test_longmemeval_sessions_may_stand_in_any_order_and_keep_their_dates(tmp_path: Path) -> None:
    found = longmemeval(
        tmp_path, haystack_dates=["2024/07/06 (Sat) 11:00", "2024/07/05 (Fri) 11:00"]
    )
    talk = found.conversations[0]
    assert [one.id for one in talk.messages()] == ["s2:0", "s2:1", "s1:0", "s1:1"]
    assert [thread.id for thread in talk.threads] == ["s1", "s2", "asked"]
    assert repairs(found, "before the last message") == []


def test_longmemeval_later_messages_keep_their_dates_and_are_no_evidence(tmp_path: Path) -> None:
    found = longmemeval(
        tmp_path, haystack_dates=["2024/07/01 (Mon) 08:00", "2024/07/20 (Sat) 09:00"]
    )
    assert found.conversations[0].questions[0].evidence == []
    assert messages(found)[-1].time == datetime(2024, 7, 20, 9, 0, 1, tzinfo=UTC)
    assert repairs(found, "not before the question; dropped") == ["q1: s2:0"]
    assert repairs(found, "1 of 2 sessions are not before the question; 2 messages") == ["q1"]
    assert repairs(found, "has no evidence") == ["q1"]


def test_longmemeval_without_flags_the_user_turns_of_answer_sessions_count(tmp_path: Path) -> None:
    value = original()
    del value["haystack_sessions"][1][0]["has_answer"]
    value["answer_session_ids"] = ["s2", "s9"]
    found = load(write(tmp_path / "x.json", [value]))
    assert questions(found)[0].evidence == ["s2:0"]
    assert repairs(found, "user turns of answer sessions are evidence") == ["q1"]
    assert repairs(found, "'s9' is not in the haystack") == ["q1"]


def test_longmemeval_answer_session_without_flag_among_flagged_ones_is_listed(
    tmp_path: Path,
) -> None:
    found = longmemeval(tmp_path, answer_session_ids=["s1", "s2"])
    assert questions(found)[0].evidence == ["s2:0"]
    assert repairs(found, "without flagged turn, not evidence") == ["q1: s1"]


def test_longmemeval_abstention_cannot_be_answered_and_needs_no_evidence(tmp_path: Path) -> None:
    sessions = [[said("Hi.")], [said("A near miss.")]]
    found = longmemeval(tmp_path, question_id="q1_abs", haystack_sessions=sessions)
    assert not questions(found)[0].answerable
    assert questions(found)[0].evidence == []
    assert repairs(found, "an abstention without flagged turn") == ["q1_abs"]
    assert repairs(found, "has no evidence,") == []


def test_longmemeval_takes_the_labels_of_reme_where_they_differ(tmp_path: Path) -> None:
    value = reme(
        original(answer="not enough", answer_session_ids=[]),
        original_answer=3,
        original_answer_session_ids=["s2"],
    )
    found = load(write(tmp_path / "x.json", value))
    assert questions(found)[0].answer == "not enough"
    assert not questions(found)[0].answerable
    assert repairs(found, "not the original '3'") == ["q1"]
    assert repairs(found, "counted as unanswerable") == ["q1"]


def test_longmemeval_empty_turns_and_sessions_are_left_out_and_listed(tmp_path: Path) -> None:
    found = longmemeval(tmp_path, haystack_sessions=[[], [said(" "), said("Three.")]])
    assert [thread.id for thread in found.conversations[0].threads] == ["s2", "asked"]
    assert [one.id for one in messages(found)] == ["s2:1"]
    assert repairs(found, "has no message; left out") == ["q1: s1"]
    assert repairs(found, "white space; left out") == ["q1: s2:0"]


def test_longmemeval_creation_times_other_than_the_sessions_are_listed(tmp_path: Path) -> None:
    turns = [
        said("Hi.", created_at="2024-07-01T08:00:00"),
        said("Ho.", created_at="2024-07-02T08:00:00"),
    ]
    found = longmemeval(tmp_path, haystack_sessions=[turns, [said("Three.")]])
    assert repairs(found, "1 messages are created at another time") == ["q1"]


def test_longmemeval_faults_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    broken = original(question_date="yesterday", haystack_sessions=[[said("Hi.", "system")], 5])
    del broken["answer"]
    first = write(folder / "1.json", [broken])
    second = write(folder / "2.json", reme(original()) | {"queries": []})
    third = write(folder / "3.json", "{")
    uneven = write(folder / "4.json", [original(haystack_dates=[])])
    found = {(fault.file, fault.field) for fault in faults(folder, "longmemeval")}
    assert found == {
        (str(first), "[0].question_date"),
        (str(first), "[0].haystack_sessions[0][0].role"),
        (str(first), "[0].haystack_sessions[1]"),
        (str(first), "[0].answer"),
        (str(second), "queries"),
        (str(third), ""),
        (str(uneven), "[0].haystack_sessions"),
    }


def test_longmemeval_question_twice_and_an_id_too_long_are_refused(tmp_path: Path) -> None:
    twice = write(tmp_path / "x.json", [original(), original()])
    assert faults(twice)[0].reason == "'q1' is used twice"
    long = write(tmp_path / "y.json", [original(question_id="q" * 300)])
    assert {fault.file for fault in faults(long)} == {str(long)}


def test_longmemeval_haystacks_have_the_published_contents(shared_data: Path) -> None:
    found = load(shared_data / "longmemeval_s")
    contents = {}
    for talk in found.conversations:
        question, days = talk.questions[0], {one.id: one.time.date() for one in talk.messages()}
        ages = [(question.asked_at.date() - days[id]).days for id in question.evidence]
        threads, count = len(talk.threads) - 1, len(days)
        contents[talk.id] = (
            question.kind,
            threads,
            count,
            min(ages, default=-1),
            max(ages, default=-1),
        )
    assert contents == {
        "19b5f2b3_abs": ("single-session-user", 50, 527, -1, -1),
        "3a704032": ("multi-session", 48, 479, 5, 10),
        "4d6b87c8": ("knowledge-update", 52, 516, 12, 14),
        "75832dbd": ("single-session-preference", 48, 474, 8, 8),
        "852ce960": ("knowledge-update", 39, 396, 18, 129),
        "e66b632c": ("knowledge-update", 47, 506, 26, 136),
        "gpt4_2655b836": ("temporal-reasoning", 45, 465, 0, 0),
        "gpt4_59149c78": ("temporal-reasoning", 51, 497, 17, 17),
        "gpt4_7f6b06db": ("temporal-reasoning", 52, 558, 17, 83),
    }


def test_longmemeval_case_41_has_23_of_its_45_sessions_after_the_question(
    shared_data: Path,
) -> None:
    found = load(shared_data / "longmemeval_s" / "000041.json")
    talk = found.conversations[0]
    question = talk.questions[0]
    late = [
        thread.id
        for thread in talk.threads
        if thread.messages and thread.messages[0].time >= question.asked_at
    ]
    assert len(late) == 23
    assert repairs(found, "23 of 45 sessions are not before the question") == [talk.id]
    assert question.evidence == ["answer_4be1b6b4_3:2"]
    assert repairs(found, "evidence is not before the question; dropped") == [
        f"{talk.id}: answer_4be1b6b4_2:0"
    ]
    assert question.answer == "The information provided is not enough."
    assert not question.answerable


def test_longmemeval_original_files_load_from_their_folder(shared_data: Path) -> None:
    found = load(shared_data / "chat_exports" / "longmemeval_original_schema")
    assert found.counts == {"conversations": 7, "messages": 32, "questions": 7}
    evidence = {one.id: one.evidence for one in questions(found)}
    assert evidence["fixture_q2"] == ["answer_session_beta_1:0", "answer_session_beta_2:0"]
    assert [one.id for one in questions(found) if not one.answerable] == ["mini_5_abs"]


# BEAM


def batch(anchor: str | None, *spoken: dict[str, Any]) -> dict[str, Any]:
    turns = [dict(one) for one in spoken]
    if anchor:
        turns[0]["time_anchor"] = anchor
    return {"batch_number": 1, "time_anchor": None, "turns": [turns]}


def spoken(id: int | str, text: str = "Hello.", role: str = "user") -> dict[str, Any]:
    return {"id": id, "role": role, "content": text}


CHAT = [
    batch("March-15-2024", spoken(0, "Plan it. ->-> 1,1"), spoken(1, "Sure.", "assistant")),
    batch("April-05-2024", spoken(2, "Done. ->-> 1,13)"), spoken(3, "Good.", "assistant")),
]
PROBES: dict[str, Any] = {
    "abstention": [{"question": "Who?", "ideal_response": "Unknown.", "rubric": []}],
    "temporal_reasoning": [
        {"question": "When?", "answer": 21, "source_chat_ids": {"first": [0], "second": [2]}}
    ],
}


def chat(folder: Path, batches: Any = None, probes: Any = None) -> Path:
    write(folder / "chat.json", CHAT if batches is None else batches)
    write(folder / "probing_questions.json", PROBES if probes is None else probes)
    return folder


def probe(tmp_path: Path, **question: Any) -> Dataset:
    probes = {"summarization": [{"question": "What?", "answer": "x", "source_chat_ids": [0]}]}
    probes["summarization"][0] |= question
    return load(chat(tmp_path / "1", probes=probes))


def test_beam_chat_becomes_a_conversation_with_dates_carried_forward(tmp_path: Path) -> None:
    found = load(chat(tmp_path / "7"))
    assert (found.format, found.conversations[0].id) == ("beam", "beam-7")
    march = datetime(2024, 3, 15, 9, tzinfo=UTC)
    april = datetime(2024, 4, 5, 9, tzinfo=UTC)
    second = timedelta(seconds=1)
    assert [(one.id, one.time) for one in messages(found)] == [
        ("0", march),
        ("1", march + second),
        ("2", april),
        ("3", april + second),
    ]
    assert {one.asked_at for one in questions(found)} == {april + second + timedelta(minutes=1)}
    for part in ("09:00 UTC", "one second apart", "asked one minute", "not taken over"):
        assert repairs(found, part) == ["beam-7"]


def test_beam_batch_without_an_anchor_goes_on_where_the_last_ended(tmp_path: Path) -> None:
    batches = [CHAT[0], batch(None, spoken(2)), batch("March-15-2024", spoken(3))]
    found = load(chat(tmp_path / "1", batches))
    times = [one.time for one in messages(found)]
    assert times == [times[0] + timedelta(seconds=n) for n in range(4)]
    assert repairs(found, "before the last message") == []


def test_beam_anchor_earlier_than_the_one_before_is_listed(tmp_path: Path) -> None:
    found = load(chat(tmp_path / "1", [CHAT[1], batch("March-15-2024", spoken(9))]))
    times = [one.time for one in messages(found)]
    assert times[2] == times[1] + timedelta(seconds=1)
    assert repairs(found, "before the last message") == ["beam-1: 9"]


@pytest.mark.parametrize("mark", [" ->-> 1,2", "->->1,13)", "\n->-> 3,N/A", " ->-> 1,2\n"])
def test_beam_marks_are_cut_from_user_messages(tmp_path: Path, mark: str) -> None:
    found = load(chat(tmp_path / "1", [batch("May-01-2024", spoken(0, f"Plan it.{mark}"))]))
    assert messages(found)[0].text == "Plan it."
    assert repairs(found, "cut from 1 user messages") == ["beam-1"]


def test_beam_text_that_only_resembles_a_mark_is_kept_and_listed(tmp_path: Path) -> None:
    batches = [
        batch(
            "May-01-2024",
            spoken(0, "a ->-> b means implication"),
            spoken(1, "x ->-> 1,2", "assistant"),
        )
    ]
    found = load(chat(tmp_path / "1", batches))
    assert [one.text for one in messages(found)] == ["a ->-> b means implication", "x ->-> 1,2"]
    assert repairs(found, "stands within the text") == ["beam-1: 0", "beam-1: 1"]
    assert repairs(found, "cut from") == []


def test_beam_message_that_is_nothing_but_its_mark_is_left_out(tmp_path: Path) -> None:
    batches = [batch("May-01-2024", spoken(0, "->-> 1,2"), spoken(1))]
    probes = {"x": [{"question": "What?", "answer": "x", "source_chat_ids": [0]}]}
    found = load(chat(tmp_path / "1", batches, probes))
    assert [one.id for one in messages(found)] == ["1"]
    assert repairs(found, "white space; left out") == ["beam-1: 0"]
    assert repairs(found, "evidence '0' is no message; dropped") == ["beam-1: beam-1_x_0"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ([0, 2], ["0", "2"]),
        (["0"], ["0"]),
        ({"b": [2], "a": [0]}, ["2", "0"]),
        ([0, [1, 2], 3], ["0", "1", "2", "3"]),
        ([2, 2], ["2"]),
        ([0, 99, None, True, "x" * 500], ["0"]),
        (None, []),
    ],
)
def test_beam_evidence_is_flattened(tmp_path: Path, given: Any, read: list[str]) -> None:
    found = probe(tmp_path, source_chat_ids=given)
    assert questions(found)[0].evidence == read
    assert bool(repairs(found, "has no evidence")) is not read
    assert all(len(one.what) < 200 for one in found.repairs)


@pytest.mark.parametrize("key", loaders.beam.ANSWERS)
def test_beam_answer_is_found_under_every_key(tmp_path: Path, key: str) -> None:
    found = probe(tmp_path, **{"answer": None, key: "42"})
    assert questions(found)[0].answer == "42"


def test_beam_several_answers_or_none_are_listed(tmp_path: Path) -> None:
    assert repairs(probe(tmp_path, ideal_answer="y"), "several answers; answer is taken")
    assert repairs(probe(tmp_path, answer=None), "has no answer")


def test_beam_category_is_the_kind_and_abstention_cannot_be_answered(tmp_path: Path) -> None:
    found = load(chat(tmp_path / "1"))
    assert [(one.id, one.kind, one.answerable, one.answer) for one in questions(found)] == [
        ("beam-1_abstention_0", "abstention", False, "Unknown."),
        ("beam-1_temporal_reasoning_0", "temporal_reasoning", True, "21"),
    ]
    assert repairs(found, "has no evidence") == []


def test_beam_folders_are_taken_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10", "9", "x"):
        chat(tmp_path / "all" / name)
    write(tmp_path / "all" / "notes" / "README", "words")
    found = load(tmp_path / "all")
    assert [talk.id for talk in found.conversations] == ["beam-9", "beam-10", "beam-x"]
    assert repairs(found, "passed over: notes") == ["all"]


def test_beam_faults_of_all_chats_are_reported_at_once(tmp_path: Path) -> None:
    chat(tmp_path / "all" / "1", [batch(None, spoken(0))])
    chat(tmp_path / "all" / "2", [batch("15.03.2024", spoken(0))], {"x": [{}]})
    chat(tmp_path / "all" / "3", [batch("May-01-2024", spoken(True, role="bot"))], "[")
    write(tmp_path / "all" / "4" / "chat.json", CHAT)
    chat(tmp_path / "all" / "5", [])
    found = {
        (Path(fault.file).parent.name, Path(fault.file).name[0], fault.field)
        for fault in faults(tmp_path / "all", "beam")
    }
    assert found >= {
        ("1", "c", "[0].turns[0][0]"),
        ("2", "c", "[0].turns[0][0].time_anchor"),
        ("2", "p", "x[0].question"),
        ("3", "c", "[0].turns[0][0].role"),
        ("3", "p", ""),
        ("4", "p", ""),
        ("5", "c", ""),
    }
    assert len({number for number, _, _ in found}) == 5


def test_beam_message_ids_may_not_repeat_even_as_text(tmp_path: Path) -> None:
    batches = [batch("May-01-2024", spoken(0), spoken("0"))]
    assert faults(chat(tmp_path / "1", batches))[0].reason == "'0' is used twice"


def test_beam_chats_have_the_published_counts(shared_data: Path) -> None:
    found = load(shared_data / "beam_100k")
    days = {}
    for talk in found.conversations:
        times = [one.time for one in talk.messages()]
        dates = (min(times).date().isoformat(), max(times).date().isoformat())
        days[talk.id] = (len(times), *dates, len(talk.questions))
    assert days == {
        "beam-1": (188, "2024-03-15", "2024-04-25", 20),
        "beam-6": (258, "2024-03-15", "2024-11-18", 20),
        "beam-13": (310, "2023-11-05", "2024-03-15", 20),
        "beam-15": (272, "2024-03-12", "2024-08-05", 20),
    }
    assert set(Counter(one.kind for one in questions(found)).values()) == {8}
    marks = [one.what for one in found.repairs if "cut from" in one.what]
    assert sum(int(what.split()[-3]) for what in marks) == 424
    assert not any("->->" in one.text for one in messages(found))
    assert all(one.answer for one in questions(found))
    assert [one.kind for one in questions(found) if not one.evidence] == ["abstention"] * 8


# All of them

TALK = {"id": "t", "threads": [{"id": "main", "messages": []}]}


def test_native_lines_are_recognised_even_after_broken_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", json.dumps(TALK))
    assert load(path).format == "native"
    write(path, "\nbroken\n" + json.dumps(TALK))
    assert [fault.line for fault in faults(path)] == [2]


def test_what_is_loaded_and_written_in_native_form_has_the_same_hash(tmp_path: Path) -> None:
    for found in (locomo(tmp_path, sample()), longmemeval(tmp_path), load(chat(tmp_path / "1"))):
        path = write(tmp_path / "n.jsonl", "\n".join(map(to_line, found.conversations)))
        again = load(path)
        assert again.format == "native"
        assert again.sha256 == found.sha256
        assert again.conversations == found.conversations


@pytest.mark.parametrize("text", ["[]", "{}", '[{"a": 1}]', "words", "", "3", "[" * 100_000])
def test_what_no_format_recognises_is_refused_with_all_formats_and_their_looks(
    tmp_path: Path, text: str
) -> None:
    fault = faults(write(tmp_path / "x.json", text))[-1]
    assert fault.field == "format"
    for name, format in FORMATS.items():
        assert name in fault.reason
        assert format.looks in fault.reason


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path)[0].field == "format"
    for name in FORMATS:
        assert faults(tmp_path, name)


def test_an_unknown_format_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    fault = faults(write(tmp_path / "x.json", "[]"), "locomoo")[0]
    assert fault.field == "format"
    assert "'locomoo' is no format" in fault.reason
    assert all(name in fault.reason for name in FORMATS)


@pytest.mark.parametrize("source", ["nowhere", "", "no\0where", "x" * 5_000, "../shop", "a/b.json"])
def test_a_source_that_does_not_exist_is_refused(source: str) -> None:
    fault = faults(source)[0]
    assert "is no file or folder, and no bundled dataset" in fault.reason


def test_the_name_of_a_bundled_dataset_loads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "datasets" / "little.jsonl", json.dumps(TALK))
    monkeypatch.setattr(loaders, "BUNDLED", tmp_path / "datasets")
    assert loaders.bundled() == ("little",)
    assert load("little").name == "little"
    assert "bundled are: little" in faults("big")[0].reason


def test_bundled_datasets_are_looked_for_at_the_top_of_the_project() -> None:
    assert Path(__file__).resolve().parents[2] / "datasets" == loaders.BUNDLED


def test_limit_keeps_the_first_conversations_and_their_repairs(tmp_path: Path) -> None:
    second = copy.deepcopy(sample()) | {"sample_id": "conv-2"}
    path = write(tmp_path / "x.json", [sample(), second])
    whole, first = load(path), load(path, limit=1)
    assert [talk.id for talk in first.conversations] == ["conv-1"]
    assert {one.where for one in first.repairs} == {"conv-1"}
    assert first.sha256 == load(write(tmp_path / "y.json", [sample()])).sha256
    assert load(path, limit=9) == whole


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(tmp_path: Path, limit: int) -> None:
    path = write(tmp_path / "x.json", [sample()])
    with pytest.raises(InvalidInput, match=f"limit must be at least 1, got {limit}"):
        load(path, limit=limit)


JUNK: list[Any] = [
    None,
    True,
    0,
    10**4000,
    "x",
    "\ud800",
    [],
    [[]],
    [None],
    {},
    {"a": [{}]},
    {"\ud801": [{}]},
    json.loads("[" * 800 + "]" * 800),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [path] + [
        found
        for key, one in inner
        for found in (places(one, (*path, key)) if isinstance(one, dict | list) else [(*path, key)])
    ]


def with_junk(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    if not path:
        return junk
    value = copy.deepcopy(value)
    target = value
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = junk
    return value


JUNK_GOES_INTO = {
    "locomo.json": ("locomo", [sample(asked(), asked(5))]),
    "original.json": ("longmemeval", [original()]),
    "reme.json": ("longmemeval", reme(original())),
    "1/chat.json": ("beam", CHAT),
    "1/probing_questions.json": ("beam", PROBES),
}


@pytest.mark.parametrize("file", JUNK_GOES_INTO)
def test_junk_in_any_place_of_a_file_is_read_or_refused_but_never_crashes(
    tmp_path: Path, file: str
) -> None:
    format, good = JUNK_GOES_INTO[file]
    source = chat(tmp_path / "1") if format == "beam" else tmp_path / file
    refused = 0
    for path in places(good):
        for junk in JUNK:
            write(tmp_path / file, json.dumps(with_junk(good, path, junk)))
            try:
                load(source, format)
            except DatasetError as error:
                str(error).encode("utf-8")
                refused += 1
    assert refused
