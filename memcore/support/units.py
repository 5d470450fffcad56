"""The units of a clause: what it tells that a note may tell again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from memcore.support.dates import Leaning, When
from memcore.support.modality import is_marker, is_marker_pair, is_negator
from memcore.support.numbers import Number, may_begin_number, read_number
from memcore.support.reading_dates import may_begin_when, read_when
from memcore.support.tokens import Token
from memcore.support.words import (
    canon,
    is_frame,
    is_function,
    is_given_name,
    is_russian,
    keys,
    may_be_nominative,
    tags,
)

_RELATIONS = {
    "from": "from", "из": "from", "от": "from", "before": "before", "after": "after",
    "до": "before", "после": "after", "against": "against", "против": "against",
    "instead": "instead", "вместо": "instead", "except": "except", "кроме": "except",
    "under": "under", "под": "under", "above": "above", "над": "above",
}  # fmt: skip
_JOINING = frozenset(("and", "и", "or", "или", "nor", "ни"))
_ROOT, _ROOT_SHARE = 5, 0.7
"""Words are of one root that share so many first letters, and such a part of the longer one."""

_PLACING = frozenset(("to", "of", "for", "about", "at", "on", "in", "by"))

Kind = Literal["word", "name", "number", "when"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that a clause tells: a content word, a name, a number or a time.

    `text` is normalised, `shown` as it was written; `keys` are the stems it goes by. `relation` is
    a preposition that changes the meaning. `denied` is true where a negation stands before it in
    its clause. `part` counts the coordinated parts of the clause, within which a unit belongs to
    its neighbours. `placed` is true right behind a preposition other than "with".
    """

    kind: Kind
    text: str
    shown: str
    keys: frozenset[str]
    value: Number | When | None = None
    relation: str = ""
    denied: bool = False
    part: int = 0
    nominative: bool = False
    placed: bool = False

    @property
    def possessive(self) -> bool:
        """Whether an English word tells whose something is: children's books are no children."""
        return self.text.endswith(("'s", "s'"))

    def bears(self, other: Unit, today: date, leaning: Leaning) -> bool:
        """Whether this unit of a message written `today` bears out one of a note."""
        if isinstance(other.value, Number):
            return isinstance(self.value, Number) and self.value.bears(other.value)
        if isinstance(other.value, When):
            return isinstance(self.value, When) and self.value.bears(other.value, today, leaning)
        if self.value is not None or self.relation != other.relation:
            return False
        if self.kind == other.kind == "word" and self.possessive != other.possessive:
            return False
        wanted, told = canon(other.text), canon(self.text)
        if wanted == told or wanted in self.keys or told in other.keys:
            return True
        if other.kind == "name":
            return bool(self.keys & other.keys)
        return self.kind == "word" and _one_root(wanted, told)


def _one_root(first: str, second: str) -> bool:
    shared = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        shared += 1
    return shared >= _ROOT and shared >= _ROOT_SHARE * max(len(first), len(second))


def units_of(tokens: Sequence[Token], today: date) -> tuple[Unit, ...]:
    """The units of a clause's tokens, in order; markers of manner and function words are none."""
    return tuple(_units(tokens, today))


def _units(tokens: Sequence[Token], today: date) -> Iterator[Unit]:
    at = part = 0
    relation, denied, placed = "", False, False
    while at < len(tokens):
        token = tokens[at]
        found: tuple[When | Number, int] | None = None
        if token.kind != "word" or may_begin_when(token.low):
            found = read_when(tokens, at, today)
        if found is None and (token.kind != "word" or may_begin_number(token.low)):
            found = read_number(tokens, at)
        if found is not None:
            value, after = found
            text = " ".join(one.text for one in tokens[at:after])
            kind: Kind = "when" if isinstance(value, When) else "number"
            yield Unit(kind, text, text, frozenset(), value, "", denied, part)
            relation, at = "", after
            continue
        at += 1
        if token.kind == "sign":
            part += token.low in (",", "/")
            continue
        low = token.low
        following = tokens[at].low if at < len(tokens) else ""
        denied = denied or is_negator(low)
        part += low in _JOINING
        relation = _RELATIONS.get(low, relation)
        if low in _RELATIONS:
            continue
        if is_marker_pair(low, following):
            at += 1
            continue
        if low == "apart" and following == "from":
            relation, at = "except", at + 1
            continue
        letter = len(low) == 1 and token.capital and not token.first and low in "sdtm"  # size M
        if letter or (not is_function(low) and not is_marker(low) and not is_frame(low)):
            yield _worded(token, relation, denied, part, placed)
            relation, placed = "", placed and "ADJF" in tags(low)
        else:
            placed = low in _PLACING or ("PREP" in tags(low) and low not in ("с", "со"))


def _worded(token: Token, relation: str, denied: bool, part: int, placed: bool) -> Unit:
    low = token.low
    named = token.capital and (not token.first or is_given_name(low))
    kind: Kind = "name" if named else "word"
    nominative = is_russian(low) and may_be_nominative(low)
    found = keys(low.removesuffix("'s"))
    return Unit(kind, low, token.text, found, None, relation, denied, part, nominative, placed)
