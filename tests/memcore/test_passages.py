"""The text that is embedded for an item."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcore import Note
from memcore.passages import QUERY_SIZE, SIZE, of_message, of_note, of_query
from memcore.text import pieces
from tests.support import START, say


def note(text: str) -> Note:
    return Note("page", text, 1, START, "import")


def test_a_message_is_its_speaker_and_its_text() -> None:
    assert of_message(say("m", "Roses bloom.\nIn June")) == ["Anna: Roses bloom.\nIn June"]
    assert of_message(say("m", "Roses", speaker=" ")) == ["Roses"]
    assert of_message(say("m", "👍 …")) == []


def test_a_long_message_is_cut_at_sentence_ends_each_part_with_the_speaker() -> None:
    sentence = "This sentence has some words. "
    parts = of_message(say("m", sentence * 200))
    assert len(parts) > 3
    assert all(part.startswith("Anna: This") and part.endswith("words.") for part in parts)
    assert max(map(len, parts)) <= SIZE
    assert sum(part.count("sentence") for part in parts) == 200
    assert [len(one) for one in of_message(say("m", "x" * 4000))] == [SIZE, SIZE, 1018]


def test_a_note_is_its_lines_without_the_marks_of_lists_and_headings() -> None:
    lines = ["# Anna", "", "- [ ] buy milk", "* * nested", "1. first", "> quoted", "---", "12."]
    text = "\n".join([*lines, "-5 degrees", "**bold** one"])
    expected = [
        "Anna",
        "buy milk",
        "nested",
        "first",
        "quoted",
        "12.",
        "-5 degrees",
        "**bold** one",
    ]
    assert of_note(note(text)) == expected
    assert of_note(note("---\n***")) == []
    assert max(map(len, of_note(note("word " * 390)))) <= SIZE


def test_of_a_long_query_its_beginning_and_its_end_count() -> None:
    assert of_query("short") == "short"
    assert of_query("x" * QUERY_SIZE) == "x" * QUERY_SIZE
    assert of_query("a" * 1500 + "b" * 1500) == "a" * 1000 + "\n" + "b" * 1000


@given(st.text(), st.integers(40, 200))
def test_pieces_fit_and_leave_nothing_but_white_space_out(text: str, limit: int) -> None:
    found = pieces(text, limit)
    assert all(0 < end - start <= limit for start, end in found)
    edges = [0, *(edge for bounds in found for edge in bounds), len(text)]
    assert edges == sorted(edges)
    outside = "".join(text[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2))
    assert outside.strip() == ""
