"""Times of day as they are said: half past seven, без двадцати шесть, 7:30 in the evening."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from memcore.support.tokens import Token
from memcore.support.words import lemma

Reading = Callable[[Sequence[Token], int], tuple[Decimal | None, int]]
"""Reads the number that stands at a place, with the place behind it."""

_HALF, _QUARTER = 30, 15
_MORNING, _LATER = ("утра", "ночи", "morning"), ("вечера", "дня", "evening", "afternoon")
_BEHIND = frozenset(("in", "at", "on", "and", "so", "am", "pm", "tonight", "tomorrow", "today"))
_PARTS = {"half": _HALF, "quarter": _QUARTER, "четверть": _QUARTER}


def half_day(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """`am` or `pm` as told behind a time, and the place behind it; empty where it is not told."""
    words = [token.low for token in tokens[at : at + 3]]
    place = at
    if words and words[0] in ("am", "pm"):
        return words[0], at + 1
    if words[:2] == ["in", "the"]:
        words, place = words[2:], at + 2
    elif words[:1] == ["at"] and words[1:2] == ["night"]:
        return "pm", at + 2
    for half, named in (("am", _MORNING), ("pm", _LATER)):
        if words and words[0] in named and (place > at or words[0] not in ("morning", "evening")):
            return half, place + 1
    return "", at


def spoken_time(tokens: Sequence[Token], at: int, value: Reading) -> tuple[int, int] | None:
    """The minutes from midnight that are told in words from a token on, and the place behind
    them: `half past seven`, `ten to six`, `без четверти шесть`, `половина восьмого`."""
    found = _russian(tokens, at, value) or _english(tokens, at, value)
    if found is None:
        return None
    minutes, after = found
    half, after = half_day(tokens, after)
    if half:
        minutes = minutes % 720 + (720 if half == "pm" else 0)
    return minutes, after


def _english(tokens: Sequence[Token], at: int, value: Reading) -> tuple[int, int] | None:
    minutes, after = _minutes(tokens, at, value)
    way = tokens[after].low if after < len(tokens) else ""
    if minutes is None or way not in ("past", "to"):
        return None
    hours, after = value(tokens, after + 1)
    if hours is None or not 1 <= hours <= 12:
        return None
    ends = after >= len(tokens) or tokens[after].kind != "word" or tokens[after].low in _BEHIND
    if way == "to" and (not ends or (at and tokens[at - 1].low in ("from", "between"))):
        return None  # ten to twelve people, from ten to six
    return int(hours) * 60 + (minutes if way == "past" else -minutes), after


def _russian(tokens: Sequence[Token], at: int, value: Reading) -> tuple[int, int] | None:
    first = lemma(tokens[at].low)
    if first == "без":
        minutes, after = _minutes(tokens, at + 1, value)
        hours, after = value(tokens, after) if minutes is not None else (None, at)
        if minutes is None or hours is None or not 1 <= hours <= 12:
            return None
        return int(hours) * 60 - minutes, after
    if first in ("половина", "пол") and at + 1 < len(tokens):
        hours, after = value(tokens, at + 1)
        ordinal = tokens[at + 1].low.endswith(("ого", "его"))
        if hours is not None and 1 <= hours <= 12 and ordinal:
            return int(hours) * 60 - _HALF, after
    return None


def _minutes(tokens: Sequence[Token], at: int, value: Reading) -> tuple[int | None, int]:
    """The minutes before or after an hour."""
    if at >= len(tokens):
        return None, at
    if part := _PARTS.get(lemma(tokens[at].low)):
        return part, at + 1
    found, after = value(tokens[: at + 1], at)  # twenty, of «без двадцати шесть»
    if found is None or not 1 <= found <= 29:
        return None, at
    return int(found), after + (after < len(tokens) and lemma(tokens[after].low) == "минута")
