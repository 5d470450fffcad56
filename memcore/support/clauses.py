"""A text as clauses: what each says, of whom, and in what manner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from memcore.support.context import (
    CONTEXT,
    goes_on,
    has_theirs,
    is_occasion,
    lasts,
    only_times,
    understood,
)
from memcore.support.dates import When
from memcore.support.modality import Manner, is_marker, manner
from memcore.support.people import is_person, lead, owned, subject_of
from memcore.support.splitting import FIRST, split
from memcore.support.tokens import Token, sentences
from memcore.support.units import Unit, units_of
from memcore.support.verbs import verbs_of
from memcore.support.words import GENERIC, lemma, listed, tags

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
_AGAINST = listed("but otherwise а но иначе")
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
            if is_occasion(rest):
                rest = []
            rest += tokens  # a piece that tells nothing belongs to the next: "perhaps, …"
            units = units_of(tokens, today)
            if units and (tokens[-1] is sentence[-1] or not only_times(tokens, units)):
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
        plain = (unit for unit in before.units[-CONTEXT:] if not unit.denied)
        context = (*before.context, *plain)[-CONTEXT:]
        if not subject and not speaks and (found & _THIRD or has_theirs(words)):
            subject = before.subject or before.lead or before.people
            people |= subject
    elif before is not None:
        listing = continues and how.verbless and tokens[0].low == ":"
        if listing:  # "booked the room: 4 May"
            how = replace(how, either=True)
        told = [*before.context, *before.units]
        named = [unit for unit in told if unit.text not in before.verbs]
        context = before.units if listing else understood(tokens, units, named, continues)
        missing = {"нет", "нету"} & set(before.words)  # what is not there does nothing
        if continues and not (subject or speaks or missing) and goes_on(tokens, units):
            subject, speaks = before.subject, before.speaks
            people |= subject
    if lasts(words):  # moved in May and has lived here since: since May
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


def _is_speech(tokens: Sequence[Token]) -> bool:
    """Whether all of a clause is quoted and more than a title."""
    words = [token for token in tokens if token.kind == "word"]
    return (
        bool(words)
        and all(token.quoted for token in words)
        and (len(words) > 4 or any(token.low in FIRST or is_marker(token.low) for token in words))
    )
