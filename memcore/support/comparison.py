"""A clause of a line against a clause of a message: the same manner, of the same person?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from memcore.support.clauses import Clause
from memcore.support.dates import Leaning
from memcore.support.modality import ADVISING
from memcore.support.people import possessors
from memcore.support.units import Unit
from memcore.support.verbs import is_doing, is_light
from memcore.support.words import keys, lemma, listed

CONDITIONS = frozenset(("if", "если"))
_ORDERS = listed("order i'll take возьму берем беру заказываю закажу оформите")
_HAVING = listed("has have had owns own есть имеет")
_OLD = listed("old previous last former ex прежний прошлый старый бывший")


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


def unstated(line: Clause, clause: Clause) -> str:
    """Why a clause of a message states nothing of what the line does; empty where it states it.

    What the line tells on a condition must be told on one, and the condition itself as one.
    """
    if clause.asked:
        return "question"
    if clause.quoted:
        return "quotation"
    mine, theirs = line.manner, clause.manner
    if mine.unreal in CONDITIONS and theirs.unreal in CONDITIONS:
        return "" if mine.condition == theirs.condition else "hypothetical: condition"
    return f"hypothetical: {theirs.unreal or mine.unreal}" if theirs.unreal or mine.unreal else ""


def telling(wanted: list[Unit], fitting: Sequence[Said]) -> list[Unit]:
    """What must be said of what a clause of the line tells: without a verb that only links the
    rest, where clauses with no verb of their own have all of that rest."""
    rest = [unit for unit in wanted if not is_light(unit)]
    if len(rest) == len(wanted) or not rest:
        return wanted
    if len(rest) < 2 and all(unit.kind == "word" for unit in rest):
        return wanted  # who is at a bank may not work there
    doing = any(is_doing(unit) for unit in wanted if unit not in rest)
    plain = [
        one
        for one in fitting
        if not _has_own_verb(one.clause, wanted)
        and not (doing and not one.clause.first and _tells_more(one, wanted))
    ]
    return rest if all(any(one.bears(unit) for one in plain) for unit in rest) else wanted


def _tells_more(one: Said, wanted: Sequence[Unit]) -> bool:
    """Whether a clause names what the line does not: "an office at 8 Mill Lane" is no home."""
    own = (unit for unit in one.clause.units if unit.value is None)
    return any(not any(unit.bears(other, one.day, "") for other in wanted) for unit in own)


def _has_own_verb(clause: Clause, wanted: Sequence[Unit]) -> bool:
    """Whether a clause has a verb that is not among what the line tells."""
    known = {key for unit in wanted for key in unit.keys}
    return any(not keys(verb) & known for verb in clause.verbs)


def other_manner(clause: Clause, one: Said, wanted: Sequence[Unit]) -> str:
    """What a clause of the line says in another manner than a clause of a message."""
    mine, theirs = clause.manner, one.clause.manner
    if _is_naming(clause, one, wanted):
        return ""
    if _only_mentions(clause, one, wanted):
        return "not said: has"
    if mine.negations != theirs.negations:  # what cancels out is not worked out
        return "negation"
    if mine.negations and not _denies_same(wanted, one):
        return "negation"
    if mine.quantities & {"all", "every"} and _excepts(one.clause.units) > _excepts(clause.units):
        return "exaggeration: all"
    if added := mine.quantities - theirs.quantities:
        return f"exaggeration: {min(added)}"
    if changed := theirs.soft ^ mine.soft:
        return f"exaggeration: {min(changed)}"
    modes = set() if _asks_for_same(clause, one, wanted) else mine.modes ^ theirs.modes
    if modes - {"intent"} or ("intent" in modes and not (mine.future and theirs.future)):
        return f"tense: {min(modes)}"
    if _reports_advice(clause, one) or "possible" in mine.modes & theirs.modes:
        return ""
    if mine.past != theirs.past and not (mine.either or theirs.either):
        return "tense: past"
    if mine.future and not theirs.future and not theirs.progressive:
        return "tense: future"
    if theirs.future and not mine.future and not (mine.verbless and "intent" not in theirs.modes):
        return "tense: future"
    return ""


def _only_mentions(clause: Clause, one: Said, wanted: Sequence[Unit]) -> bool:
    """Whether a line only tells what somebody has, and the message speaks about such a thing
    without saying so: who is allergic to cats need have none."""
    if len(wanted) != 1 or wanted[0].kind != "word" or not _HAVING & set(clause.words):
        return False
    bearing = [unit for unit in one.clause.units if unit.bears(wanted[0], one.day, one.leaning)]
    return bool(bearing) and all(unit.placed for unit in bearing)


def _reports_advice(clause: Clause, one: Said) -> bool:
    """Whether the line tells what somebody advised, in whose message that is the advice."""
    for at, unit in enumerate(clause.units):
        if lemma(unit.text) in ADVISING and one.clause.speaks and one.bears(unit):
            return any(before.keys & one.speaker for before in clause.units[:at])
    return False


def _excepts(units: Sequence[Unit]) -> bool:
    return any(unit.relation == "except" for unit in units)


def _asks_for_same(clause: Clause, one: Said, wanted: Sequence[Unit]) -> bool:
    """Whether a line tells that somebody needs so many, and the message orders so many."""
    mine, theirs = clause.manner, one.clause.manner
    wishing = bool(mine.modes) and mine.modes <= {"need", "desire"}
    ordering = bool(theirs.modes) and theirs.modes <= {"need", "desire", "asked"}
    if not wishing or not (ordering or (_ORDERS & set(one.clause.words) and not theirs.modes)):
        return False
    counted = [unit for unit in wanted if unit.kind == "number"]
    return bool(counted) and not theirs.past and all(one.bears(unit) for unit in counted)


def _is_naming(clause: Clause, one: Said, wanted: Sequence[Unit]) -> bool:
    """Whether the line only tells what somebody or something is called, and the message names it
    so by the way: "my plumber Stan came" tells the plumber's name, whatever the plumber did."""
    mine = clause.manner
    plain = not (mine.past or mine.future or mine.modes or mine.negations or mine.quantities)
    if not plain or clause.verbs or len(wanted) != 2:
        return False
    if {unit.kind for unit in wanted} != {"word", "name"}:
        return False
    units = one.clause.units
    for at, (first, second) in enumerate(pairwise(units)):
        if (first.kind, second.kind) != ("word", "name") or first.part != second.part:
            continue
        known = any(first.bears(unit, one.day, "") for unit in wanted)
        old = at and lemma(units[at - 1].text) in _OLD
        if known and not old and any(second.bears(unit, one.day, "") for unit in wanted):
            return not first.denied and "former" not in one.clause.manner.modes
    return False


