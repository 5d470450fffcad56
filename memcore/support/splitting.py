"""Where a sentence falls into clauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memcore.support.modality import is_marker, is_past
from memcore.support.tokens import Token
from memcore.support.words import is_function, listed, tags

FIRST = listed("i i'm i've i'll i'd im ive we we're we've we'll я мы")
"""Words for the speaker as whom a clause is about."""

_SPLITTING = listed(
    """but because although though whereas while if when that но однако потому поскольку хотя зато
    чтобы если когда что который которая которое которые которого которую"""
)
_SUBJECTS = listed(
    """i i'm i've i'll i'd he he's she she's they they're we we're you you're it it's my his her
    their our я мы он она они ты вы оно у мой моя мое мои"""
)
_OPENERS = listed("не нет not never no don't please пожалуйста")
_AUXILIARIES = listed("is are was were has will")
_AFTER_WORD = listed("i i'm i've i'll he she they we")


def split(sentence: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The clauses of a sentence as tokens: cut at `;`, at conjunctions, where a subject begins,
    and where quoted speech begins or ends."""
    start = 0
    quoted = bool(sentence) and sentence[0].quoted
    for at, token in enumerate(sentence):
        if at == start:
            quoted = token.quoted
            continue
        before, following = sentence[at - 1], sentence[at + 1 : at + 4]
        if token.quoted != quoted:
            cut = _is_long_quote(sentence, at) or (quoted and _is_long_quote(sentence, start))
            quoted = token.quoted
        elif token.low == ",":
            cut = _begins(following) and not is_marker(before.low)
        elif token.low in ("and", "и", "а", "so", "or"):
            past = bool(following) and is_past(following[0].low)
            cut = token.low == "а" or _begins(following) or past
        elif token.low in _AFTER_WORD:
            cut = before.kind == "word" and not is_function(before.low) and at - start > 1
        else:
            cut = token.low == ";" or token.low in _SPLITTING
        if cut:
            yield sentence[start:at]
            start, quoted = at, token.quoted
    yield sentence[start:]


def _is_long_quote(sentence: Sequence[Token], at: int) -> bool:
    """Whether what is quoted from a token on is speech and not a title."""
    words = 0
    for token in sentence[at : at + 40]:
        words += token.kind == "word" and token.quoted
        if token.quoted and token.low in FIRST:
            return True
    return words > 4


def _begins(tokens: Sequence[Token]) -> bool:
    """Whether a clause of its own begins here: with a subject, a negation, a Russian verb."""
    for place, token in enumerate(tokens):
        low = token.low
        if token.kind != "word":
            return False
        if low in _OPENERS or (place < 2 and low in _SUBJECTS):
            return True
        if low.endswith("n't") or low in _AUXILIARIES or "VERB" in tags(low):
            return True
    return False
