"""Units that are all said somewhere: were they said together, and each beside the same?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from memcore.support.comparison import Said
from memcore.support.modality import is_past
from memcore.support.numbers import Number
from memcore.support.units import Unit
from memcore.support.words import keys, listed

_ORDERING = listed(
    """to from than over before after instead rather чем вместо предпочитаю предпочитает
    предпочитаем предпочла предпочел"""
)
"""Where one of these stands in a message, the order of its words is a part of what it says."""


def held_together(wanted: Sequence[Unit], fitting: Sequence[Said]) -> str:
    """The reason where units that stand together in the line were said apart, else empty."""
    places = [frozenset(at for at, one in enumerate(fitting) if one.bears(unit)) for unit in wanted]
    if frozenset.intersection(*places):
        return ""
    for at, unit in enumerate(wanted):
        near = [
            other
            for other in range(max(0, at - 2), min(len(wanted), at + 3))
            if other != at and wanted[other].part == unit.part
        ]
        others = near or [other for other in range(len(wanted)) if other != at]
        if others and not any(places[at] & places[other] for other in others):
            return f"not said together: {unit.shown}"
    return ""


def swapped(wanted: Sequence[Unit], fitting: Sequence[Said]) -> str:
    """The reason where a number stands beside what had another, or a name in another role."""
    for at, unit in enumerate(wanted):
        for step in (1, -1):
            near = at + step
            if unit.kind != "number" or not 0 <= near < len(wanted) or wanted[near].value:
                continue
            if wanted[near].part != unit.part:
                continue
            if _has_another(unit, wanted[near], step, fitting):
                return f"number {unit.shown}"
        if unit.value is not None and _is_of_another(unit, wanted, fitting):
            return f"{'number' if unit.kind == 'number' else 'date'} {unit.shown}"
    if reason := _turned(wanted, fitting):
        return reason
    names = [unit for unit in wanted if unit.kind == "name"]
    for first, second in pairwise(names):
        if not any(_same_roles(first, second, one) for one in fitting):
            return f"name {second.shown!r}: in another role"
    return ""


def _is_of_another(unit: Unit, wanted: Sequence[Unit], fitting: Sequence[Said]) -> bool:
    """Whether a number or time stands beside a word that another of its kind goes with: of "the
    party on Thursday, the exam on Friday" no exam is on Thursday."""
    for one in fitting:
        units = one.clause.units
        mine = {own.part for own in units if own.bears(unit, one.day, one.leaning)}
        rivals = {own.part for own in units if own.kind == unit.kind} - mine
        for word in wanted:
            if not mine or word.value is not None or word.part != unit.part:
                continue
            parts = {own.part for own in units if own.bears(word, one.day, one.leaning)}
            if parts & rivals and not parts & mine:
                return True
    return False


def _turned(wanted: Sequence[Unit], fitting: Sequence[Said]) -> str:
    """The reason where two units of a comparison or a way stand the other way round."""
    for one in fitting:
        if not _ORDERING & set(one.clause.words):
            continue
        places = [
            [at for at, own in enumerate(one.clause.units) if own.bears(unit, one.day, one.leaning)]
            for unit in wanted
        ]
        known = [(unit, found) for unit, found in zip(wanted, places, strict=True) if found]
        for (first, mine), (second, theirs) in combinations(known, 2):
            past = (verb for verb in one.clause.verbs if is_past(verb))
            if any(keys(verb) & (first.keys | second.keys) for verb in past):
                continue  # they moved the talk, the talk was moved
            worded = first.value is None and second.value is None
            if (worded or first.kind == second.kind) and mine[0] > theirs[-1]:
                return f"order: {first.shown}"
    return ""


def _has_another(unit: Unit, beside: Unit, step: int, fitting: Sequence[Said]) -> bool:
    """Whether a word has another number beside it, and nowhere this one."""
    other = False
    for one in fitting:
        units = one.clause.units
        for at, own in enumerate(units):
            near = at + step
            if not isinstance(own.value, Number) or not 0 <= near < len(units):
                continue
            if units[near].bears(beside, one.day, one.leaning):
                if own.bears(unit, one.day, one.leaning):
                    return False
                other = True
    return other


def _same_roles(first: Unit, second: Unit, one: Said) -> bool:
    """Whether two names do not stand the other way round in a clause that has both."""
    units = (*one.clause.context, *one.clause.units)
    mine = [at for at, own in enumerate(units) if own.bears(first, one.day, one.leaning)]
    theirs = [at for at, own in enumerate(units) if own.bears(second, one.day, one.leaning)]
    if not mine or not theirs:
        return True
    if first.nominative != second.nominative:
        return any(units[at].nominative for at in (mine if first.nominative else theirs))
    return mine[0] <= theirs[-1] or units[mine[0]].part != units[theirs[0]].part
