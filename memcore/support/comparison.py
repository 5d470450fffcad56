"""A clause of a line against a clause of a message: the same manner, of the same person?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memcore.support.clauses import Clause
from memcore.support.dates import Leaning
from memcore.support.units import Unit


@dataclass(frozen=True, slots=True)
class Said:
    """A clause of a cited message: who said it and on which day; `user` where that was a user."""

    clause: Clause
    day: date
    speaker: frozenset[str]
    user: bool
    message: str

    @property
    def leaning(self) -> Leaning:
        how = self.clause.manner
        if how.past != how.future:
            return "past" if how.past else "future"
        return ""

    def bears(self, unit: Unit) -> bool:
        """Whether the clause, or what it points back to, bears out a unit of the line."""
        return any(
            own.bears(unit, self.day, self.leaning)
            for own in (*self.clause.units, *self.clause.context)
        )


def unstated(clause: Clause) -> str:
    """Why a clause states nothing; empty where it does."""
    if clause.asked:
        return "question"
    if clause.quoted:
        return "quotation"
    return f"hypothetical: {clause.manner.unreal}" if clause.manner.unreal else ""


def other_manner(clause: Clause, one: Said, wanted: Sequence[Unit]) -> str:
    """What a clause of the line says in another manner than a clause of a message."""
    mine, theirs = clause.manner, one.clause.manner
    if mine.negations != theirs.negations:  # what cancels out is not worked out
        return "negation"
    if mine.negations and not _denies_same(wanted, one):
        return "negation"
    if added := mine.quantities - theirs.quantities:
        return f"exaggeration: {min(added)}"
    if changed := theirs.soft ^ mine.soft:
        return f"exaggeration: {min(changed)}"
    modes = mine.modes ^ theirs.modes
    if modes - {"intent"} or ("intent" in modes and not (mine.future and theirs.future)):
        return f"tense: {min(modes)}"
    if mine.past != theirs.past:
        return "tense: past"
    if mine.future and not theirs.future and not theirs.progressive:
        return "tense: future"
    if theirs.future and not mine.future and not (mine.verbless and "intent" not in theirs.modes):
        return "tense: future"
    return ""


def _denies_same(wanted: Sequence[Unit], one: Said) -> bool:
    """Whether what the line denies first is denied by the message as well."""
    first = next((unit for unit in wanted if unit.denied), None)
    if first is None:  # «аллергии нет»
        return True
    absent = {"нет", "нету"} & set(one.clause.words)  # it denies what stands before it, too
    bearing = [unit for unit in one.clause.units if unit.bears(first, one.day, one.leaning)]
    return not bearing or bool(absent) or any(unit.denied for unit in bearing)


def other_person(clause: Clause, before: Clause | None, one: Said, speakers: frozenset[str]) -> str:
    """Why a clause of a message is not of whom the line's clause is; empty where it is.

    `before` is the line's clause before this one, `speakers` are the keys of all who are cited.
    """
    theirs = one.clause
    if theirs.second and not theirs.speaks:
        return "speaker: whom the message addresses"
    about = frozenset(key for unit in clause.units for key in unit.keys)
    named = about & speakers
    present = theirs.people | theirs.names | theirs.lead
    if named and not (named & one.speaker or named & present):
        return "speaker: said by another"
    if (clause.generic or clause.first) and not one.user:
        return "speaker: not said by the user"
    about |= clause.people
    if before is not None and not clause.people:
        about |= before.people | before.lead
    others = (theirs.subject or theirs.lead) - one.speaker
    subject = (clause.subject or clause.lead & present) - speakers
    if theirs.speaks and not others and subject:
        return "speaker: said of whom speaks"
    if others and (not about & others or (subject and not subject & others)):
        return "speaker: said of another"
    if not theirs.speaks:
        alone = clause.subject or clause.lead
        if others and alone and alone <= speakers:
            return "speaker: said of another"
        if theirs.owned and not about & theirs.owned:
            return "speaker: said of another"
        people = theirs.people - one.speaker
        if people and not about & people:
            return "speaker: said of another"
    if clause.speaks and not theirs.first:
        return "speaker: not said in the first person"
    return ""
