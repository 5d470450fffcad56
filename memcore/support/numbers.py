"""Numbers as they are written: digits and words, with unit, currency, and how exact they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import pairwise

from memcore.support.clock import half_day, spoken_time
from memcore.support.tokens import Token
from memcore.support.words import is_russian, lemma, listed, tags
from memcore.text import normalize

CLOCK = "clock"
"""The unit of a time of day; its value is in minutes from midnight."""

_UNITS = """
$ $ dollar dollars usd buck bucks доллар бакс; € € euro euros eur евро; £ £ pound pounds gbp фунт;
₽ ₽ руб р рубль rub ruble rubles rouble roubles; % % percent процент; kg kg kilo kilos kilogram
kilograms кг килограмм кило; g gram grams гр грамм; km km kilometre kilometer kilometres kilometers
км километр; m metre meter metres meters м метр; cm cm centimetre centimeter centimetres
centimeters см сантиметр; mm mm мм миллиметр; mile mile miles миля; l litre liter litres liters л
литр; ml ml мл миллилитр; year year years yr yrs yo год летний летие; month month months мес месяц
месячный; week week weeks неделя недельный; day day days день сутки дневный; hour hour hours hr hrs
ч час часовой; minute minute minutes min mins мин минута минутный; second seconds sec секунда;
℃ ℃ ° градус degree degrees; lb lb lbs; inch inch inches дюйм; foot feet фут; gb gb гб; mb mb мб;
kopek коп копейка
"""
UNITS = {
    normalize(word): group.split()[0]
    for group in _UNITS.split(";")
    for word in group.split()[1:]
}  # fmt: skip
_BEFORE = frozenset("$€£₽")
_NAMED = """
zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelve 12
thirteen 13 fourteen 14 fifteen 15 sixteen 16 seventeen 17 eighteen 18 nineteen 19 twenty 20
thirty 30 forty 40 fifty 50 sixty 60 seventy 70 eighty 80 ninety 90 dozen 12 half 0.5 first 1
second 2 third 3 fourth 4 fifth 5 sixth 6 seventh 7 eighth 8 ninth 9 tenth 10 eleventh 11
twelfth 12 thirteenth 13 fifteenth 15 twentieth 20 thirtieth 30 once 1 twice 2 thrice 3 triple 3
ноль 0 один 1 два 2 три 3 четыре 4 пять 5 шесть 6 семь 7 восемь 8 девять 9 десять 10 одиннадцать 11
двенадцать 12 тринадцать 13 четырнадцать 14 пятнадцать 15 шестнадцать 16 семнадцать 17
восемнадцать 18 девятнадцать 19 двадцать 20 тридцать 30 сорок 40 пятьдесят 50 шестьдесят 60
семьдесят 70 восемьдесят 80 девяносто 90 сто 100 двести 200 триста 300 четыреста 400 пятьсот 500
шестьсот 600 семьсот 700 восемьсот 800 девятьсот 900 полтора 1.5 двое 2 трое 3 четверо 4 пятеро 5
шестеро 6 семеро 7 дюжина 12 первый 1 второй 2 третий 3 четвертый 4 пятый 5 шестой 6 седьмой 7
восьмой 8 девятый 9 десятый 10 одиннадцатый 11 двенадцатый 12 тринадцатый 13 четырнадцатый 14
пятнадцатый 15 шестнадцатый 16 семнадцатый 17 восемнадцатый 18 девятнадцатый 19 двадцатый 20
тридцатый 30 сороковой 40 однажды 1 дважды 2 трижды 3 половина 0.5
"""
_WORDS = dict(zip(_NAMED.split()[::2], map(Decimal, _NAMED.split()[1::2]), strict=True))
_SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "k": 1000, "к": 1000,
    "тысяча": 1000, "тыс": 1000, "миллион": 10**6, "млн": 10**6, "миллиард": 10**9, "млрд": 10**9,
}  # fmt: skip
_ORDINAL = listed("st nd rd th го му й я е ой ый ая ое ую ом ого ому х ти ми ю")
_NOT_A_NUMBER = listed("one ones one's")
_BOUNDS = {
    "about": "about", "around": "about", "approximately": "about", "roughly": "about",
    "~": "about", "около": "about", "порядка": "about",
    "примерно": "about", "приблизительно": "about",
    "almost": "almost", "nearly": "almost", "почти": "almost", "over": "more", "least": "least",
    "more": "more", "above": "more", "больше": "more", "более": "more", "свыше": "more",
    "less": "less", "under": "less", "most": "most", "меньше": "less", "менее": "less",
    "fewer": "less", "below": "less", ">": "more", "<": "less", "max": "most", "min": "least",
    "минимум": "least", "максимум": "most",
}  # fmt: skip
_PIECES = listed("штука человек раз")
_OPPOSITE = {"more": "most", "less": "least"}


@dataclass(frozen=True, slots=True)
class Number:
    """`value` is a decimal, or the text itself of an identifier; `unit` is canonical or empty;
    `bound` is `about`, `almost`, `more`, `less`, `least`, `most` or empty."""

    value: Decimal | str
    unit: str = ""
    bound: str = ""

    def bears(self, other: Number) -> bool:
        """Whether a text with this number bears out one with the other."""
        return (self.value, self.bound) == (other.value, other.bound) and (
            self.unit == other.unit or (not other.unit and self.unit not in ("%", CLOCK))
        )


@lru_cache(maxsize=50_000)
def may_begin_number(word: str) -> bool:
    """Whether a word can be the first of a number."""
    base = lemma(word)
    if base in _WORDS or base in _SCALES or base in ("quarter", "без", "пол"):
        return True
    return _may_be_turned(word)


def read_number(tokens: Sequence[Token], at: int) -> tuple[Number, int] | None:
    """The number that begins at a token, with its unit, and the place behind it."""
    if spoken := spoken_time(tokens, at, number_value):
        return Number(Decimal(spoken[0]), CLOCK), spoken[1]
    if tokens[at].kind == "word" and _may_be_turned(tokens[at].low) and at + 1 < len(tokens):
        value, after = number_value(tokens, at + 1)
        if value is not None:
            return Number(value, _unit_of(tokens[at]), "about"), after
    unit, place = "", at
    if tokens[at].low in _BEFORE and at + 1 < len(tokens):
        unit, place = UNITS[tokens[at].low], at + 1
    token = tokens[place]
    bound = _bound(tokens, at)
    if token.kind == "clock":
        return _clock(token, tokens, place + 1)
    if token.kind == "phone":
        digits = re.sub(r"\D", "", token.low)
        inland = len(digits) == 11 and token.low[0] == "8"  # Russian, as dialled at home
        return Number("7" + digits[1:] if inland else digits), place + 1
    if token.kind in ("dotted", "iso"):
        return Number(token.low), place + 1
    if token.kind == "code":
        return _code(token, tokens, place + 1, unit, bound)
    value, after = number_value(tokens, place)
    if value is None:
        return None
    return _time_of_day(value, tokens, after) or _with_unit(
        value, unit, bound or _bound_behind(tokens, after), tokens, after
    )


def number_value(tokens: Sequence[Token], at: int) -> tuple[Decimal | None, int]:
    """The value of digits or number words from a token on, and the place behind them."""
    total, current, last, place, found = Decimal(0), Decimal(0), Decimal(10**12), at, False
    while place < len(tokens):
        token = tokens[place]
        word = lemma(token.low) if token.kind == "word" else token.low
        if token.kind == "number" and not found:
            parsed = _decimal(token.low)
            if parsed is None:
                return None, at
            current, last, found = parsed, Decimal(0), True
        elif word in _SCALES and (found or word not in ("k", "к")):
            scale = Decimal(_SCALES[word])
            if scale == 100:
                current, last = (current or Decimal(1)) * 100, scale
            else:
                total, current, last = total + (current or Decimal(1)) * scale, Decimal(0), scale
            found = True
            if place + 2 < len(tokens) and tokens[place + 1].low == "." and word in ("тыс", "млн"):
                place += 1
        elif word in _WORDS and token.low not in _NOT_A_NUMBER:
            value = _WORDS[word]
            if found and not (value < last and last >= 20):
                break
            current, last, found = current + value, value, True
        elif found and (half := _half_behind(tokens, place)):
            return total + current + Decimal("0.5"), half
        elif not (token.low in ("and", "-") and found and _joins(tokens, place, last)):
            break
        place += 1
    return (total + current, place) if found else (None, at)


def _half_behind(tokens: Sequence[Token], place: int) -> int:
    """The place behind "and a half" or «с половиной»; 0 where that does not stand there."""
    words = [token.low for token in tokens[place : place + 3]]
    if words == ["and", "a", "half"]:
        return place + 3
    return place + 2 if words[:2] == ["с", "половиной"] else 0


def _joins(tokens: Sequence[Token], place: int, last: Decimal) -> bool:
    """Whether `and` or a hyphen stands inside a number: two hundred and fifty, twenty-five."""
    if place + 1 >= len(tokens) or last < 20:
        return False
    hyphen = tokens[place].low == "-"
    value = _WORDS.get(lemma(tokens[place + 1].low))
    return value is not None and (value < 10 if hyphen else value < 100 <= last)


def _decimal(text: str) -> Decimal | None:
    bare = text.replace(" ", "")
    bare = bare.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", bare) else bare
    try:
        return Decimal(bare.replace(",", "."))
    except InvalidOperation:
        return None


def _with_unit(
    value: Decimal, unit: str, bound: str, tokens: Sequence[Token], after: int
) -> tuple[Number, int]:
    skip = after + (after < len(tokens) and tokens[after].low == "-")
    if not unit and skip < len(tokens) and (named := _unit_of(tokens[skip])):
        unit, after = named, skip + 1
        if after + 1 < len(tokens) and (tokens[after].low, tokens[after + 1].low) == ("-", "old"):
            after += 1
        if after < len(tokens) and tokens[after].low == "old" and unit == "year":
            after += 1
    return Number(value, unit, bound), after


def _unit_of(token: Token) -> str:
    """The canonical unit that a token names, else an empty text."""
    return UNITS.get(token.low) or (UNITS.get(lemma(token.low), "") if token.kind == "word" else "")


def _code(
    token: Token, tokens: Sequence[Token], after: int, unit: str, bound: str
) -> tuple[Number, int]:
    """A number with letters at it: 3rd, 38-го, 5kg, 6pm, or an identifier."""
    match = re.fullmatch(r"(\d+)-?([^\W\d_]+)", token.low)
    value = _decimal(match[1]) if match else None
    if match is None or value is None:
        return Number(re.sub(r"[\W_]", "", token.low)), after
    suffix = match[2]
    if suffix in _ORDINAL:
        return _with_unit(value, unit, bound, tokens, after)
    if suffix in ("am", "pm") and value <= 12:
        return _half_day(value, suffix), after
    if suffix in _SCALES:
        return _with_unit(value * _SCALES[suffix], unit, bound, tokens, after)
    named = UNITS.get(suffix) or (UNITS.get(lemma(suffix)) if is_russian(suffix) else None)
    return Number(value, named, bound) if named else Number(token.low.replace("-", "")), after


def _clock(token: Token, tokens: Sequence[Token], after: int) -> tuple[Number, int]:
    hours, minutes = map(int, token.low.split(":"))
    half, behind = half_day(tokens, after)
    if half and hours <= 12:
        whole = _half_day(Decimal(hours), half)
        return Number(Decimal(whole.value) + minutes, CLOCK), behind
    return Number(Decimal(hours * 60 + minutes), CLOCK), after


def _half_day(hours: Decimal, half: str) -> Number:
    return Number((hours % 12 + (12 if half == "pm" else 0)) * 60, CLOCK)


def _time_of_day(value: Decimal, tokens: Sequence[Token], after: int) -> tuple[Number, int] | None:
    """6 вечера, 6 часов утра, 6 in the evening."""
    if after < len(tokens) and lemma(tokens[after].low) in ("час", "o'clock"):
        after += 1
    half, after = half_day(tokens, after)
    if not half or value > 12 or value != int(value):
        return None
    return _half_day(value, half), after


def _bound_behind(tokens: Sequence[Token], after: int) -> str:
    """How exact a number is by what follows it, its unit between: an hour or so."""
    words = [token.low for token in tokens[after : after + 3]]
    ends = {("or", "so"), ("or", "thereabouts"), ("give", "or")}
    return "about" if ends & set(pairwise(words)) else ""


def _may_be_turned(word: str) -> bool:
    """Whether a number behind a word is not exact: минут десять, штук пять."""
    base = lemma(word)
    known = base in UNITS or base in _PIECES
    return known and is_russian(word) and {"gent", "plur"} <= tags(word)


def _bound(tokens: Sequence[Token], at: int) -> str:
    """How exact the number is that begins at a token: told by at most four words before it."""
    words = [token.low for token in tokens[max(0, at - 4) : at]]
    while words and words[-1] in ("than", "чем", "the", "a", "к", "в", "до"):
        words.pop()
    if not words:
        return ""
    bound = _BOUNDS.get(words[-1], "")
    negated = words[-2:-1] and words[-2] in ("не", "no", "not")
    return _OPPOSITE.get(bound, bound) if negated else bound
