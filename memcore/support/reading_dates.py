"""Where a text names a time, and which: digits, months, weekdays, years, relative words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache

from memcore.support.dates import When, away, one_day, weekday_near, whole
from memcore.support.numbers import may_begin_number, number_value
from memcore.support.tokens import Token
from memcore.support.words import is_russian, lemma, listed, tags

_MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    )
    for number, name in enumerate(names.split(), 1)
} | {"sept": 9}
_MARCH = frozenset(("марта", "марте", "марту"))
"""Forms that may be read as the name Марта first."""
_WEEKDAYS = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "понедельник вторник среда четверг пятница суббота воскресенье",
        "пн вт ср чт пт сб вс",
    )
    for number, name in enumerate(names.split())
}
_DAYS = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "сегодня": 0, "завтра": 1,
    "послезавтра": 2, "вчера": -1, "позавчера": -2, "сегодняшний": 0, "завтрашний": 1,
    "вчерашний": -1,
}  # fmt: skip
_NEAR = {
    "next": 1, "last": -1, "this": 0, "coming": 0, "previous": -1, "следующий": 1, "прошлый": -1,
    "будущий": 1, "этот": 0, "ближайший": 0, "прошедший": -1, "нынешний": 0,
}  # fmt: skip
_PERIODS = {
    "day": "day", "days": "day", "week": "week", "weeks": "week", "month": "month",
    "months": "month", "year": "year", "years": "year", "день": "day", "неделя": "week",
    "месяц": "month", "год": "year",
}  # fmt: skip
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "ten": 10, "два": 2, "три": 3, "четыре": 4, "пять": 5, "шесть": 6, "семь": 7, "десять": 10,
    "один": 1, "пара": 2,
}  # fmt: skip
_SIDES = {
    "from": "from", "since": "from", "с": "from", "со": "from", "от": "from", "until": "until",
    "till": "until", "to": "until", "по": "until", "до": "until", "by": "by", "к": "by",
    "before": "before", "after": "after", "после": "after", "перед": "before",
}  # fmt: skip
_BEFORE_YEAR = listed("in since by until from till before after of в с до к по от")
_BEFORE_MONTH = listed("in since until by from till before after of this for")
_YEAR = re.compile(r"(?:19|20)\d\d")


@lru_cache(maxsize=50_000)
def may_begin_when(word: str) -> bool:
    """Whether a word can be the first of a named time."""
    base = lemma(word)
    tables = (_DAYS, _NEAR, _MONTHS, _WEEKDAYS, _COUNTS, _PERIODS)
    if may_begin_number(word):  # the fifth of March
        return True
    if word in _MARCH or word in ("in", "через", "the") or may_be_weekday(word):
        return True
    return any(base in one for one in tables)


def may_be_weekday(word: str) -> bool:
    """Whether a word is a weekday."""
    return (lemma(word) if is_russian(word) else word.removesuffix("s")) in _WEEKDAYS


def read_when(tokens: Sequence[Token], at: int, today: date) -> tuple[When, int] | None:
    """The time that is named from a token on, and the place behind it; None where none is."""
    found = _relative(tokens, at, today) or _absolute(tokens, at)
    if found is None:
        return None
    before = at - 1
    while before >= 0 and tokens[before].low in ("the", "on", "of", "в"):
        before -= 1
    side = _SIDES.get(_low(tokens, before), "")
    if found[0].weekday is not None and _is_each(tokens[at].low, _low(tokens, before)):
        side = "each"
    return replace(found[0], side=side), found[1]


def _is_each(word: str, before: str) -> bool:
    """Whether every such weekday is meant: on Fridays, every Friday, по пятницам."""
    if is_russian(word):
        return lemma(before) == "каждый" or (before == "по" and {"datv", "plur"} <= tags(word))
    return before in ("every", "each") or word.endswith("days")


def _absolute(tokens: Sequence[Token], at: int) -> tuple[When, int] | None:
    token = tokens[at]
    if token.kind in ("iso", "dotted"):
        return _in_digits(token, at + 1)
    number, after = _small(token), at + 1
    if number is None and token.kind == "word" and may_begin_number(token.low):
        value, after = number_value(tokens, at)
        number = int(value) if value is not None else None
    if number is not None:
        after += _low(tokens, after) == "of"
        named = _month(tokens, after, beside=True)
        if named is not None:
            year, after = _year(tokens, after + 1)
            return _checked(year, named, number, after)
    if (named := _month(tokens, at, beside=_is_day(tokens, at + 1))) is not None:
        day = _small(tokens[at + 1]) if at + 1 < len(tokens) else None
        if day is not None and 1 <= day <= 31 and not is_russian(token.low):
            year, after = _year(tokens, at + 2)
            return _checked(year, named, day, after)
        if _is_month_alone(tokens, at):
            year, after = _year(tokens, at + 1)
            return When(year, named), after
    if (weekday := _weekday(token)) is not None:
        return When(weekday=weekday), at + 1
    return _bare_year(tokens, at)


def _is_day(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token is the day behind an English month."""
    day = _small(tokens[at]) if at < len(tokens) else None
    return day is not None and 1 <= day <= 31


