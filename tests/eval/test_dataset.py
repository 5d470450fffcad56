"""The native dataset: what is accepted, what is refused and with which words."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval import dataset as module
from eval.dataset import (
    NOTE_SIZE,
    ConversationRecord,
    Repair,
    from_line,
    make_dataset,
    read_json,
    read_native,
    to_line,
)
from eval.errors import DatasetError, Fault

TALK: dict[str, Any] = {
    "id": "talk",
    "threads": [
        {
            "id": "main",
            "messages": [
                {
                    "id": "m1",
                    "role": "user",
                    "speaker": "Ann",
                    "time": "2026-03-01T10:00:00Z",
                    "text": "My cat is called Mochi.",
                },
                {
                    "id": "m2",
                    "role": "assistant",
                    "speaker": "Bot",
                    "time": "2026-03-01T10:00:05Z",
                    "text": "Noted.",
                },
            ],
        }
    ],
    "questions": [
        {
            "id": "q1",
            "text": "What is the cat called?",
            "asked_at": "2026-03-20T10:00:00Z",
            "evidence": ["m1"],
            "answer": "Mochi",
        }
    ],
}
"""Valid as it stands; each test changes one thing."""


def talk(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(TALK) | changes


def message(value: dict[str, Any], index: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = value["threads"][0]["messages"][index]
    return found


def write(folder: Path, *lines: dict[str, Any] | str) -> Path:
    path = folder / "talks.jsonl"
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
    path.write_text(text, encoding="utf-8")
    return path


def faults(path: Path) -> tuple[Fault, ...]:
    with pytest.raises(DatasetError) as caught:
        read_native(path)
    assert all(fault.file == str(path) for fault in caught.value.faults)
    assert str(path) in str(caught.value)
    return caught.value.faults


def only(path: Path) -> Fault:
    found = faults(path)
    assert len(found) == 1, found
    return found[0]


def test_a_valid_file_is_read_with_its_counts(tmp_path: Path) -> None:
    found = read_native(write(tmp_path, TALK, "", talk(id="other")))
    assert found.name == "talks"
    assert found.format == "native"
    assert found.counts == {"conversations": 2, "messages": 4, "questions": 2}
    assert found.repairs == ()
    assert [one.id for one in found.conversations[0].messages()] == ["m1", "m2"]


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(TALK).encode() + b"\r\n")
    assert read_native(path).counts["conversations"] == 1


def test_a_line_that_is_not_json_is_named_with_its_column(tmp_path: Path) -> None:
    fault = only(write(tmp_path, TALK, '{"id": '))
    assert fault.line == 2
    assert fault.reason.startswith("not JSON: ")
    assert "column" in fault.reason


@pytest.mark.parametrize("field", ["id", "role", "speaker", "time", "text"])
def test_a_missing_field_of_a_message_is_named(tmp_path: Path, field: str) -> None:
    value = talk()
    del message(value, 1)[field]
    fault = faults(write(tmp_path, value))[0]
    assert (fault.line, fault.field) == (1, f"threads[0].messages[1].{field}")
    assert fault.reason == "is missing"


def test_a_question_without_asked_at_is_refused(tmp_path: Path) -> None:
    value = talk()
    del value["questions"][0]["asked_at"]
    fault = only(write(tmp_path, value))
    assert (fault.field, fault.reason) == ("questions[0].asked_at", "is missing")


@pytest.mark.parametrize("where", ["message", "question", "note", "summary", "fact"])
def test_a_time_without_a_zone_is_refused(tmp_path: Path, where: str) -> None:
    value, naive = talk(), "2026-03-19T14:02:00"
    match where:
        case "message":
            message(value)["time"] = naive
        case "question":
            value["questions"][0]["asked_at"] = naive
        case "note":
            value["notes"] = [{"kind": "page", "time": naive, "text": "x"}]
        case "summary":
            value["summaries"] = [{"thread": "main", "time": naive, "text": "x"}]
        case "fact":
            value["facts"] = [{"id": "f", "time": naive, "text": "a fact"}]
    fault = only(write(tmp_path, value))
    assert "has no time zone" in fault.reason
    assert naive in fault.reason


@pytest.mark.parametrize("time", [1772359200, 1772359200000, "1772359200", True, None, [], ""])
def test_a_time_that_is_no_written_date_is_not_guessed_at(tmp_path: Path, time: object) -> None:
    value = talk()
    message(value)["time"] = time
    fault = only(write(tmp_path, value))
    assert fault.field == "threads[0].messages[0].time"
    assert "is no time" in fault.reason


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00+03:00", "9999-12-31T23:59:59-03:00", "1600-01-01T00:00:00Z"]
)
def test_a_time_that_cannot_be_calculated_with_is_refused(tmp_path: Path, time: str) -> None:
    value = talk()
    message(value)["time"] = time
    assert "is not between the years" in only(write(tmp_path, value)).reason


@pytest.mark.parametrize("kind", ["message", "thread", "question", "conversation"])
def test_an_id_used_twice_is_refused(tmp_path: Path, kind: str) -> None:
    value, other = talk(), talk(id="other")
    match kind:
        case "message":
            message(value, 1)["id"] = "m1"
            expected = (1, "talk: threads[0].messages[1].id", "'m1' is used twice")
        case "thread":
            value["threads"].append({"id": "main", "messages": []})
            expected = (1, "talk: threads[1].id", "'main' is used twice")
        case "question":
            value["questions"] *= 2
            expected = (1, "talk: questions[1].id", "'q1' is used twice")
        case _:
            other["id"] = "talk"
            expected = (2, "id", "'talk' is used already in line 1")
    assert only(write(tmp_path, value, other))[1:] == expected


def test_messages_of_two_threads_may_not_share_an_id(tmp_path: Path) -> None:
    value = talk()
    value["threads"].append({"id": "second", "messages": [message(value)]})
    assert only(write(tmp_path, value)).field == "talk: threads[1].messages[0].id"


def test_evidence_that_names_no_message_is_refused(tmp_path: Path) -> None:
    value = talk()
    value["questions"][0]["evidence"] = ["m1", "m9"]
    fault = only(write(tmp_path, value))
    assert (fault.field, fault.reason) == ("talk: questions[0].evidence", "'m9' names no message")


@pytest.mark.parametrize("asked", ["2026-03-01T10:00:00Z", "2026-03-01T12:00:00+03:00"])
def test_a_question_not_after_its_evidence_is_refused(tmp_path: Path, asked: str) -> None:
    value = talk()
    value["questions"][0]["asked_at"] = asked
    fault = only(write(tmp_path, value))
    assert fault.field == "talk: questions[0].asked_at"
    assert "is not after its evidence 'm1'" in fault.reason


def test_a_question_in_an_unknown_thread_is_refused(tmp_path: Path) -> None:
    value = talk()
    value["questions"][0]["thread"] = "nowhere"
    assert only(write(tmp_path, value)).field == "talk: questions[0].thread"


def test_a_message_of_white_space_is_refused(tmp_path: Path) -> None:
    value = talk()
    message(value)["text"] = " \n"
    assert only(write(tmp_path, value)).field == "talk: threads[0].messages[0].text"


def test_writings_are_checked_against_the_messages_they_come_from(tmp_path: Path) -> None:
    early = "2026-02-01T00:00:00Z"
    value = talk(
        notes=[{"kind": "dated", "time": early, "text": "x", "sources": ["m1"]}],
        facts=[{"id": "f", "time": early, "text": "a fact", "sources": ["m9"]}],
        summaries=[{"thread": "nowhere", "time": early, "text": "x"}],
    )
    assert {fault.field for fault in faults(write(tmp_path, value))} == {
        "talk: notes[0].time",
        "talk: facts[0].sources",
        "talk: summaries[0].thread",
    }


def test_a_note_holds_two_thousand_characters_and_not_one_more(tmp_path: Path) -> None:
    note = {"kind": "page", "time": "2026-03-02T00:00:00Z", "text": "я" * NOTE_SIZE}
    assert NOTE_SIZE == 2_000
    assert read_native(write(tmp_path, talk(notes=[note]))).counts["conversations"] == 1
    fault = only(write(tmp_path, talk(notes=[note | {"text": "я" * 2_001}])))
    assert fault.field == "notes[0].text"
    assert "at most 2000 characters" in fault.reason


@pytest.mark.parametrize("where", ["conversation", "message", "question"])
def test_an_unknown_field_is_refused(tmp_path: Path, where: str) -> None:
    value = talk()
    target = {"conversation": value, "message": message(value), "question": value["questions"][0]}
    target[where]["tome"] = 1
    fault = only(write(tmp_path, value))
    assert fault.field.endswith("tome")
    assert "is no field of the format" in fault.reason


def test_an_unknown_time_zone_and_role_are_refused(tmp_path: Path) -> None:
    value = talk(timezone="Mars/Phobos")
    message(value)["role"] = "system"
    found = {fault.field: fault.reason for fault in faults(write(tmp_path, value))}
    assert found["timezone"].startswith("unknown time zone 'Mars/Phobos'")
    assert "threads[0].messages[0].role" in found


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_bytes(json.dumps(TALK).encode() + b"\n\xff\xfe")
    assert "not UTF-8: byte" in only(path).reason


def test_half_of_a_surrogate_pair_is_refused_and_the_error_can_be_printed(tmp_path: Path) -> None:
    value = talk()
    message(value)["text"] = "\ud800"
    line = json.dumps(value | {"\ud801": 1})
    with pytest.raises(DatasetError) as caught:
        read_native(write(tmp_path, line))
    str(caught.value).encode("utf-8")


@pytest.mark.parametrize("depth", [150, 900, 100_000])
def test_deep_nesting_is_refused(tmp_path: Path, depth: int) -> None:
    line = json.dumps(talk(title=0)).replace('"title": 0', f'"title": {"[" * depth}{"]" * depth}')
    fault = only(write(tmp_path, line))
    assert fault.line == 1
    assert len(fault.reason) < 200


@pytest.mark.parametrize("number", ["9" * 5_000, "9" * 4_000, "1e999", "NaN"])
def test_a_huge_number_is_refused(tmp_path: Path, number: str) -> None:
    line = json.dumps(talk(title=0)).replace('"title": 0', f'"title": {number}')
    assert len(only(write(tmp_path, line)).reason) < 300


@pytest.mark.parametrize("line", ["[]", "null", "3", '"text"', "{}"])
def test_json_that_is_no_conversation_is_refused(tmp_path: Path, line: str) -> None:
    assert {fault.line for fault in faults(write(tmp_path, line))} == {1}


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    assert only(write(tmp_path, text)).reason == "there is no conversation in it"


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "cannot be read" in only(tmp_path / "nowhere.jsonl").reason
    assert "cannot be read" in only(tmp_path).reason


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_FILE", 10)
    assert only(write(tmp_path, TALK)).reason == "larger than 10 bytes"


def test_all_faults_are_reported_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    naive, missing, dangling = talk(id="a"), talk(id="b"), talk(id="c")
    message(naive)["time"] = "2026-03-01T10:00:00"
    naive["extra"] = 1
    del missing["threads"]
    dangling["questions"][0]["evidence"] = ["m9"]
    found = faults(write(tmp_path, naive, "not json", missing, dangling, talk(id="d")))
    assert [fault.line for fault in found] == [1, 1, 2, 3, 4]


def test_an_error_shows_fifty_faults_and_the_number_of_the_others(tmp_path: Path) -> None:
    path = write(tmp_path, *["x"] * 60)
    with pytest.raises(DatasetError) as caught:
        read_native(path)
    assert len(caught.value.faults) == 60
    assert "60 faults" in str(caught.value)
    assert "… and 10 more" in str(caught.value)


def test_broken_json_in_a_whole_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[1,\n2,\n"', encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        read_json(path)
    assert caught.value.faults[0].line == 3
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(DatasetError, match="nested too deeply"):
        read_json(path)


def test_a_dataset_has_the_hash_of_its_content_alone(tmp_path: Path) -> None:
    record = ConversationRecord.model_validate(TALK)
    native = read_native(write(tmp_path, TALK))
    made = make_dataset("name", "other", [record], [Repair("talk", "something")])
    assert made.sha256 == native.sha256
    assert len(made.sha256) == 64
    changed = talk()
    message(changed)["text"] += "!"
    assert read_native(write(tmp_path, changed)).sha256 != native.sha256


def test_the_hash_depends_on_the_instant_and_not_on_the_zone_it_is_written_in(
    tmp_path: Path,
) -> None:
    value = talk()
    message(value)["time"] = "2026-03-01T13:00:00+03:00"
    before = read_native(write(tmp_path, TALK))
    assert read_native(write(tmp_path, value)).sha256 == before.sha256


def test_make_dataset_refuses_no_conversation_and_a_repeated_one() -> None:
    record = ConversationRecord.model_validate(TALK)
    with pytest.raises(DatasetError, match="there is no conversation in it"):
        make_dataset("name", "other", [])
    with pytest.raises(DatasetError, match="'talk' is used twice"):
        make_dataset("name", "other", [record, record])


def test_a_question_is_asked_in_its_own_thread_or_in_the_last() -> None:
    value = talk()
    value["threads"].append({"id": "second", "messages": []})
    value["questions"].append(value["questions"][0] | {"id": "q2", "thread": "main"})
    record = ConversationRecord.model_validate(value)
    assert [record.asked_in(one) for one in record.questions] == ["second", "main"]


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
times = st.datetimes(
    datetime(1901, 1, 1),  # noqa: DTZ001 (hypothesis wants them naive)
    datetime(2199, 1, 1),  # noqa: DTZ001
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
)
roles = st.sampled_from(["user", "assistant", "tool"])


@st.composite
def conversations(draw: st.DrawFn) -> dict[str, Any]:
    spoken = draw(st.lists(st.tuples(roles, texts, times, texts), max_size=5))
    asked = draw(st.lists(st.tuples(texts, times, st.none() | texts, st.booleans()), max_size=3))
    return {
        "id": draw(texts),
        "title": draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
        "threads": [
            {
                "id": "main",
                "messages": [
                    {"id": f"m{n}", "role": role, "speaker": who, "time": time, "text": text}
                    for n, (role, who, time, text) in enumerate(spoken)
                ],
            }
        ],
        "questions": [
            {"id": f"q{n}", "text": text, "asked_at": time, "answer": answer, "answerable": can}
            for n, (text, time, answer, can) in enumerate(asked)
        ],
    }


@given(conversations())
def test_a_conversation_survives_being_written_and_read(value: dict[str, Any]) -> None:
    record = ConversationRecord.model_validate(value)
    line = to_line(record)
    assert "\n" not in line
    assert from_line(line) == record
    assert to_line(from_line(line)) == line
    assert all(one.time.tzinfo is not None for one in record.messages())
    assert all(one.time.utcoffset() == timedelta(0) for one in record.messages())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "threads", "messages", "time", "text", "questions", "x"]), inner
        )
    ),
    max_leaves=10,
)


@given(json_values, st.sampled_from([*TALK, "notes", "facts", "timezone", "persona"]))
def test_whatever_stands_in_a_field_a_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, value: object, field: str
) -> None:
    path = write(tmp_path_factory.getbasetemp(), talk(**{field: value}))
    try:
        found = read_native(path)
    except DatasetError as error:
        str(error).encode("utf-8")
        lines = {fault.line for fault in error.faults}
    else:
        lines = {found.counts["conversations"]}
    assert lines == {1}


def test_times_are_held_in_utc() -> None:
    value = talk()
    message(value)["time"] = "2026-03-01T13:00:00+03:00"
    record = ConversationRecord.model_validate(value)
    assert next(record.messages()).time == datetime(2026, 3, 1, 10, tzinfo=UTC)
