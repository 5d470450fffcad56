"""What a clause leaves out because it stands before it: subject, object, noun, time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from memcore.support.dates import When
from memcore.support.modality import is_past
from memcore.support.people import subject_of
from memcore.support.splitting import FIRST, REFUSING, acts
from memcore.support.tokens import Token
from memcore.support.units import Unit
from memcore.support.verbs import has_object, lacks_subject, may_be_object, verbs_of
from memcore.support.words import is_russian, listed, tags

CONTEXT = 12
"""Units before a clause that a pronoun in it may point back to."""
_THEIRS = frozenset((("у", "него"), ("у", "нее"), ("у", "них")))
_LASTING = frozenset(
    (("have", "been"), ("has", "been"), ("since", "then"), ("ever", "since"), ("тех", "пор"))
)
_PRONOUNS = FIRST | listed("he he's she she's it it's they they're you you're")
_SUBJECTS = _PRONOUNS | listed("this that there")
_RELATIVES = listed("which who where what который которая которое которые которого которую где")
_INTERJECTIONS = listed("well so oh ok and ну вот так да а")
_REASONS = listed("since as because раз поскольку")


def only_times(tokens: Sequence[Token], units: Sequence[Unit]) -> bool:
    """Whether a piece names a time for what follows it and says nothing: on Friday I …"""
    words = [token.low for token in tokens if token.kind == "word"]
    return all(isinstance(unit.value, When) for unit in units) and not _PRONOUNS & set(words)


def is_occasion(tokens: Sequence[Token]) -> bool:
    """Whether a piece that tells nothing is apart from the rest: since you ask, …; I can't, …"""
    words = [token.low for token in tokens if token.kind == "word"]
    while words and words[0] in _INTERJECTIONS:
        words = words[1:]
    return bool(words) and (words[0] in _REASONS or words[-1] in REFUSING)


def goes_on(tokens: Sequence[Token], units: Sequence[Unit]) -> bool:
    """Whether a clause begins with a verb, so that it is of whom the clause before it is."""
    words = [token.low for token in tokens if token.kind == "word"]
    while words and words[0] in _INTERJECTIONS:
        words = words[1:]
    if not words or words[0] in _RELATIVES:
        return False
    if is_russian(words[0]):
        return lacks_subject(tokens, units)
    return is_past(words[0]) or words[0] in verbs_of(tokens, units)


def has_theirs(words: Sequence[str]) -> bool:
    """Whether something is somebody's who was named before: у него."""
    return any(pair in _THEIRS for pair in pairwise(words))


def lasts(words: Sequence[str]) -> bool:
    """Whether a clause tells of what began at a time named before, and still is."""
    pairs = set(pairwise(words))
    return bool(pairs & _LASTING)


def understood(
    tokens: Sequence[Token], units: tuple[Unit, ...], before: Sequence[Unit], continues: bool
) -> tuple[Unit, ...]:
    """What a clause that leaves out its subject, its object or its noun takes from before it, of
    which `before` is all but the verbs.

    Only what was named, no verb and no number; and what it names itself replaces what could be
    the object of its verb: of "sold the Corsa, bought a Fiesta" the Corsa was not bought.
    """
    words = [token for token in tokens if token.kind == "word"]
    if not words:
        return ()
    named = [unit for unit in before if unit.value is None and not unit.denied][-CONTEXT:]
    if is_russian(words[0].low) or (len(words) > 1 and is_russian(words[1].low)):
        if not lacks_subject(tokens, units) and not continues:
            return ()
        lone = sum(unit.value is None for unit in units) == 1
        past = any({"VERB", "past"} <= tags(token.low) for token in words)
        if words[0].low in _RELATIVES:
            return tuple(named)
        if not has_object(tokens, units) and (lone or not past):
            return tuple(named)
        if lacks_subject(tokens, units) and not past:
            return tuple(unit for unit in named if not may_be_object(unit))
        return ()
    if not continues:
        return ()
    low = [token.low for token in words]
    if low[0] in _RELATIVES or tokens[0].low in FIRST:
        return tuple(named)
    own = has_object(tokens, units) or subject_of(tokens, units) or _SUBJECTS & set(low)
    worded = [unit for unit in units if unit.value is None]
    told = [token for token in words if token.low not in _INTERJECTIONS | {"or"}]
    acting = bool(verbs_of(tokens, units)) or acts(told)
    # with another word beside the verb it may well have its own object
    return tuple(named) if worded and not (own or (acting and len(worded) > 1)) else ()
