"""Of whom a clause tells: names, kin, and which of them is its subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memcore.support.modality import is_marker, is_past
from memcore.support.tokens import Token
from memcore.support.units import Unit
from memcore.support.words import (
    is_frame,
    is_function,
    is_given_name,
    is_russian,
    keys,
    kin,
    listed,
    tags,
)

_PREPOSITIONS = listed(
    "to in at on with for from of about by into than near over under after before without"
)
_OWNING = listed("my our мой моя мое мои наш наша наше наши")
_PRONOUNS = listed("he he's she she's they they're it it's")
_LINKING = listed("is are was were")
_HEAD = 2
"""Content words after "my" of which one tells what it is: "my new phone"."""
_DETERMINERS = listed("my his her their our your the a an this that")


def is_person(unit: Unit) -> bool:
    """Whether a unit may be somebody: a name that is not known to be a place, or kin."""
    if unit.kind == "word":  # «брать» has the stem of «брат»
        return bool(unit.keys & kin()) and not tags(unit.text) & {"VERB", "INFN"}
    if unit.kind != "name" or not is_russian(unit.text):
        return unit.kind == "name" and len(unit.text) > 1
    return is_given_name(unit.text) and "Geox" not in tags(unit.text)


def subject_of(tokens: Sequence[Token], units: Sequence[Unit]) -> frozenset[str]:
    """Keys of the person whom a clause is about: in Russian by case, in English by place."""
    if any(is_russian(token.low) for token in tokens if token.kind == "word"):
        placed = _after_prepositions(tokens)
        return frozenset(
            key
            for unit in units
            if unit.nominative and is_person(unit) and unit.text not in placed
            for key in unit.keys
        )
    by_text = {unit.text: unit for unit in reversed(units)}
    found: set[str] = set()
    before, skipping = "", False
    for token in tokens:
        low = token.low
        if token.kind != "word":
            continue
        if low in _PRONOUNS:
            break
        here = by_text.get(low)
        if low.endswith("'s") and here is not None:
            pass  # whose it is; the subject comes behind
        elif here is not None and is_person(here):
            if not skipping:
                found |= here.keys
        elif found:
            break
        elif low in _PREPOSITIONS:
            skipping = True
            continue
        elif here is not None and not skipping and not _determines(before):
            break  # a verb, or a noun that is no person, comes first
        elif low in _LINKING and any(unit.text == before for unit in units):
            break  # what it is comes behind
        if low not in _DETERMINERS and (here is None or here.value is None):
            skipping = False
        before = low
    return frozenset(found)


def _after_prepositions(tokens: Sequence[Token]) -> frozenset[str]:
    """The Russian words right behind a preposition, which are no subject."""
    words = [token.low for token in tokens if token.kind == "word"]
    return frozenset(after for word, after in pairwise(words) if "PREP" in tags(word))


def possessors(clause_units: Sequence[Unit]) -> Iterator[tuple[Unit, Unit]]:
    """Who has what, of those that a clause names: my sister's dentist, врач мужа."""
    for first, second in pairwise(clause_units):
        if is_russian(second.text):
            genitive = "gent" in tags(second.text) and "NOUN" in tags(first.text)
            if genitive and is_person(second) and not second.relation:
                yield second, first
        elif first.possessive and is_person(first):
            yield first, second


def owned(tokens: Sequence[Token], units: Sequence[Unit]) -> frozenset[str]:
    """Keys of what a clause is about where it begins with "my …": a flatmate, a phone number.

    What is said of that is not said of its owner, whether or not it is known to be a person.
    """
    by_text = {unit.text: unit for unit in reversed(units)}
    found: list[Unit] = []
    after = False
    for token in tokens:
        here = by_text.get(token.low)
        after = after or token.low in _OWNING
        if here is None:
            continue
        if is_russian(token.low):
            if after and here.nominative and "NOUN" in tags(token.low):
                return here.keys
        elif not after:
            break
        elif found and (token.low.endswith("s") or is_past(token.low)):
            break  # a verb, as likely as not
        else:
            found.append(here)
            if len(found) == _HEAD:
                break
    return frozenset(key for unit in found for key in unit.keys)


def _determines(word: str) -> bool:
    return word in _DETERMINERS or word.endswith("'s")


def lead(tokens: Sequence[Token]) -> frozenset[str]:
    """The keys of a capitalised English word that begins a sentence before what may be a verb."""
    words = [token for token in tokens[:6] if token.kind == "word"]
    if len(words) < 2 or is_russian(words[0].low) or not words[0].capital:
        return frozenset()
    low, after = words[0].low, words[1].low
    verb = after.endswith("s") or after in ("will", "had", "can", "and") or is_past(after)
    if is_function(low) or is_frame(low) or is_marker(low) or not (verb or low.endswith("'s")):
        return frozenset()
    return keys(low.removesuffix("'s"))
