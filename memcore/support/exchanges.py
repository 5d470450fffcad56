"""What messages say only together: an answer with its question, a correction with what it mends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from memcore.support.clauses import Clause
from memcore.support.comparison import Said
from memcore.support.numbers import UNITS, Number
from memcore.support.units import Unit
from memcore.support.words import listed

_OPEN = listed(
    """what what's which who who's where where's when when's how how's whose что чем чего какой
    какая какое какие какую какого каком кто кого кому где куда когда как сколько чей"""
)
_PRONOUNS = listed("i i'm i'd we he he's she she's they it it's я мы он она они")
_MANY = listed("many much сколько")
_WHO = listed("who who's кто")
_YES = listed("yes yeah yep yup да ага угу")
_NO = listed("no nope nah нет не not")
_YOURS = listed(
    "your yours твой твоя твое твои твоего твоей ваш ваша ваше ваши вашего вашему вашей"
)
_CHOICE = listed("or или")
_MENDING = listed("actually correction wait лучше точнее вернее поправка")
_LONGEST = 4
"""Units of an answer that takes the rest from its question."""


def answered(said: Sequence[Said]) -> list[Said]:
    """The same clauses, short answers as what they state: "Pumpkin!" to "What soup is it?".

    An open question is answered by what it asks for; one that asks whether, only by a yes. A
    question that offers a choice, or denies, is left alone.
    """
    found = list(said)
    messages = [list(group) for _, group in groupby(said, key=lambda one: one.message)]
    for before, after in pairwise(messages):
        asking = [one.clause for one in before if one.clause.asked]
        answer = after[0].clause
        if not asking or not before[-1].clause.asked or before[0].speaker == after[0].speaker:
            continue
        asked = next((one for one in reversed(asking) if set(one.words) & _OPEN), asking[-1])
        words = set(asked.words)
        if words & (_CHOICE | _NO) or asked.manner.negations:
            continue
        first = [one for one in after if one.clause.sentence == 0]
        thing = () if words & _YOURS else _asked_thing(asked)
        if not _is_fragment(answer) or (
            len(first) > 1 and _PRONOUNS & set(first[1].clause.words[:1])
        ):
            for one in first:
                known = replace(one.clause, context=(*one.clause.context, *thing))
                found[found.index(one)] = replace(one, clause=known)
        elif words & _OPEN or set(answer.words[:1]) & _YES:
            found[found.index(after[0])] = replace(after[0], clause=_stated(asked, answer))
    return found


def _asked_thing(asked: Clause) -> tuple[Unit, ...]:
    """What an open question asks for: the size of "what size should I take"."""
    for first, second in pairwise(asked.words):
        if first in _OPEN:
            return tuple(unit for unit in asked.units if unit.text == second)
    return ()


def _is_fragment(answer: Clause) -> bool:
    return (
        answer.manner.verbless
        and not answer.verbs
        and not (answer.asked or answer.quoted or answer.manner.unreal or answer.speaks)
        and not set(answer.words[:1]) & _NO
        and len(answer.units) <= _LONGEST
    )


def _stated(asked: Clause, answer: Clause) -> Clause:
    """An answer as the statement that its question asked for."""
    asks_who = bool(_WHO & set(asked.words[:1]))
    who = frozenset(key for unit in answer.units for key in unit.keys)
    own = asked.second and not _YOURS & set(asked.words)
    how = replace(
        asked.manner,
        soft=answer.manner.soft,
        quantities=answer.manner.quantities,
        negations=answer.manner.negations,
    )
    return replace(
        answer,
        units=_with_unit(answer.units, asked),
        manner=how,
        context=asked.units,
        verbs=asked.verbs,
        subject=frozenset() if own else who if asks_who else asked.subject,
        owned=asked.owned,
        people=asked.people | answer.people,
        speaks=own,
        first=own,
        second=False,
    )


def _with_unit(units: tuple[Unit, ...], asked: Clause) -> tuple[Unit, ...]:
    """The units of an answer, a bare number in what the question counts: how old, сколько лет."""
    pairs = set(pairwise(asked.words))
    counted = next((UNITS[after] for word, after in pairs if word in _MANY and after in UNITS), "")
    unit = "year" if {("how", "old"), ("сколько", "лет")} & pairs else counted
    return tuple(
        replace(one, value=replace(one.value, unit=unit))
        if unit and isinstance(one.value, Number) and not one.value.unit
        else one
        for one in units
    )


def corrected(said: Sequence[Said]) -> list[Said]:
    """The same clauses, with the numbers that who said them changed later: "make it eight"."""
    found = list(said)
    for place, one in enumerate(said):
        number = _mending(one.clause)
        if number is None:
            continue
        for at in range(place):
            if found[at].speaker == one.speaker and not found[at].clause.asked:
                found[at] = replace(found[at], clause=_with_number(found[at].clause, number))
    return found


def _mending(clause: Clause) -> Number | None:
    """The number that a clause puts in the place of another."""
    pairs = set(pairwise(clause.words))
    if not (_MENDING & set(clause.words) or pairs & {("make", "it"), ("make", "that")}):
        return None
    values = [unit.value for unit in clause.units if isinstance(unit.value, Number)]
    return values[0] if len(values) == 1 else None


def _with_number(clause: Clause, number: Number) -> Clause:
    """A clause that has one such number, with another for it."""
    same = [
        unit
        for unit in clause.units
        if isinstance(unit.value, Number) and unit.value.unit == number.unit
    ]
    if len(same) != 1:
        return clause
    units: tuple[Unit, ...] = tuple(
        replace(unit, value=number) if unit is same[0] else unit for unit in clause.units
    )
    return replace(clause, units=units)
