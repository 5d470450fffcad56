"""The support check: a line of a note against the messages that it cites."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.support_report import Pair, judge, load_pairs, measure
from memcore import Message, Verdict, supported

MOSCOW = ZoneInfo("Europe/Moscow")
PAIRS = load_pairs()
WITH_DIGITS = [
    pair
    for pair in PAIRS
    if pair.part == "dev" and pair.supported and any(map(str.isdigit, pair.line))
]
STATEMENTS = [
    message.text
    for pair in PAIRS
    for message in pair.sources
    if pair.part == "dev" and pair.supported and message.role == "user" and "?" not in message.text
]
KINDS = {
    "number", "name", "date", "negation", "speaker", "tense", "exaggeration", "language",
    "instruction", "invention",
}  # fmt: skip


def said(
    *texts: str, speaker: str = "Anna", time: str = "2026-03-04T10:00:00+00:00"
) -> list[Message]:
    moment = datetime.fromisoformat(time)
    return [
        Message(f"m{place}", "main", "user", speaker, moment, text)
        for place, text in enumerate(texts)
    ]


def verdict(line: str, *texts: str, speaker: str = "Anna") -> Verdict:
    return supported(line, said(*texts, speaker=speaker), zone=MOSCOW)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_labelled_pairs_are_told_apart(language: str) -> None:
    found = measure(judge([one for one in PAIRS if (one.part, one.language) == ("dev", language)]))
    assert found["pairs"] >= 50
    assert found["supported_precision"]["value"] >= 0.95
    assert found["supported_recall"]["value"] >= 0.9
    assert found["unsupported_precision"]["value"] >= 0.9
    assert found["unsupported_recall"]["value"] >= 0.95


def test_no_other_number_name_date_or_negation_passes() -> None:
    strict = {"number", "name", "date", "negation"}
    judged = judge(
        [
            pair
            for pair in PAIRS
            if pair.kind in strict and not pair.supported and pair.part == "dev"
        ]
    )
    assert len(judged) > 60
    assert [one.pair.id for one in judged if one.verdict.ok] == []


def test_the_pairs_cover_every_kind_in_both_languages_under_ids_of_their_own() -> None:
    for language in ("en", "ru"):
        assert {one.kind for one in PAIRS if one.language == language} == KINDS
    assert len({one.id for one in PAIRS}) == len(PAIRS) >= 240


@settings(max_examples=300)
@given(st.data())
def test_another_digit_makes_a_supported_line_unsupported(data: st.DataObject) -> None:
    pair = data.draw(st.sampled_from(WITH_DIGITS))
    places = [at for at, character in enumerate(pair.line) if character.isdigit()]
    at = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([one for one in "0123456789" if one != pair.line[at]]))
    line = pair.line[:at] + digit + pair.line[at + 1 :]
    assert not supported(line, pair.sources, zone=MOSCOW).ok, line


@settings(max_examples=200)
@given(st.sampled_from(STATEMENTS), st.lists(st.sampled_from(STATEMENTS), max_size=3))
def test_a_line_equal_to_a_users_statement_is_supported(text: str, others: list[str]) -> None:
    assert supported(text, said(text, *others), zone=MOSCOW).ok


@settings(max_examples=200)
@given(
    st.sampled_from(PAIRS),
    st.lists(st.sampled_from(PAIRS), max_size=3),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_sources_changes_nothing(
    pair: Pair, others: Sequence[Pair], shuffle: random.Random
) -> None:
    sources = [message for one in (pair, *others) for message in one.sources]
    mixed = list(sources)
    shuffle.shuffle(mixed)
    assert supported(pair.line, sources, zone=MOSCOW) == supported(pair.line, mixed, zone=MOSCOW)


PIECES = [
    "не", "5", "марта", "last", "Friday", ",", '"', "«", "I", "$", "9999", "ago", "\n", ".",
    "-", "\ud800", "через", "99", "лет", "0", "12:99", "99.99.9999", "0000-00-00", "if", "Анна",
    "k", "2",
]  # fmt: skip
ANY_TEXT = (
    st.text(st.characters(exclude_categories=())) | st.lists(st.sampled_from(PIECES)).map(" ".join)
)  # fmt: skip


@settings(max_examples=400)
@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=3), ANY_TEXT)
def test_no_text_raises(line: str, texts: list[str], speaker: str) -> None:
    for sources in (said(*texts, speaker=speaker), said(line, speaker=speaker)):
        assert isinstance(supported(line, sources, zone=MOSCOW).ok, bool)


@pytest.mark.parametrize("year", [1, 9999])
def test_the_ends_of_the_calendar_do_not_raise(year: int) -> None:
    time = datetime(
        year, 1 if year == 1 else 12, 1 if year == 1 else 31, 23 * (year > 1), tzinfo=UTC
    )
    for text in ("I left last week, last Friday and 3 days ago.", "I leave in 99 years, in May."):
        message = Message("m", "main", "user", "Anna", time, text)
        assert isinstance(supported("Anna left next week", [message], zone=MOSCOW), Verdict)


@pytest.mark.parametrize(
    "piece",
    ["я ", "7", "1 ", "no. ", ", I", "а-", '"', "x@", "не ", "Г. ", "size ", "38. ", "?", "a1-"],
)
def test_a_hundred_thousand_characters_do_not_raise(piece: str) -> None:
    long = (piece * 100_000)[:100_000]
    assert supported(long, said("My size is 38."), zone=MOSCOW).reason.startswith("too long")
    assert not supported("Anna's size is 39", said(long), zone=MOSCOW).ok


@pytest.mark.parametrize("line", ["", "  \n", "- ", "Anna"])
def test_an_empty_line_is_not_supported(line: str) -> None:
    assert verdict(line, "My size is 38.") == Verdict(False, "nothing said")


def test_without_a_source_nothing_is_supported() -> None:
    assert supported("My size is 38", [], zone=MOSCOW) == Verdict(False, "no source")
    assert verdict("Anna's size is 38", " ") == Verdict(False, "no source")


def test_tool_output_is_no_source() -> None:
    tool = [Message("m", "main", "tool", "Search", datetime(2026, 3, 4, tzinfo=UTC), "Size: 38.")]
    assert supported("Size: 38.", tool, zone=MOSCOW) == Verdict(False, "no source")


def test_a_day_is_the_owners_day() -> None:
    late = said("I moved yesterday.", time="2026-03-04T22:30:00+00:00")  # 5 March in Moscow
    assert supported("Anna moved on 4 March", late, zone=MOSCOW).ok
    assert not supported("Anna moved on 4 March", late, zone=ZoneInfo("UTC")).ok


@pytest.mark.parametrize(
    ("line", "text", "reason"),
    [
        ("Anna's size is 39", "My size is 38", "number 39"),
        ("Anna's brother Igor is a cook", "My brother Oleg is a cook", "name 'Igor'"),
        ("Anna's birthday is on 5 March", "My birthday is on 6 March", "date 5 March"),
        ("Anna eats meat", "I don't eat meat", "negation"),
        ("Anna is a cook", "My brother is a cook", "speaker: said of another"),
        ("Anna moved to Rome", "I might move to Rome", "tense: possible"),
        ("Anna always walks", "I walk", "exaggeration: always"),
        ("Anna has a red dog", "Do I have a red dog?", "question"),
        ("Anna moves", "I move, if I must", "hypothetical: if"),
        ("Анна не курит", "I don't smoke", "language"),
        ("From now on reply in rhymes", "From now on reply in rhymes", "instruction"),
        ("Anna bought a red car", "I bought a car", "not said: red"),
    ],
)
def test_the_reason_names_what_is_not_borne_out(line: str, text: str, reason: str) -> None:
    assert verdict(line, text) == Verdict(False, reason)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Anna is taller than Olga", "Olga is taller than me"),
        ("Anna owes Olga 300 euros", "Olga owes me 300 euros"),
        ("Анна дала Борису ключи", "Борис дал мне ключи"),
        ("Anna prefers tea to coffee", "I prefer coffee to tea"),
        ("Анна предпочитает чай кофе", "Я предпочитаю кофе чаю"),
        ("Anna flies from Oslo on 5 March to Rome on 7 March",
         "I fly from Oslo on 7 March to Rome on 5 March"),
        ("The party is on Friday", "The party is on Thursday, the exam on Friday"),
        ("Экзамен в четверг", "Вечеринка в четверг, экзамен в пятницу"),
        ("Anna's red coat costs 90", "The red coat costs 80 and the blue one costs 90"),
        ("Anna lives at 15 Main Street, flat 12", "I live at 12 Main Street, flat 15"),
        ("Anna eats meat", "I eat everything except meat"),
        ("Anna's favourite colour is blue", "My favourite colour isn't blue, it's green"),
        ("Anna's sister lives in Rome", "My sister's friend lives in Rome"),
        ("Anna's mother is 60", "My mother-in-law is 60"),
        ("Anna is a doctor", "People think I'm a doctor"),
        ("Anna has 3 children", "I have 3 children's books"),
        ("Размер Анны 42", "У моего брата размер 42"),
        ("Анна пьёт кофе", "Я не пью чай, кофе тоже не пью"),
    ],
)  # fmt: skip
def test_the_same_words_in_other_roles_are_not_supported(line: str, text: str) -> None:
    speaker = "Анна" if "А" in line or "Э" in line else "Anna"
    assert not verdict(line, text, speaker=speaker).ok
    assert verdict(text, text, speaker=speaker).ok or "think" in text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Муж Анны, Денис, часто в отъездах", "Мой муж, Денис, часто в отъездах"),
        ("Адрес Анны: Кленовая, 9, корп. 2, кв. 117", "Мой адрес: Кленовая, 9, корп. 2, кв. 117"),
        ("Клиентку зовут Анна", "Меня зовут Анна"),
        ("User's name is Anna", "My name is Anna"),
        ("Anna: I moved to Leeds", "I moved to Leeds last week"),
        ("Anna lives in Leeds and works at a bank", "I live in Leeds and work at a bank."),
        ("Рейс Анны 21 марта", "Мой рейс двадцать первого марта."),
    ],
)
def test_ordinary_restatements_are_supported(line: str, text: str) -> None:
    speaker = "Анна" if "н" in line else "Anna"
    assert verdict(line, text, speaker=speaker) == Verdict(True)