def _denies_same(wanted: Sequence[Unit], one: Said) -> bool:
    """Whether what the line denies first is denied by the message as well."""
    first = next((unit for unit in wanted if unit.denied), None)
    if first is None:  # «аллергии нет»
        return True
    absent = {"нет", "нету"} & set(one.clause.words)  # it denies what stands before it, too
    bearing = [unit for unit in one.clause.units if unit.bears(first, one.day, one.leaning)]
    return not bearing or bool(absent) or any(unit.denied for unit in bearing)


def _has_another(clause: Clause, one: Said) -> bool:
    """Whether what the line tells of is in the message somebody else's: my sister's dentist."""
    line = clause.units
    known = one.speaker.union(*(unit.keys for unit in line), clause.people)
    return any(
        not who.keys & known and any(thing.bears(unit, one.day, "") for unit in line)
        for who, thing in possessors(one.clause.units)
    )


def other_person(clause: Clause, before: Clause | None, one: Said, speakers: frozenset[str]) -> str:
    """Why a clause of a message is not of whom the line's clause is; empty where it is.

    `before` is the line's clause before this one, `speakers` are the keys of all who are cited.
    """
    theirs = one.clause
    if _has_another(clause, one):
        return "speaker: said of another"
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
        owner = clause.words[0].endswith("'s")  # it is of what she has
        alone = clause.subject or (frozenset() if owner else clause.lead)
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
