"""A text as clauses: what each says, of whom, and in what manner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import pairwise

from memcore.support.dates import When
from memcore.support.modality import Manner, is_marker, is_past, manner
from memcore.support.people import is_person, lead, owned, subject_of
from memcore.support.splitting import FIRST, REFUSING, split
from memcore.support.tokens import Token, sentences
from memcore.support.units import Unit, units_of
from memcore.support.verbs import has_object, lacks_subject, may_be_object, verbs_of
from memcore.support.words import GENERIC, is_russian, lemma, listed, tags

_EXPERIENCING = listed("мне нам")
_FIRST_ANY = (
    FIRST
    | _EXPERIENCING
    | listed(
        """me my mine myself us our ours меня мной мною мой моя мое мои моего моей моему моим моих
        мою моем нас нами наш наша наше наши нашего нашей нашем нашу"""
    )
)
_SECOND = listed(
    """you you're you've you'll your yours ты тебя тебе тобой твой твоя твое твои твоего твоей твою
    вы вас вам вами ваш ваша ваше ваши вашего вашей вашу вашему"""
)
_THIRD = listed("he he's she she's they they're his her their он она они его ее ему ей их им")
_ANAPHORS = _THIRD | listed(
    """him hers them it it's its this that that's thats there
    оно них него нее ним ней это этот эта там туда тут
    here здесь сюда one ones"""
)
_THEIRS = frozenset((("у", "него"), ("у", "нее"), ("у", "них")))
_LASTING = frozenset(
    (("have", "been"), ("has", "been"), ("since", "then"), ("ever", "since"), ("тех", "пор"))
)
_PRONOUNS = FIRST | listed("he he's she she's it it's they they're you you're")
_SUBJECTS = _PRONOUNS | listed("this that there")
_RELATIVES = listed("which who where what который которая которое которые которого которую где")
_INTERJECTIONS = listed("well so oh ok and ну вот так да а")
_AGAINST = listed("but otherwise а но иначе")
_REASONS = listed("since as because раз поскольку")
_REPORTING = listed(
    """say says said tell tells told claim claims claimed insist insists говорит говорят сказал
    сказала сказали утверждает утверждают уверяет пишет написал написала"""
)
_DOUBTING = listed(
    """think thinks thought believe believes believed assume assumes guess feel считаю считает
    считают полагаю полагает решили"""
)
"""What follows them is an opinion, whoever has it; what follows the others, where it is not one's
own word."""
_PUNCTUATION = frozenset(".,!?…;:\"'()«»“”„-–—*#[]>")
_CONTEXT = 12
"""Units before a clause that a pronoun in it may point back to."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause. `subject` are the keys of whom it is about and `people` of everybody in it;
    `lead` of an English word that may be a name, since it begins the clause before a verb;
    `owned` of what it is about where that is "my …";
    `context` are the units of what stands before it, where it points back to that or leaves it
    out; `verbs` are its words that are verbs with a meaning of their own. `speaks` is true where
    its subject is who says it, `quoted` where it is somebody's quoted speech."""

    units: tuple[Unit, ...]
    words: tuple[str, ...]
    manner: Manner
    first: bool
    second: bool
    speaks: bool
    subject: frozenset[str]
    lead: frozenset[str]
    owned: frozenset[str]
    people: frozenset[str]
    names: frozenset[str]
    generic: bool
    asked: bool
    quoted: bool
    context: tuple[Unit, ...] = ()
    verbs: frozenset[str] = frozenset()
    sentence: int = 0


