"""The support check: a line of a note against the messages that it cites."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
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
@pytest.mark.parametrize(("part", "accepted"), [("dev", 0.9), ("free", 0.5)])
def test_labelled_pairs_are_told_apart(language: str, part: str, accepted: float) -> None:
    found = measure(judge([one for one in PAIRS if (one.part, one.language) == (part, language)]))
    assert found["pairs"] >= 50
    assert found["supported_precision"]["value"] >= 0.95
    assert found["supported_recall"]["value"] >= accepted
    assert found["unsupported_recall"]["value"] >= 0.95


def test_no_other_number_name_date_or_negation_passes() -> None:
    strict = {"number", "name", "date", "negation"}
    judged = judge(
        [
            pair
            for pair in PAIRS
            if pair.kind in strict and not pair.supported and pair.part != "blind"
        ]
    )
    assert len(judged) > 60
    assert [one.pair.id for one in judged if one.verdict.ok] == []


@pytest.mark.parametrize("language", ["en", "ru"])
def test_false_lines_that_were_written_without_knowing_the_check_are_refused(language: str) -> None:
    pairs = [one for one in PAIRS if (one.part, one.language) == ("blind", language)]
    assert len(pairs) == 50
    assert measure(judge(pairs))["unsupported_recall"]["value"] >= 0.95


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


def several(line: str, *spoken: str) -> Verdict:
    """The verdict on a line from messages `Speaker: text`; a shop is who assists."""
    moment = datetime(2026, 3, 4, 10, tzinfo=UTC)
    sources = [
        Message(
            f"m{place}", "main", "assistant" if who in ("Shop", "Магазин") else "user", who,
            moment + timedelta(minutes=place), text,
        )
        for place, (who, _, text) in enumerate(one.partition(": ") for one in spoken)
    ]  # fmt: skip
    return supported(line, sources, zone=MOSCOW)


@pytest.mark.parametrize(
    ("text", "line", "near"),
    [
        # what is told apart from the clause that tells the fact
        ("well since you ask, it's Aug 19, my birthday I mean",
         "Anna's birthday is on 19 August", "Anna's birthday is on 18 August"),
        ("ну раз спросили: второго октября у меня день рождения",
         "День рождения Анны 2 октября", "День рождения Анны 3 октября"),
        ("thanks, flat 47, the intercom doesn't work",
         "Anna lives in flat 47", "Anna lives in flat 74"),
        ("договорилась с бригадой, в понедельник на следующей неделе начинают ремонт",
         "Бригада начнёт ремонт у Анны в понедельник, 9 марта",
         "Бригада начнёт ремонт у Анны в понедельник, 16 марта"),
        ("всё, машины больше нет, продала", "Анна продала машину", "Анна купила машину"),
        ("sold the Corsa, bought a Fiesta last week",
         "Anna bought a Fiesta", "Anna bought a Corsa"),
        ("I moved to Lisbon in 2019 and have been living here ever since",
         "Anna has lived in Lisbon since 2019", "Anna has lived in Lisbon since 2018"),
        ("в 2019 переехала в Казань и с тех пор тут живу",
         "Анна живёт в Казани с 2019 года", "Анна живёт в Казани с 2018 года"),
        ("Brightside, that's the company I work for, sent my brother flowers",
         "Anna works for a company called Brightside",
         "Anna's brother works for a company called Brightside"),
        # whose it is, and what it is called
        ("my plumber Stan came by",
         "Anna's plumber is called Stan", "Anna's plumber is called Joe"),
        ("my neighbour's plumber Stan came by",
         "Anna's neighbour's plumber Stan came by", "Anna's plumber is called Stan"),
        ("врач мужа – Ким", "Врач мужа Анны – Ким", "Врач Анны – Ким"),
        ("сын дома. у него температура", "У сына Анны температура", "У Анны температура"),
        ("подруга берёт кредит", "Подруга Анны берёт кредит", "Анна берёт кредит"),
        ("дочка ходит в школу, сын в садик",
         "Дочка Анны ходит в школу", "Сын Анны ходит в школу"),
        # exceptions, nearly all, conditions
        ("I eat everything except fish", "Anna does not eat fish", "Anna eats everything"),
        ("ем всё, кроме рыбы", "Анна не ест рыбу", "Анна не ест мясо"),
        ("apart from one or two my books are all in French",
         "Most of Anna's books are in French", "All of Anna's books are in French"),
        ("у меня книги, кроме двух, все на французском",
         "Почти все книги Анны на французском", "Все книги Анны на французском"),
        ("if it rains I'm staying at home",
         "If it rains, Anna will stay at home", "Anna will stay at home"),
        ("если будет дождь, останусь дома",
         "Если будет дождь, Анна останется дома", "Анна останется дома"),
        # numbers, times of day, days
        ("my meeting is at half past seven in the evening",
         "Anna's meeting is at 19:30", "Anna's meeting is at 7:30"),
        ("поезд без двадцати шесть утра", "Поезд Анны в 5:40", "Поезд Анны в 6:20"),
        ("the bag is two and a half kilos",
         "Anna's bag weighs 2.5 kg", "Anna's bag weighs 2 kg"),
        ("рюкзак килограммов шестнадцать",
         "Рюкзак Анны весит около 16 кг", "Рюкзак Анны весит 16 кг"),
        ("I work on Fridays", "Anna works every Friday", "Anna works on Friday, 6 March"),
        ("каждую субботу пеку пироги",
         "Анна по субботам печёт пироги", "Анна по воскресеньям печёт пироги"),
        ("quit sugar in january", "Anna quit sugar in January", "Anna quit sugar in June"),
        # verbs that only link
        ("Rome on 5 March, tickets are in my bag",
         "Anna flies to Rome on 5 March", "Anna flies to Oslo on 5 March"),
        ("ключи под ковриком, как всегда",
         "Ключи Анны лежат под ковриком", "Ключи Анны лежат под подушкой"),
        ("my train's at 7:30", "Anna's train leaves at 7:30", "Anna's train arrives at 7:30"),
        ("возьму три стула", "Анне нужны три стула", "Анне нужны четыре стула"),
        ("I'm allergic to cats", "Anna is allergic to cats", "Anna has cats"),
    ],
)  # fmt: skip
def test_a_free_restatement_is_supported_and_its_near_miss_is_not(
    text: str, line: str, near: str
) -> None:
    speaker = "Анна" if any("а" <= one <= "я" for one in text) else "Anna"
    assert verdict(line, text, speaker=speaker) == Verdict(True)
    assert not verdict(near, text, speaker=speaker).ok


@pytest.mark.parametrize(
    ("spoken", "line", "near"),
    [
        (["Bob: what soup did you make?", "Anna: Pumpkin!"],
         "Anna made pumpkin soup", "Bob made pumpkin soup"),
        (["Bob: how old is your daughter?", "Anna: nine"],
         "Anna's daughter is nine years old", "Anna is nine years old"),
        (["Bob: do you eat meat?", "Anna: yes"], "Anna eats meat", "Anna does not eat meat"),
        (["Боря: ты ешь мясо?", "Аня: да"], "Аня ест мясо", "Боря ест мясо"),
        (["Боря: как зовут кошку?", "Аня: Марта"],
         "Кошку Ани зовут Марта", "Собаку Ани зовут Марта"),
        (["Anna: I'd like six chairs", "Shop: Sure", "Anna: wait, make it eight"],
         "Anna wants eight chairs", "Anna wants six chairs"),
        (["Аня: возьму шесть стульев", "Магазин: Хорошо", "Аня: ой, лучше восемь"],
         "Ане нужны восемь стульев", "Ане нужны шесть стульев"),
        (["Anna: what size should I get?", "Shop: I would suggest M."],
         "The shop suggested size M to Anna", "The shop suggested size S to Anna"),
        (["Аня: какой размер брать?", "Магазин: Советуем взять 38-й."],
         "Магазин посоветовал Ане взять 38-й размер", "Магазин посоветовал Ане взять 39-й размер"),
        (["Gail: honestly I'd rather walk, it's near", "Rose: me too"],
         'Gail: "I\'d rather walk"', 'Rose: "I\'d rather walk"'),
    ],
)  # fmt: skip
def test_messages_are_read_together(spoken: list[str], line: str, near: str) -> None:
    assert several(line, *spoken) == Verdict(True)
    assert not several(near, *spoken).ok


@pytest.mark.parametrize(
    ("line", "spoken"),
    [
        ("Anna drinks tea", ["Bob: do you drink tea or coffee?", "Anna: coffee"]),
        ("Anna eats meat", ["Bob: do you eat meat?", "Anna: no"]),
        ("Anna eats meat", ["Bob: what don't you eat?", "Anna: meat"]),
        ("Anna ordered eight chairs", ["Anna: I ordered six chairs", "Bob: make it eight"]),
        ('Gail: "I have booked it"', ["Gail: I don't think I have booked it"]),
        ("If it is dry, Anna will go", ["Anna: it is dry, I will go"]),
        ("If Anna goes, it will be dry", ["Anna: if it is dry I will go"]),
        ("Anna lives in Rome", ["Anna: Rome is loud, I hate it"]),
        ("Anna's son lives in Rome", ["Anna: my son loves Rome"]),
        ("Anna keeps three hens", ["Anna: three hens next door, so loud"]),
        ("Anna will marry Tom", ["Bob: who will marry Tom?", "Anna: Kate"]),
        ("Anna wears size M", ["Anna: size M for my brother"]),
        ("Аня живёт на Лесной, 8", ["Аня: офис на Лесной, 8"]),
        ("Аня продала дачу", ["Аня: дача нужна, продала машину"]),
    ],
)
def test_what_messages_do_not_say_together_is_not_supported(line: str, spoken: list[str]) -> None:
    assert not several(line, *spoken).ok


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Anna likes tea and hates coffee", "I like coffee and hate tea."),
        ("Anna hates coffee", "I like coffee and hate tea."),
        ("Anna loves Bob and fears Max", "I love Max and fear Bob."),
        ("Anna drinks wine", "I drink tea and avoid wine."),
        ("Анна любит чай и ненавидит кофе", "Я люблю кофе и ненавижу чай."),
    ],
)
def test_what_one_verb_is_said_of_is_not_said_by_another(line: str, text: str) -> None:
    speaker = "Анна" if line[0] == "А" else "Anna"
    assert not verdict(line, text, speaker=speaker).ok
    assert verdict(text, text, speaker=speaker).ok


def test_a_message_of_a_megabyte_is_read_in_part_and_quickly() -> None:
    assert verdict("Anna's size is 38", "My size is 38. " * 70_000).ok
    assert not verdict("Anna's size is 38", "a," * 500_000).ok
