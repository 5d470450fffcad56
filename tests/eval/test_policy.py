"""When the stated policy calls the search tool."""

from __future__ import annotations

import pytest

from eval.policy import searches


@pytest.mark.parametrize(
    "text",
    [
        "Which size did I order for Tim?",
        "Do you remember what the courier said?",
        "What was the number of the parcel?",
        "Remind me what we agreed about the discount.",
        "how long ago was that",
        "Have I told you who is allergic?",
        "The jacket we chose last week, is it here?",
        "Помнишь, какой размер у Тимофея?",
        "Какой размер я заказывала?",
        "Напомни, о чём мы договорились",
        "На сколько мы в прошлый раз договорились?",
        "сколько тогда вышло",
        "А ты мне уже говорил, сколько стоит доставка?",
        "Что я вам о себе рассказывала?",
        "Чья это была идея?",
    ],
)
def test_a_question_that_points_back_is_searched(text: str) -> None:
    assert searches("points-back", text)
    assert searches("points-back", text.upper())


@pytest.mark.parametrize(
    "text",
    [
        "Which jackets do you have?",
        "Please order two of them.",
        "I told you my size last week.",
        "How much is the delivery?",
        "Did",
        "",
        "Какие куртки есть в наличии?",
        "Закажи две, пожалуйста.",
        "Я же говорила, что размер 38.",
        "Сколько стоит доставка?",
        "Как дела?",
        "Вы доставите, если я заплачу?",
    ],
)
def test_what_is_no_question_or_points_nowhere_back_is_not(text: str) -> None:
    assert not searches("points-back", text)
    assert searches("always", text)


def test_yo_is_ye_and_a_curly_apostrophe_is_straight() -> None:
    assert searches("points-back", "О чём мы договорились?")
    assert searches("points-back", "Why wasn’t it delivered?")