def _in_digits(token: Token, after: int) -> tuple[When, int] | None:
    parts = list(map(int, re.split(r"[-.]", token.low)))
    if token.kind == "iso":
        return _checked(parts[0], parts[1], parts[2], after)
    year = parts[2] + (2000 if parts[2] < 100 else 0) if len(parts) > 2 else None
    return _checked(year, parts[1], parts[0], after)


def _checked(year: int | None, month: int, day: int, after: int) -> tuple[When, int] | None:
    leap = 2024 if year is None else year
    return (When(year, month, day), after) if whole(leap, month, day) else None


def _bare_year(tokens: Sequence[Token], at: int) -> tuple[When, int] | None:
    token = tokens[at]
    if token.kind != "number" or not _YEAR.fullmatch(token.low):
        return None
    marked = lemma(_low(tokens, at + 1)) in ("год", "г", "гг")
    if marked or _low(tokens, at - 1) in _BEFORE_YEAR:
        return When(int(token.low)), at + 1 + marked
    return None


def _year(tokens: Sequence[Token], at: int) -> tuple[int | None, int]:
    """The year that follows a month, perhaps behind a comma, and the place behind it."""
    place = at + (_low(tokens, at) in (",", "of"))
    if _YEAR.fullmatch(_low(tokens, place)):
        marked = lemma(_low(tokens, place + 1)) in ("год", "г")
        return int(tokens[place].low), place + 1 + marked
    return None, at


def _small(token: Token) -> int | None:
    match = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|-?го|-?е|-?му|-?ое)?", token.low)
    return int(match[1]) if match and token.kind in ("number", "code") else None


def _low(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].low if 0 <= at < len(tokens) else ""


def _month(tokens: Sequence[Token], at: int, beside: bool) -> int | None:
    """The month at a token; English ones need a capital letter unless beside a day."""
    word = _low(tokens, at)
    if not word:
        return None
    if is_russian(word):
        return 3 if word in _MARCH else _MONTHS.get(lemma(word))
    before = _low(tokens, at - 1)
    sure = before in ("in", "since", "until", "till") or (
        word not in ("may", "march", "mar") and before in _BEFORE_MONTH
    )
    return _MONTHS.get(word) if beside or sure or tokens[at].capital else None


def _is_month_alone(tokens: Sequence[Token], at: int) -> bool:
    word = tokens[at].low
    if is_russian(word):
        return not (tokens[at].capital and word in _MARCH)
    ambiguous = word in ("may", "march", "mar", "jan", "dec", "april", "june", "august")
    return not ambiguous or _low(tokens, at - 1) in _BEFORE_MONTH


def _weekday(token: Token) -> int | None:
    low = token.low
    return _WEEKDAYS.get(lemma(low) if is_russian(low) else low.removesuffix("s"))


def _relative(tokens: Sequence[Token], at: int, today: date) -> tuple[When, int] | None:
    word = tokens[at].low
    base = lemma(word) if is_russian(word) else word
    if base in _DAYS:
        return _day(today, _DAYS[base]), at + 1
    if (weekday := _weekday(tokens[at])) is not None:
        return _of_week(tokens, at, weekday, today)
    place = at + (word == "the")
    if _low(tokens, place) == "day" and _low(tokens, place + 1) in ("after", "before"):
        ahead = 1 if tokens[place + 1].low == "after" else -1
        if _low(tokens, place + 2) == ("tomorrow" if ahead == 1 else "yesterday"):
            return _day(today, 2 * ahead), place + 3
    if base in _NEAR and at + 1 < len(tokens):
        return _near(tokens, at, _NEAR[base], today)
    if word in ("in", "через"):
        count, after = _count(tokens, at + 1)
        if period := _PERIODS.get(lemma(_low(tokens, after))):
            return away(today, count, period), after + 1
    count, after = _count(tokens, at)
    period = _PERIODS.get(lemma(_low(tokens, after)))
    if period and _low(tokens, after + 1) in ("ago", "назад"):
        return away(today, -count, period), after + 2
    return None


def _of_week(
    tokens: Sequence[Token], at: int, weekday: int, today: date
) -> tuple[When, int] | None:
    """A weekday with the week that it is of: Friday this week, в среду на следующей неделе."""
    place = at + 1
    while _low(tokens, place) in ("of", "on", "на"):
        place += 1
    ahead = _NEAR.get(lemma(_low(tokens, place))) if place < len(tokens) else None
    if ahead is None or _PERIODS.get(lemma(_low(tokens, place + 1))) != "week":
        return None
    return weekday_near(today, weekday, ahead), place + 2


def _count(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """How many of a period, and the place of its name: `in 3 days`, `через неделю`."""
    word = _low(tokens, at)
    if re.fullmatch(r"\d{1,3}", word):
        return int(word), at + 1
    found = _COUNTS.get(lemma(word)) if word else None
    return (found, at + 1) if found else (1, at)


def _near(tokens: Sequence[Token], at: int, ahead: int, today: date) -> tuple[When, int] | None:
    """Next, last or this week, month, year or weekday. A weekday next is one of the next week."""
    weekday = _weekday(tokens[at + 1])
    if weekday is not None:
        return weekday_near(today, weekday, ahead), at + 2
    period = _PERIODS.get(lemma(tokens[at + 1].low))
    if period in (None, "day"):
        return None
    return away(today, ahead, str(period), full=True), at + 2


def _day(today: date, ahead: int) -> When:
    return When(span=one_day(today, ahead), relative=f"day {ahead}")
