"""Which words of a clause are its verbs, and which verbs of a note tell nothing by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from memcore.support.modality import is_past
from memcore.support.tokens import Token
from memcore.support.units import Unit
from memcore.support.words import canon, is_russian, listed, tags
from memcore.text import readings

_LIGHT = """
weigh cost measure last stand sit lie hang contain stay go travel fly drive ride head trip visit
take leave depart get find keep use need happen play
весить стоить длиться стоять сидеть лежать висеть находиться располагаться расположить ехать поехать
ездить играть лететь полететь летать идти пойти завести ходить отправляться поездка
составлять проходить пройти состояться получить держать храниться требоваться понадобиться
live reside work жить проживать работать трудиться
"""
_DOING = """
live reside work keep use take get drive ride play find жить проживать работать трудиться держать
играть ездить завести получить
"""
_LINKING = listed(
    "am is are was were be been being i'm it's that's they're we're he's she's have has had"
)
_SUBJECTS = listed("i we he she they who you to will can could must should didn't don't doesn't")


def is_light(unit: Unit) -> bool:
    """Whether a word of a note only links what stands beside it: weighs, goes, лежит, едет."""
    return unit.kind == "word" and canon(unit.text) in _canons(_LIGHT)


def is_doing(unit: Unit) -> bool:
    """Whether such a word tells besides that somebody has to do with it: lives, keeps, играет."""
    return canon(unit.text) in _canons(_DOING)


@cache
def _canons(text: str) -> frozenset[str]:
    return frozenset(canon(one) for one in listed(text))


def verbs_of(tokens: Sequence[Token], units: Sequence[Unit]) -> frozenset[str]:
    """The words of a clause that are verbs with a meaning of their own, or may well be."""
    telling = {unit.text for unit in units if unit.kind == "word"}
    named = {unit.text for unit in units if unit.kind in ("word", "name")}
    words = [token for token in tokens if token.kind == "word"]
    found: set[str] = set()
    for at, token in enumerate(words):
        low = token.low
        if low not in telling:
            continue
        before = words[at - 1].low if at else ""
        if is_russian(low):
            verb = bool({"VERB", "INFN", "GRND", "PRTS"} & tags(low))
        elif low.endswith("ing"):
            verb = any(one.low in _LINKING for one in words[max(0, at - 3) : at])
        else:
            third = low.endswith("s") and not low.endswith(("ss", "'s")) and before in named
            verb = is_past(low) or before in _SUBJECTS or third
        if verb:
            found.add(low)
    return frozenset(found)


def lacks_subject(tokens: Sequence[Token], units: Sequence[Unit]) -> bool:
    """Whether a Russian clause has a finite verb and nothing that it could agree with, so that
    its subject stands before it."""
    verb = frozenset[str]()
    for token in tokens:
        told = tags(token.low) if token.kind == "word" else frozenset[str]()
        if "VERB" in told:
            if told & {"1per", "2per"}:
                return False
            verb = verb or told
        if "NPRO" in told and "nomn" in told:
            return False
    agreeing = (
        unit
        for unit in units
        if unit.nominative and _agrees(unit.text, verb) and not _after_preposition(tokens, unit)
    )
    return bool(verb & {"3per", "past"}) and not any(agreeing)


def _agrees(word: str, verb: frozenset[str]) -> bool:
    """Whether a Russian noun may be the subject of a verb with these grammemes."""
    shared = verb & {"sing", "plur", "masc", "femn", "neut"}
    return any(
        {"NOUN", "nomn"} <= told and ("plur" in told if "plur" in verb else shared <= told)
        for _, told in readings(word)
    )


def has_object(tokens: Sequence[Token], units: Sequence[Unit]) -> bool:
    """Whether a clause names something outside a prepositional phrase."""
    for unit in units:
        if unit.kind not in ("word", "name"):
            continue
        russian = is_russian(unit.text)
        if russian and not tags(unit.text) & {"NOUN", "ADJF"}:
            continue
        if not _after_preposition(tokens, unit) and (russian or _is_noun(tokens, unit)):
            return True
    return False


def _is_noun(tokens: Sequence[Token], unit: Unit) -> bool:
    """Whether an English word is surely a name or a noun: it has a determiner."""
    if unit.kind == "name":
        return True
    words = [token.low for token in tokens if token.kind == "word"]
    at = words.index(unit.text) if unit.text in words else 0
    return bool(
        {"a", "an", "the", "my", "our", "another", "some"} & set(words[max(0, at - 2) : at])
    )


_PREPOSITIONS = listed(
    "to in at on with for from of about by into than near over under after before without"
)


def _after_preposition(tokens: Sequence[Token], unit: Unit) -> bool:
    words = [token.low for token in tokens if token.kind == "word"]
    if unit.text not in words:
        return bool(unit.relation)
    at = words.index(unit.text)
    near = words[max(0, at - 3) : at]
    while near:
        last = near.pop()
        if last in _PREPOSITIONS or "PREP" in tags(last):
            return True
        if not tags(last) & {"ADJF", "NPRO", "Apro"} and last not in ("the", "a", "my", "our"):
            return False
    return False


def may_be_object(unit: Unit) -> bool:
    """Whether a Russian noun may be what its verb is done to."""
    return any({"NOUN", "accs"} <= told for _, told in readings(unit.text))
