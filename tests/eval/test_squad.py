"""How an answer is compared with the gold answer."""

from __future__ import annotations

import pytest

from eval.squad import exact_match, f1, normalized


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The  Eiffel Tower!", "eiffel tower"),
        ("a man, an apple, the end", "man apple end"),
        ("then another theory", "then another theory"),
        ("16,3 см.", "163 см"),
        ("«Полярник» — тёмно-синий", "полярник темносиний"),
        ("ЁЖ", "еж"),
        ("а он", "а он"),
        ("$20 + 5%", "20 5"),
        ("ﬁne", "fine"),
        ("The.", ""),
    ],
)
def test_answers_are_compared_by_their_words(text: str, words: str) -> None:
    assert normalized(text) == words


def test_an_exact_match_ignores_case_articles_and_punctuation() -> None:
    assert exact_match("The blue one.", "blue one")
    assert exact_match("Тёмно-синий!", "темно-синий")
    assert not exact_match("blue one, I think", "blue one")


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("blue", "blue", 1.0),
        ("blue jacket", "blue", 2 / 3),
        ("red", "blue", 0.0),
        ("to be or not to be", "to be to", 2 * 3 / (6 + 3)),
        ("", "blue", 0.0),
        ("the", "a", 1.0),
        ("ваш размер 134", "134", 0.5),
    ],
)
def test_f1_is_of_the_tokens_with_their_multiplicity(
    answer: str, gold: str, expected: float
) -> None:
    assert f1(answer, gold) == pytest.approx(expected)