@lru_cache(maxsize=512)
def read(text: str, today: date) -> tuple[Clause, ...]:
    """The clauses of a text written on a day, in order."""
    found: list[Clause] = []
    for place, sentence in enumerate(sentences(text)):
        asked = any(token.low == "?" for token in sentence[-3:])
        start, rest = len(found), list[Token]()
        for tokens in split(sentence):
            if _is_occasion(rest):
                rest = []
            rest += tokens  # a piece that tells nothing belongs to the next: "perhaps, …"
            units = units_of(tokens, today)
            if units and (tokens[-1] is sentence[-1] or not _only_times(tokens, units)):
                if len(rest) > len(tokens):
                    units = units_of(rest, today)
                before = found[-1] if found else None
                clause = _clause(rest, units, asked, before, len(found) > start)
                if before is not None and len(found) > start and _is_report(before):
                    clause = replace(clause, manner=replace(clause.manner, unreal="reported"))
                found.append(replace(clause, sentence=place))
                rest = []
        if any(token.kind == "word" for token in rest):
            left = _clause(rest, units_of(rest, today), asked, None, False)
            if not left.units and len(found) > start and found[-1].manner.verbless:
                how = found[-1].manner  # "three, please"
                found[-1] = replace(
                    found[-1], manner=replace(how, modes=how.modes | left.manner.modes)
                )
            found.append(replace(left, sentence=place))
        unreal = next((one.manner.unreal for one in found[start:] if one.manner.condition), "")
        if unreal:
            found[start:] = _conditional(found[start:], unreal)
        found[start:] = [one for clause in found[start:] for one in _with_exceptions(clause)]
    return tuple(found)


def _conditional(clauses: Sequence[Clause], unreal: str) -> list[Clause]:
    """The clauses of a sentence with a condition; one set against the rest has another."""
    found: list[Clause] = []
    for clause in clauses:
        against = bool(found) and bool(_AGAINST & set(clause.words[:1]))
        unreal = "otherwise" if against and not clause.manner.condition else unreal
        found.append(replace(clause, manner=replace(clause.manner, unreal=unreal)))
    return found


def _with_exceptions(clause: Clause) -> Iterator[Clause]:
    """A clause, and where it says "everything except …", what it denies by that."""
    yield clause
    how = clause.manner
    at = next((at for at, unit in enumerate(clause.units) if unit.relation == "except"), -1)
    if at < 0 or not how.quantities & {"all", "every"} or how.negations:
        return
    ends = len(clause.units) if at else 1
    kept = (*clause.context, *clause.units[:at], *clause.units[ends:])
    excepted = tuple(replace(unit, relation="", denied=True) for unit in clause.units[at:ends])
    denying = replace(how, negations=1, quantities=how.quantities - {"all", "every"})
    yield replace(clause, units=excepted, context=kept, manner=denying)


def _only_times(tokens: Sequence[Token], units: Sequence[Unit]) -> bool:
    """Whether a piece names a time for what follows it and says nothing: on Friday I …"""
    words = [token.low for token in tokens if token.kind == "word"]
    return all(isinstance(unit.value, When) for unit in units) and not _PRONOUNS & set(words)


def _is_occasion(tokens: Sequence[Token]) -> bool:
    """Whether a piece that tells nothing is apart from the rest: since you ask, …; I can't, …"""
    words = [token.low for token in tokens if token.kind == "word"]
    while words and words[0] in _INTERJECTIONS:
        words = words[1:]
    return bool(words) and (words[0] in _REASONS or words[-1] in REFUSING)


def _is_report(clause: Clause) -> bool:
    """Whether what follows a clause in its sentence is what somebody says or thinks."""
    last = clause.words[-1] if clause.words else ""
    if last in ("me", "us", "мне", "нам") and len(clause.words) > 1:
        last = clause.words[-2]
    return last in _DOUBTING or (last in _REPORTING and not clause.speaks)


