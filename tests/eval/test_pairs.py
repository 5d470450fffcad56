"""Whatever the source, the material says what was known when something was asked, and what answers
it; and every fault of an input is named with its line, field and reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval.calibration import calibrate
from eval.dataset import FactRecord, NoteRecord
from eval.errors import DatasetError
from eval.loaders import load, pairs_dataset
from eval.loaders.pairs import load_source
from eval.noise_floor import noise_floor
from eval.pairs import Group, Material, Passage, Query, Texts, make_material
from eval.score_column import (
    SHOWN,
    ScoreColumn,
    only_language,
    read_column,
    score_column,
    write_column,
)
from tests.eval.columns import IDENTITY, WordEmbedder, column
from tests.talks import asked, at, dataset, said, talk, write_dataset


def note(when: float, text: str, sources: Sequence[str], kind: Any = "dated") -> NoteRecord:
    return NoteRecord(kind=kind, time=at(when), text=text, sources=list(sources))


def conversation(id: str = "anna", **more: Any) -> Any:
    return talk(
        [
            said("m1", 0, "The parcel number is 4711."),
            said("m2", 1, "I wear size L."),
            said("m3", 5, "It rains again."),
        ],
        [
            asked("q1", 2, "Which parcel number?", ["m1"]),
            asked("q2", 9, "Which size?", ["m2"]),
            asked("q3", 9, "Which colour?", [], answerable=False),
            asked("q4", 9, "What of the trip?", ["m3"], answerable=False),
            asked("q5", 9, "Unlabelled?", []),
        ],
        id=id,
        **more,
    )


def material(kind: Any = "message", **more: Any) -> Material:
    return pairs_dataset.material(
        dataset(conversation("a", **more), conversation("b", **more)), kind
    )


def relevant_of(group: Group, query: str) -> list[str]:
    one = next(one for one in group.queries if one.id == query)
    return sorted(group.passages[place].id for place in one.relevant)


def faults_of(error: pytest.ExceptionInfo[DatasetError]) -> list[tuple[int, str, str]]:
    return [(fault.line, fault.field, fault.reason) for fault in error.value.faults]


def labelled(tmp_path: Path, text: str, name: str = "pairs.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# ---- conversations


def test_a_question_has_the_messages_said_before_it() -> None:
    group = material().groups[0]
    candidates = {one.id: len(one.candidates) for one in group.queries}
    assert candidates == {"q1": 2, "q2": 3, "q3": 3}
    assert relevant_of(group, "q1") == ["m1"]
    assert relevant_of(group, "q2") == ["m2"]


def test_an_unanswerable_question_has_irrelevant_passages_only() -> None:
    assert relevant_of(material().groups[0], "q3") == []


def test_what_cannot_be_labelled_is_left_out_and_counted() -> None:
    made = material()
    assert [one.id for one in made.groups[0].queries] == ["q1", "q2", "q3"]
    assert made.remarks[0].startswith("4 questions left out")


def test_notes_are_as_they_stood_when_the_question_was_asked() -> None:
    notes = [
        note(0.5, "Parcel 4711.", ["m1"], "page"),
        note(1.5, "- size L", ["m2"]),
        note(6, "Parcel 4711 has come.", ["m3"], "page"),
        note(1.6, "- likes green", []),
    ]
    made = material("note", notes=notes)
    group = made.groups[0]
    by_id = {one.id: [group.passages[at].id for at in one.candidates] for one in group.queries}
    assert by_id["q1"] == ["page (revision 1)", "2026-03-02 (revision 2)"]
    assert relevant_of(group, "q2") == ["2026-03-02 (revision 2)"]
    assert by_id["q2"] == ["2026-03-02 (revision 2)", "page (revision 2)"]
    assert {one.id: one.texts for one in group.passages}["2026-03-02 (revision 2)"] == (
        "size L",
        "likes green",
    )


def test_facts_answer_by_their_sources() -> None:
    facts = [
        FactRecord(id="f1", time=at(1), text="The parcel is 4711.", sources=["m1"]),
        FactRecord(id="f2", time=at(8), text="Anna wears L.", sources=["m2"]),
    ]
    group = material("fact", facts=facts).groups[0]
    assert relevant_of(group, "q1") == ["f1"]
    assert relevant_of(group, "q2") == ["f2"]


@pytest.mark.parametrize("kind", ["note", "fact"])
def test_a_kind_that_a_dataset_does_not_have_is_an_error_that_says_so(kind: str) -> None:
    with pytest.raises(DatasetError, match=f"there are no {kind}s in this dataset"):
        material(kind)


def test_a_single_conversation_is_refused() -> None:
    with pytest.raises(DatasetError, match="a single conversation"):
        pairs_dataset.material(dataset(conversation()))


def test_only_one_language_can_be_taken() -> None:
    made = pairs_dataset.material(load("shop"))
    assert made.languages == ("en", "mixed", "ru")
    assert made.only("ru").languages == ("ru",)
    assert made.only("ru").sha256 != made.sha256
    with pytest.raises(DatasetError, match="no language 'de'; there are en, mixed, ru"):
        made.only("de")


def test_the_bundled_dataset_gives_messages_and_notes() -> None:
    messages = load_source("shop")
    notes = load_source("shop", "note")
    assert isinstance(messages, Material)
    assert isinstance(notes, Material)
    assert messages.kind == "message"
    assert messages.counts["groups"] == 8
    assert messages.counts["queries"] == 216
    assert notes.counts["relevant"] > 50


def test_the_hash_is_of_the_content() -> None:
    assert material().sha256 == material().sha256
    groups = material().groups
    turned = make_material("other", "message", "conversation", reversed(groups))
    assert turned.sha256 == material().sha256
    assert len(material().sha256) == 64


# ---- the column


def test_each_distinct_text_is_embedded_once_in_batches() -> None:
    embedder, told = WordEmbedder(), []
    made = material()
    score_column(made, embedder, lambda done, total: told.append((done, total)))
    assert len(embedder.texts) == 3 + 3  # both conversations have the same texts
    assert embedder.calls == [(3, "query"), (3, "passage")]
    assert told == [(3, 6), (6, 6)]


def test_an_items_score_is_its_best_passages() -> None:
    passages = (Passage("one", ("red shoes", "a green hat")), Passage("two", ("blue coat",)))
    groups = [
        Group(name, passages, (Query("q", "green hat", "en", range(2), frozenset([0])),))
        for name in ("a", "b")
    ]
    frame = score_column(make_material("made", "note", "group", groups), WordEmbedder()).frame
    assert list(frame["passage"]) == ["one", "two", "one", "two"]
    assert frame["score"].iloc[0] == pytest.approx((2 / 3) ** 0.5, abs=1e-5)
    assert frame["score"].iloc[1] < 0.6
    assert list(frame["relevant"]) == [True, False, True, False]


def test_a_pair_is_scored_with_what_was_known_and_nothing_later() -> None:
    frame = score_column(material(), WordEmbedder()).frame
    of = frame[(frame["group"] == "a") & (frame["query"] == "q1")]
    assert list(of["passage"]) == ["m1", "m2"]


def test_a_column_is_written_and_read_with_what_made_it(tmp_path: Path) -> None:
    made = score_column(material(), WordEmbedder())
    write_column(made, tmp_path / "column.parquet")
    again = read_column(tmp_path / "column.parquet")
    pd.testing.assert_frame_equal(made.frame, again.frame)
    assert (again.identity, again.kind, again.data) == (IDENTITY, "message", material().sha256)
    assert again.remarks == made.remarks
    assert load_source(tmp_path / "column.parquet") is not None
    assert [path.name for path in tmp_path.iterdir()] == ["column.parquet"]


def test_long_texts_are_cut_in_the_column() -> None:
    groups = [
        Group(g, (Passage("p", ("word " * 200,)), Passage("o", ("x",))),
              (Query("q", "word", "en", range(2), frozenset([0])),))
        for g in "ab"
    ]  # fmt: skip
    frame = score_column(make_material("m", "note", "group", groups), WordEmbedder()).frame
    assert max(map(len, frame["passage_text"])) == SHOWN


def test_a_column_of_a_newer_format_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "column.parquet"
    path.write_bytes(b"PAR1 is not enough")
    with pytest.raises(DatasetError, match="no Parquet file that can be read"):
        read_column(path)
    pd.DataFrame({"score": [1.0]}).to_parquet(path)
    with pytest.raises(DatasetError, match="does not say what made it"):
        read_column(path)


def test_only_one_language_of_a_column_can_be_taken() -> None:
    one = column([0.9], [0.1], language="ru")
    assert only_language(one, "ru").languages == ("ru",)


# ---- labelled pairs

PAIRS = """query,passage,relevant,group
Which size?,She wears L.,true,anna
Which size?,It rains.,false,anna
Which parcel?,Number 4711.,1,boris
Which parcel?,It rains.,0,boris
"""


def test_a_csv_of_labelled_pairs_is_read(tmp_path: Path) -> None:
    made = load_source(labelled(tmp_path, PAIRS))
    assert isinstance(made, Material)
    assert made.counts == {"groups": 2, "queries": 2, "pairs": 4, "relevant": 2}
    assert (made.kind, made.grouped_by) == ("note", "group")


def test_json_lines_of_labelled_pairs_give_the_same(tmp_path: Path) -> None:
    rows = [
        {"query": "Which size?", "passage": "She wears L.", "relevant": True, "group": "anna"},
        {"query": "Which size?", "passage": "It rains.", "relevant": False, "group": "anna"},
        {"query": "Which parcel?", "passage": "Number 4711.", "relevant": 1, "group": "boris"},
        {"query": "Which parcel?", "passage": "It rains.", "relevant": 0, "group": "boris"},
    ]
    path = labelled(tmp_path, "\n".join(map(json.dumps, rows)), "pairs.jsonl")
    of_csv = load_source(labelled(tmp_path, PAIRS))
    of_lines = load_source(path)
    assert isinstance(of_csv, Material)
    assert isinstance(of_lines, Material)
    assert of_csv.sha256 == of_lines.sha256


def test_the_order_of_the_rows_changes_nothing(tmp_path: Path) -> None:
    first, *rows = PAIRS.strip().split("\n")
    turned = "\n".join([first, *reversed(rows)])
    one, other = (
        load_source(labelled(tmp_path, text, name))
        for text, name in ((PAIRS, "a.csv"), (turned, "b.csv"))
    )
    assert isinstance(one, Material)
    assert isinstance(other, Material)
    assert one.sha256 == other.sha256


def test_without_groups_each_query_is_one_and_it_is_said(tmp_path: Path) -> None:
    text = "\n".join(line.rpartition(",")[0] for line in PAIRS.strip().split("\n"))
    made = load_source(labelled(tmp_path, text))
    assert isinstance(made, Material)
    assert made.grouped_by == "query"
    assert "each query is a group of its own" in made.remarks[0]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("query,passage\na,b\n", (1, "relevant", "the column is missing")),
        ("query,passage,relevant\na,b,maybe\n", (2, "relevant", "'maybe' is neither true nor")),
        ("query,passage,relevant\na,,true\n", (2, "passage", "is empty")),
        ("query,passage,relevant\n,b,true\n", (2, "query", "is empty")),
        ("query,passage,relevant\na,b\n", (2, "", "another number of fields")),
        ("query,passage,relevant\n", (0, "", "there is no pair")),
        (PAIRS + "Which size?,It rains.,true,anna\n", (6, "relevant", "labelled otherwise")),
        (PAIRS.replace("boris", "anna"), (0, "group", "a single group")),
        (PAIRS.replace("true", "false").replace(",1,", ",0,"), (0, "relevant", "all 4 pairs")),
    ],
)
def test_every_fault_of_labelled_pairs_is_named(
    tmp_path: Path, text: str, fault: tuple[int, str, str]
) -> None:
    with pytest.raises(DatasetError) as error:
        load_source(labelled(tmp_path, text))
    line, field, reason = faults_of(error)[0]
    assert (line, field) == fault[:2]
    assert fault[2] in reason


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    text = "query,passage,relevant\na,b,maybe\n,b,true\na,b,\n"
    with pytest.raises(DatasetError) as error:
        load_source(labelled(tmp_path, text))
    assert [line for line, _, _ in faults_of(error)] == [2, 3, 4]


def test_an_empty_file_and_a_table_of_something_else_are_refused(tmp_path: Path) -> None:
    for text in ("", "name,age\nanna,7\n"):
        with pytest.raises(DatasetError, match="with query, passage, relevant"):
            load_source(labelled(tmp_path, text))
    with pytest.raises(DatasetError, match="the file is empty"):
        load_source(labelled(tmp_path, ""), format="pairs")
    with pytest.raises(DatasetError, match="'csv' is no format"):
        load_source(labelled(tmp_path, PAIRS), format="csv")


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.dataset.LARGEST_FILE", 10)
    with pytest.raises(DatasetError, match="larger than 10 bytes"):
        load_source(labelled(tmp_path, PAIRS))


# ---- ready score columns


def test_a_ready_score_column_is_read_from_csv_json_lines_and_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"score": [0.9, 0.1, 0.8, 0.2], "relevant": [True, False] * 2, "group": list("aabb")}
    )
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame.to_json(tmp_path / "s.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "s.parquet")
    read = [load_source(tmp_path / f"s.{end}") for end in ("csv", "jsonl", "parquet")]
    for one in read:
        assert isinstance(one, ScoreColumn)
        assert one.frame["score"].tolist() == [0.9, 0.1, 0.8, 0.2]
        assert (one.identity, one.kind) == (None, None)
    assert len({one.data if isinstance(one, ScoreColumn) else "" for one in read}) == 1


def test_a_column_without_groups_says_what_that_means(tmp_path: Path) -> None:
    made = load_source(labelled(tmp_path, "score,relevant\n0.9,1\n0.1,0\n"))
    assert isinstance(made, ScoreColumn)
    assert "pairs are taken as independent" in made.remarks[0]
    assert calibrate(made).counts.groups == 2


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("score,relevant\nnan,1\n0.5,0\n", (2, "score", "not finite")),
        ("score,relevant\ninf,1\n0.5,0\n", (2, "score", "not finite")),
        ("score,relevant\nhigh,1\n", (2, "score", "'high' is no number")),
        ("score,relevant\n,1\n", (2, "score", "'' is no number")),
        ("score,relevant\n0.5,2\n", (2, "relevant", "'2' is neither")),
        ("score,relevant\n0.5,1\n0.6,1\n", (0, "relevant", "all 2 pairs are relevant")),
        ("score,relevant\n", (0, "", "there is no row")),
        ("score,relevant,group\n0.5,1,a\n0.6,0,a\n", (0, "group", "a single group")),
    ],
)
def test_every_fault_of_a_score_column_is_named(
    tmp_path: Path, text: str, fault: tuple[int, str, str]
) -> None:
    with pytest.raises(DatasetError) as error:
        load_source(labelled(tmp_path, text))
    line, field, reason = faults_of(error)[0]
    assert (line, field) == fault[:2]
    assert fault[2] in reason


def test_a_nan_in_parquet_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    pd.DataFrame({"score": [0.5, float("nan")], "relevant": [True, False]}).to_parquet(path)
    with pytest.raises(DatasetError) as error:
        load_source(path)
    assert faults_of(error)[0][:2] == (2, "score")


def test_json_lines_with_broken_rows_are_refused(tmp_path: Path) -> None:
    text = '{"score": 0.5, "relevant": true}\nnot json\n[1]\n{"relevant": false}\n'
    with pytest.raises(DatasetError) as error:
        load_source(labelled(tmp_path, text, "s.jsonl"))
    assert [(line, field) for line, field, _ in faults_of(error)] == [
        (2, ""),
        (3, ""),
        (4, "score"),
    ]


def test_a_field_that_some_rows_lack_is_a_fault(tmp_path: Path) -> None:
    text = '{"score": 0.5, "relevant": true, "group": "a"}\n{"score": 0.4, "relevant": false}\n'
    with pytest.raises(DatasetError, match="missing in others"):
        load_source(labelled(tmp_path, text, "s.jsonl"))


# ---- text without labels


def test_a_text_file_gives_a_noise_floor_that_is_the_same_every_time(tmp_path: Path) -> None:
    lines = "\n".join(f"w{n} w{n + 1} w{n + 2} w{n * 7 % 50}" for n in range(60))
    found = load_source(labelled(tmp_path, lines + "\n\n", "lines.txt"))
    assert isinstance(found, Texts)
    one, other = noise_floor(found, WordEmbedder()), noise_floor(found, WordEmbedder())
    assert (one.texts, one.pairs) == (60, 60 * 59)
    assert one.p95 <= one.p99 <= one.scores.max()
    assert one.percentiles == other.percentiles
    assert one.identity == IDENTITY


def test_random_pairs_come_from_different_conversations() -> None:
    talks = [
        talk([said(f"{name}{n}", n, f"{name} {name}{n}") for n in range(3)], id=name)
        for name in ("tea", "coffee")
    ]
    found = pairs_dataset.texts(dataset(*talks))
    floor = noise_floor(found, WordEmbedder())
    assert floor.pairs == 2 * 3 * 3
    assert floor.grouped_by == "conversation"


def test_conversations_without_questions_are_text_without_labels(tmp_path: Path) -> None:
    path = write_dataset(
        tmp_path / "talks.jsonl",
        talk([said("a", 0, "Hello there.")], id="a"),
        talk([said("b", 0, "Good day.")], id="b"),
    )
    assert isinstance(load_source(path), Texts)


def test_text_of_a_single_conversation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="pairs from different ones take two or more"):
        load_source(labelled(tmp_path, "only one line\n", "one.txt"))


# ---- XQuAD and MADial-Bench

CONTEXT = "\ufeffThe parcel came on Monday. It weighed four kilos! Anna paid by card."


def squad(*articles: tuple[str, str, str]) -> dict[str, Any]:
    """Articles as (title, question, answer), all about `CONTEXT`."""
    return {
        "data": [
            {
                "title": title,
                "paragraphs": [
                    {
                        "context": CONTEXT,
                        "qas": [
                            {
                                "id": f"{title}-1",
                                "question": question,
                                "answers": [
                                    {"text": answer, "answer_start": CONTEXT.index(answer)}
                                ],
                            }
                        ],
                    }
                ],
            }
            for title, question, answer in articles
        ],
        "version": "1.1",
    }


def squad_file(folder: Path, name: str, *articles: tuple[str, str, str]) -> Path:
    path = folder / name
    path.write_text(json.dumps(squad(*articles)), encoding="utf-8")
    return path


def test_the_sentence_that_holds_the_answer_is_relevant(tmp_path: Path) -> None:
    path = squad_file(
        tmp_path, "xquad.en.json",
        ("Parcel", "How heavy was it?", "four kilos"), ("Shop", "When did it come?", "Monday"),
    )  # fmt: skip
    made = load_source(path)
    assert isinstance(made, Material)
    assert made.grouped_by == "article"
    texts = {
        group.id: [group.passages[place].texts[0] for place in group.queries[0].relevant]
        for group in made.groups
    }
    assert texts == {"Parcel": ["It weighed four kilos!"], "Shop": ["The parcel came on Monday."]}
    assert all(len(group.passages) == 3 for group in made.groups)


def test_titles_and_byte_order_marks_are_not_indexed(tmp_path: Path) -> None:
    made = load_source(squad_file(tmp_path, "x.en.json", ("Aa", "?", "card"), ("Bb", "?", "card")))
    assert isinstance(made, Material)
    texts = [text for group in made.groups for one in group.passages for text in one.texts]
    assert not any("Aa" in text or "\ufeff" in text for text in texts)


def test_a_folder_of_languages_keeps_translations_of_an_article_together(tmp_path: Path) -> None:
    for name in ("xquad.ru.dev.json", "xquad.en.dev.json"):
        squad_file(tmp_path, name, ("Aa", "How?", "card"), ("Bb", "When?", "Monday"))
    made = load_source(tmp_path)
    assert isinstance(made, Material)
    assert made.languages == ("en", "ru")
    assert [group.id for group in made.groups] == ["Aa", "Bb"]
    for query in made.groups[0].queries:
        found = {made.groups[0].passages[place].id[:2] for place in query.candidates}
        assert found == {query.language}


def test_an_answer_that_is_not_where_it_is_said_to_be_is_a_fault(tmp_path: Path) -> None:
    value = squad(("Aa", "How?", "card"), ("Bb", "When?", "Monday"))
    value["data"][1]["paragraphs"][0]["qas"][0]["answers"][0]["answer_start"] = 3
    path = labelled(tmp_path, json.dumps(value), "x.en.json")
    with pytest.raises(DatasetError) as error:
        load_source(path)
    assert faults_of(error) == [
        (0, "data[1].paragraphs[0].qas[0].answers", "the answer is not where it is said to be")
    ]


def madial(folder: Path, *dialogues: dict[str, Any]) -> Path:
    memories = {
        "1": "Bart danced at the party.", "2": "Bart likes mango.", "3": "Lisa plays chess.",
        "4": "Lisa has a cat.",
    }  # fmt: skip
    lines = [
        json.dumps({id: {"time": "2023-12-25", "event": text}}) for id, text in memories.items()
    ]
    (folder / "memory.jsonl").write_text("\n".join(lines), encoding="utf-8")
    said = [{"test-turn": [3], "relevant-id": [1], "user-id": 1} | one for one in dialogues]
    (folder / "dialogues.jsonl").write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    return folder


def dialogue(person: str, *texts: str) -> list[str]:
    return [
        "<BOD>\n",
        *(f'<{person}>: "{text}"\n' for text in texts),
        '<Assistant>: "!"\n',
        "<EOD>\n",
    ]


def test_a_dialogue_asks_with_what_was_said_before_the_turn_that_recalls(tmp_path: Path) -> None:
    made = load_source(
        madial(
            tmp_path,
            {"dialogue": dialogue("Bart", "Party soon.", "What to do?"), "test-turn": [3, 4]},
            {"dialogue": dialogue("Lisa", "Chess?", "Now?"), "relevant-id": [3]},
        )
    )
    assert isinstance(made, Material)
    assert (made.kind, made.grouped_by) == ("note", "dialogue")
    first, second = made.groups
    assert first.queries[0].text == "Party soon.\nWhat to do?"
    assert [first.passages[place].id for place in first.queries[0].candidates] == ["1", "2"]
    assert [second.passages[place].id for place in second.queries[0].candidates] == ["3", "4"]
    assert any("over the same memories" in one for one in made.remarks)
    assert any("1 later turns left out" in one for one in made.remarks)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"relevant-id": [99]}, "relevant-id"), ({"test-turn": [0]}, "test-turn"),
     ({"relevant-id": []}, "relevant-id"), ({"dialogue": []}, "dialogue")],
)  # fmt: skip
def test_a_fault_of_a_dialogue_is_named_with_its_line(
    tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    good = {"dialogue": dialogue("Bart", "Party soon.", "What to do?")}
    with pytest.raises(DatasetError) as error:
        load_source(madial(tmp_path, good, good | change))
    assert faults_of(error)[0][:2] == (2, field)


def test_the_public_files_give_the_counts_that_are_known_of_them(shared_data: Path) -> None:
    for language, sentences in (("ru", 16_955), ("en", 16_070)):
        path = shared_data / "xquad" / f"xquad.{language}.dev.json"
        if not path.exists():
            pytest.skip(f"{path} is not there")
        found = load_source(path)
        assert isinstance(found, Material)
        assert found.languages == (language,)
        assert found.counts | {"relevant": 0} == {
            "groups": 24, "queries": 632, "pairs": sentences, "relevant": 0,
        }  # fmt: skip
        assert 632 <= found.counts["relevant"] <= 660
    memories = load_source(shared_data / "madial_en")
    assert isinstance(memories, Material)
    assert memories.counts["groups"] == memories.counts["queries"] == 80
    assert memories.counts["pairs"] == 41 * 76 + 39 * 84
    assert len(memories.groups[0].passages) == 160


def test_a_column_that_is_there_twice_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("score,score,relevant\n0.5,0.6,1\n0.3,0.2,0\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="score: the column is there twice"):
        load_source(path)


def test_a_lone_surrogate_in_a_pair_becomes_the_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"query": "a", "passage": "\ud800 lone", "relevant": True, "group": "g"},
        {"query": "b", "passage": "whole", "relevant": False, "group": "\udfff"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = load_source(path)
    assert isinstance(found, Material)
    texts = [text for group in found.groups for one in group.passages for text in one.texts]
    assert sorted(texts) == ["whole", "\ufffd lone"]


def test_two_scores_are_too_little_and_do_not_overlap(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("score,relevant\n0.5,1\n0.3,0\n", encoding="utf-8")
    found = load_source(path)
    assert isinstance(found, ScoreColumn)
    assert calibrate(found).reason == "uncertain"


@pytest.mark.parametrize("extra", ["\ud800 lone", "a\0b", "\0"])
def test_odd_characters_go_through_pairs_and_score_columns(tmp_path: Path, extra: str) -> None:
    rows = [
        {"query": f"{extra}q{n % 3}", "passage": f"{extra}{n}", "relevant": n < 3, "score": n / 9,
         "group": f"{extra}{n % 3}", "language": f"{extra}{n % 2}"}
        for n in range(9)
    ]  # fmt: skip
    path = labelled(tmp_path, "\n".join(map(json.dumps, rows)), "rows.jsonl")
    pairs, ready = load_source(path, format="pairs"), load_source(path)
    assert isinstance(pairs, Material)
    assert isinstance(ready, ScoreColumn)
    assert pairs.counts["groups"] == 3
    for one in (score_column(pairs, WordEmbedder()), ready):
        write_column(one, tmp_path / "column.parquet")
        again = read_column(tmp_path / "column.parquet")
        assert calibrate(again).counts.groups == 3
    unlabelled = [{"score": one["score"], "group": one["group"]} for one in rows]
    text = "\n".join(map(json.dumps, unlabelled))
    assert isinstance(load_source(labelled(tmp_path, text, "later.jsonl")), ScoreColumn)


def test_a_nul_in_text_without_labels_is_text(tmp_path: Path) -> None:
    found = load_source(labelled(tmp_path, "a\0b c\nd\0\n\0\n", "lines.txt"))
    assert isinstance(found, Texts)
    assert noise_floor(found, WordEmbedder()).texts == 3


def test_a_lone_surrogate_in_a_dialogue_is_a_fault_with_its_line(tmp_path: Path) -> None:
    good = {"dialogue": dialogue("Bart", "Party soon.", "What to do?")}
    bad = {"dialogue": dialogue("Bart", "Party \ud800 soon.", "What to do?")}
    with pytest.raises(DatasetError) as error:
        load_source(madial(tmp_path, good, bad))
    assert [line for line, _, _ in faults_of(error)] == [2]


def test_a_doubled_column_of_parquet_is_a_fault_and_columns_without_a_name_are_none(
    tmp_path: Path,
) -> None:
    path = tmp_path / "twice.parquet"
    score = pa.array([0.5, 0.3])
    pq.write_table(pa.Table.from_arrays([score, score], names=["score", "score"]), path)
    with pytest.raises(DatasetError, match="score: the column is there twice"):
        load_source(path)
    text = "score,relevant,,\n0.5,1,,\n0.3,0,,\n"
    assert isinstance(load_source(labelled(tmp_path, text, "s.csv")), ScoreColumn)


def test_a_damaged_parquet_file_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    pd.DataFrame({"score": [0.5, 0.3] * 500, "relevant": [True, False] * 500}).to_parquet(path)
    whole = path.read_bytes()
    for content in (whole[:-100], whole[:20], b"", whole[:4] + b"\xff" * 300 + whole[304:]):
        path.write_bytes(content)
        with pytest.raises(DatasetError, match="it is damaged or cut off"):
            load_source(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_table_must_be_utf_8(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text("score,relevant\n0.5,1\n0.3,0\n", encoding=encoding)
    with pytest.raises(DatasetError, match="a file must be UTF-8"):
        load_source(path)


def test_rows_that_repeat_a_pair_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = PAIRS + "Which size?,It rains.,false,anna\nWhich size? , She wears L.,yes,anna\n"
    made = load_source(labelled(tmp_path, rows))
    once = load_source(labelled(tmp_path, PAIRS))
    assert isinstance(made, Material)
    assert isinstance(once, Material)
    assert made.remarks == ("2 rows left out: the same pair was there before",)
    assert (made.sha256, once.remarks) == (once.sha256, ())


def test_equal_lines_are_one_distinct_line(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="there is one distinct line in 300 lines"):
        load_source(labelled(tmp_path, "the same\n" * 300, "same.txt"))
