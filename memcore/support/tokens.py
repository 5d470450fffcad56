"""A text as tokens: words, numbers, dates in digits, clock times, identifiers, signs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from memcore.support.words import listed
from memcore.text import clean, normalize

_TOKEN = re.compile(
    r"""
    (?P<iso>\d{4}-\d{2}-\d{2})(?!\d)
  | (?P<dotted>\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})|\d{2}\.(?:0\d|1[0-2]))(?!\d|\.\d)
  | (?P<clock>\d{1,2}:\d{2})(?!\d)
  | (?P<phone>\+?\d(?:[ ().\-]{0,3}\d){9,14})(?!\d)
  | (?P<code>(?:[^\W\d_]+[-/_.@\#]?\d|\d+[-/_]?[^\W\d_])[^\W_]*(?:[-/_.@:+][^\W_]+)*)
  | (?P<number>\d{1,3}(?:[ ,]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?)
  | (?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)
  | (?P<line>\n+)
  | (?P<sign>\S)
    """,
    re.VERBOSE,
)
_STRESS = re.compile(r"(?<=[\u0400-\u04ff])[\u0300\u0301]")
_HALF_DAY = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)
_IN_LAW = re.compile(r"-in-laws?\b", re.IGNORECASE)
_LETTER_WORD = re.compile(r"\b([A-Za-z])-(?=[a-z]{3})")
_IS_BEHIND = re.compile(
    r"(?<=\w)['’]s(?=\s+(?:at|in|on|from|with|my|our|the|a|an|not|too|very|so|only|now|\d"
    r"|coming|going|getting|having|leaving|moving|staying|visiting|arriving|working|doing)\b)",
    re.IGNORECASE,
)
"""`'s` that stands for "is": no noun that somebody has can follow it."""
_ABBREVIATED = listed(
    "г ул д кв корп стр др т руб коп тыс млн dr mr mrs ms st prof e i vs etc им пр пл"
)
_OPENING, _CLOSING = "«“„", "»”"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text. `low` is normalised; `quoted` is true inside quotation marks or a line
    that begins with `>`; `first` is true where a capital letter says nothing."""

    kind: str
    text: str
    low: str
    quoted: bool = False
    first: bool = False

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


_LONGEST = 300
"""Tokens of a sentence; a longer one is cut, since reading it takes the square of its length."""


def sentences(text: str) -> list[tuple[Token, ...]]:
    """The sentences of a text as tokens, the sign that ends each included."""
    plain = _STRESS.sub("", unicodedata.normalize("NFKC", clean(text)))
    plain = _IN_LAW.sub("inlaw", plain)
    plain = _LETTER_WORD.sub(r"\1", plain)  # T-shirt, e-mail
    plain = _IS_BEHIND.sub(" is", plain)
    plain = _HALF_DAY.sub(r"\1m", plain)
    found: list[tuple[Token, ...]] = []
    current: list[Token] = []
    quoted = reply = told = False
    first = True
    for match in _TOKEN.finditer(plain):
        kind, piece = match.lastgroup or "sign", match[0]
        if kind == "line":
            reply, quoted = False, False
        elif kind == "sign":
            quoted, reply, first = _after_sign(piece, quoted, reply, not current, first)
        low = normalize(piece) if kind in ("word", "code") else piece
        if kind != "line":
            current.append(Token(kind, piece, low, quoted or reply, first and kind == "word"))
            told = told or kind != "sign"
        if kind == "word":
            first = False
        ends = kind == "sign" and piece in ".!?…" and _ends(plain, match, current)
        if kind == "line" or ends or len(current) >= _LONGEST:
            if told or piece == "?":
                found.append(tuple(current))
                current, told = [], False
            first = True
    if told:
        found.append(tuple(current))
    return found


def _after_sign(
    sign: str, quoted: bool, reply: bool, opens: bool, first: bool
) -> tuple[bool, bool, bool]:
    """Whether what follows a sign is quoted, is a line of a reply, and begins anew."""
    if sign in _OPENING:
        return True, reply, True
    if sign in _CLOSING:
        return False, reply, first
    if sign == '"':
        return not quoted, reply, not quoted or first
    return quoted, reply or (sign == ">" and opens), first or sign in ":-•*#"


def _ends(text: str, match: re.Match[str], current: list[Token]) -> bool:
    """Whether a full stop ends its sentence: not in an abbreviation, not inside a word."""
    following = text[match.end() : match.end() + 1]
    if match[0] != ".":
        return not following or not following.isalnum()
    before = current[-2] if len(current) > 1 else None
    if before is not None and before.kind == "word" and match.end() < len(text):
        short = before.low in _ABBREVIATED or (len(before.text) == 1 and before.capital)
        if short:
            return False
    return not following or following.isspace() or following in '»”")'