def _clause(
    tokens: Sequence[Token],
    units: tuple[Unit, ...],
    asked: bool,
    before: Clause | None,
    continues: bool,
) -> Clause:
    words = [token.low for token in tokens if token.kind == "word"]
    found = set(words)
    spoken = any({"1per", "VERB"} <= tags(word) for word in words)
    people = frozenset(key for unit in units if is_person(unit) for key in unit.keys)
    subject = subject_of(tokens, units)
    owns = found & _EXPERIENCING or ("меня" in found and words[words.index("меня") - 1] == "у")
    speaks = bool(found & FIRST) or spoken or (bool(owns) and not subject)
    context: tuple[Unit, ...] = ()
    how = manner(tokens)
    if before is not None and found & _ANAPHORS:
        told = (unit for unit in before.units[-_CONTEXT:] if not unit.denied)
        context = (*before.context, *told)[-_CONTEXT:]
        if not subject and not speaks and (found & _THIRD or _has_theirs(words)):
            subject = before.subject or before.lead or before.people
            people |= subject
    elif before is not None:
        listing = continues and how.verbless and tokens[0].low == ":"
        if listing:  # "booked the room: 4 May"
            how = replace(how, either=True)
        context = before.units if listing else _understood(tokens, units, before, continues)
        missing = {"нет", "нету"} & set(before.words)  # what is not there does nothing
        if continues and not (subject or speaks or missing) and _goes_on(tokens, units):
            subject, speaks = before.subject, before.speaks
            people |= subject
    lasting = _lasts(words)
    if lasting:  # moved in May and has lived here since: since May
        since = (
            replace(one, value=replace(one.value, side="from"))
            for one in context
            if isinstance(one.value, When) and not one.value.side
        )
        context = (*context, *since)
    return Clause(
        units=units,
        words=tuple(token.low for token in tokens if token.low not in _PUNCTUATION),
        manner=how,
        first=bool(found & _FIRST_ANY) or spoken,
        second=bool(found & _SECOND),
        speaks=speaks,
        subject=subject,
        lead=frozenset() if subject else lead(tokens),
        owned=owned(tokens, units) if not speaks else frozenset(),
        people=people,
        names=frozenset(key for unit in units if unit.kind == "name" for key in unit.keys),
        generic=any(lemma(word) in GENERIC or word.removesuffix("'s") in GENERIC for word in words),
        asked=asked,
        quoted=_is_speech(tokens),
        context=context,
        verbs=verbs_of(tokens, units),
    )


def _goes_on(tokens: Sequence[Token], units: Sequence[Unit]) -> bool:
    """Whether a clause begins with a verb, so that it is of whom the clause before it is."""
    words = [token.low for token in tokens if token.kind == "word"]
    while words and words[0] in _INTERJECTIONS:
        words = words[1:]
    if not words or words[0] in _RELATIVES:
        return False
    if is_russian(words[0]):
        return lacks_subject(tokens, units)
    return is_past(words[0]) or words[0] in verbs_of(tokens, units)


def _has_theirs(words: Sequence[str]) -> bool:
    """Whether something is somebody's who was named before: у него."""
    return any(pair in _THEIRS for pair in pairwise(words))


def _lasts(words: Sequence[str]) -> bool:
    """Whether a clause tells of what began at a time named before, and still is."""
    pairs = set(pairwise(words))
    return bool(pairs & _LASTING)


def _understood(
    tokens: Sequence[Token], units: tuple[Unit, ...], before: Clause, continues: bool
) -> tuple[Unit, ...]:
    """What a clause that leaves out its subject, its object or its noun takes from before it.

    Only what was named, no verb and no number; and what it names itself replaces what could be
    the object of its verb: of "sold the Corsa, bought a Fiesta" the Corsa was not bought.
    """
    words = [token for token in tokens if token.kind == "word"]
    if not words:
        return ()
    named = [
        unit
        for unit in (*before.context, *before.units)
        if unit.value is None and not unit.denied and unit.text not in before.verbs
    ][-_CONTEXT:]
    if is_russian(words[0].low) or (len(words) > 1 and is_russian(words[1].low)):
        if not lacks_subject(tokens, units) and not continues:
            return ()
        lone = sum(unit.value is None for unit in units) == 1
        past = any({"VERB", "past"} <= tags(token.low) for token in words)
        if words[0].low in _RELATIVES:
            return tuple(named)
        if not has_object(tokens, units) and (lone or not past):
            return tuple(named)
        if lacks_subject(tokens, units):
            return tuple(unit for unit in named if not may_be_object(unit))
        return ()
    if not continues:
        return ()
    low = [token.low for token in words]
    if low[0] in _RELATIVES or tokens[0].low in FIRST:
        return tuple(named)
    own = has_object(tokens, units) or subject_of(tokens, units) or _SUBJECTS & set(low)
    worded = [unit for unit in units if unit.value is None]
    acts = len(worded) > 1 and bool(verbs_of(tokens, units))  # it may well have its own object
    return tuple(named) if worded and not (own or acts) else ()


def _is_speech(tokens: Sequence[Token]) -> bool:
    """Whether all of a clause is quoted and more than a title."""
    words = [token for token in tokens if token.kind == "word"]
    return (
        bool(words)
        and all(token.quoted for token in words)
        and (len(words) > 4 or any(token.low in FIRST or is_marker(token.low) for token in words))
    )
