"""Whether the messages that a line of a note cites bear it out.

No model: the line is read as clauses, each cited message too, and a clause of the line must find
all that it tells in clauses that tell it in the same manner, of the same person. In doubt the
answer is no: a wrong note rides in every turn, a missed one costs a search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from memcore.support.arrangement import held_together, swapped
from memcore.support.clauses import Clause, read
from memcore.support.comparison import (
    CONDITIONS,
    Said,
    other_manner,
    other_person,
    telling,
    unstated,
)
from memcore.support.exchanges import answered, corrected
from memcore.support.instructions import is_instruction
from memcore.support.numbers import Number
from memcore.support.tokens import sentences
from memcore.support.units import Unit
from memcore.support.words import keys, listed
from memcore.text import local_day
from memcore.types import Message

LONGEST = 2_000
"""Characters of a line; no item of memory may be longer."""

_READ = 20_000
"""Characters of a message that are read; what is said behind them bears nothing out."""

_SPEAKER_PREFIX = re.compile(r"^\s*([^\W\d_][\w .-]{0,60}):\s*(?=\S)")
_NAMING = listed("name name's named called зовут звать имя")
_FILLERS = listed("well so honestly yes yeah oh ok and but ну вот да ой кстати и а но честно")
_KINDS = {"number": "number", "name": "name", "when": "date", "word": "not said:"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a line is supported, and where not, what its sources do not bear out."""

    ok: bool
    reason: str = ""


def supported(line: str, sources: Sequence[Message], *, zone: ZoneInfo) -> Verdict:
    """Whether the cited messages bear out a line: names, numbers, dates, negation, who, in what
    manner, and every content word.

    Tool output is no source. Relative days are resolved by each message's time in the owner's
    zone. The reason of a refusal begins with its kind: `number`, `date`, `name`, `not said`,
    `negation`, `speaker`, `tense`, `exaggeration`, `question`, `hypothetical`, `quotation`,
    `instruction`, `language`, `nothing said`, `no source`, `too long`. Never raises.
    """
    bare = line.strip().lstrip("-*•# \t")
    if not bare:
        return Verdict(False, "nothing said")
    if len(bare) > LONGEST:
        return Verdict(False, f"too long: {len(bare)} characters, at most {LONGEST}")
    spoken = sorted(
        (message for message in sources if message.role != "tool" and message.text.strip()),
        key=lambda one: (one.time, one.id, one.speaker, one.text),
    )
    if not spoken:
        return Verdict(False, "no source")
    if is_instruction(bare):
        return Verdict(False, "instruction")
    if all(_is_russian(bare) not in _languages(message.text, bare) for message in spoken):
        return Verdict(False, "language")
    said = [one for message in spoken for one in _said(message, zone)]
    speakers = frozenset(key for message in spoken for key in _name_keys(message.speaker))
    told, who = _without_prefix(bare, speakers)
    said = corrected(answered(said))
    return _check(told, [one for one in said if not who or who & one.speaker], speakers)


def _check(line: str, said: Sequence[Said], speakers: frozenset[str]) -> Verdict:
    told = read(line, max((one.day for one in said), default=date(2000, 1, 1)))
    if any(clause.asked for clause in told):
        return Verdict(False, "question")
    if any(clause.units for clause in told) and _is_verbatim(told, said):
        return Verdict(True)
    if not any(_wanted(clause, speakers) for clause in told):
        return Verdict(False, "nothing said")
    before: Clause | None = None
    for clause in told:
        if _wanted(clause, speakers):
            reason = _objection(clause, before, said, speakers)
            if reason:
                return Verdict(False, reason)
        before = clause
    return _all_counted(told, said)


def _is_verbatim(told: Sequence[Clause], said: Sequence[Said]) -> bool:
    """Whether the line stands word for word in what one user stated, from the beginning of a
    clause to the end of one, a filler before it left out."""
    wanted = [word for clause in told for word in clause.words]
    for start, first in enumerate(said):
        words: list[str] = []
        for one in said[start:]:
            if one.message != first.message or not one.user or len(words) > len(wanted) + 4:
                break
            stated = not one.clause.manner.unreal or one.clause.manner.unreal in wanted
            if one.clause.asked or one.clause.quoted or not stated:
                break
            words += one.clause.words
            if _without_fillers(words) == _without_fillers(wanted):
                return True
    return False


def _without_fillers(words: Sequence[str]) -> Sequence[str]:
    place = 0
    while place < len(words) and words[place] in _FILLERS:
        place += 1
    return words[place:]


def _objection(
    clause: Clause, before: Clause | None, said: Sequence[Said], speakers: frozenset[str]
) -> str:
    """What the messages do not bear out of a clause of the line; empty where they do."""
    if clause.manner.unreal and clause.manner.unreal not in CONDITIONS:
        return f"hypothetical: {clause.manner.unreal}"
    wanted = _wanted(clause, speakers)
    fitting: list[Said] = []
    objections: list[tuple[int, str, list[Unit]]] = []
    for one in said:
        borne = [unit for unit in wanted if one.bears(unit)]
        if not borne:
            continue
        reason = (
            unstated(clause, one.clause)
            or other_manner(clause, one, wanted)
            or other_person(clause, before, one, speakers)
        )
        if reason:
            objections.append((len(borne), reason, borne))
        else:
            fitting.append(one)
    wanted = telling(wanted, fitting)
    for unit in wanted:
        if not any(one.bears(unit) for one in fitting):
            near = [found[:2] for found in objections if unit in found[2]]
            return max(near)[1] if near else _missing(unit)
    return held_together(wanted, fitting) or swapped(wanted, fitting)


def _wanted(clause: Clause, speakers: frozenset[str]) -> list[Unit]:
    """What a clause of the line tells besides the speaker's name, or that it is the name."""
    found = [unit for unit in clause.units if not unit.keys & speakers]
    return found or (list(clause.units) if _NAMING & set(clause.words) else [])


def _missing(unit: Unit) -> str:
    shown = repr(unit.shown) if unit.kind == "name" else unit.shown
    return f"{_KINDS[unit.kind]} {shown}"


def _all_counted(told: Sequence[Clause], said: Sequence[Said]) -> Verdict:
    """A refusal where the line has a number more often than its messages."""
    mine = _numbers(told)
    theirs = _numbers(one.clause for one in said)
    for value in mine:
        if mine.count(value) > sum(own.bears(value) for own in theirs):
            return Verdict(False, f"number {value.value}")
    return Verdict(True)


def _numbers(clauses: Iterable[Clause]) -> list[Number]:
    values = (unit.value for clause in clauses for unit in clause.units)
    return [value for value in values if isinstance(value, Number)]


def _said(message: Message, zone: ZoneInfo) -> Iterator[Said]:
    try:
        day = local_day(message.time, zone)
    except (OverflowError, ValueError):  # at the ends of the calendar
        day = message.time.date()
    speaker = _name_keys(message.speaker)
    for clause in read(message.text[:_READ], day):
        yield Said(clause, day, speaker, message.role == "user", message.id)


def _name_keys(speaker: str) -> frozenset[str]:
    tokens = [token for sentence in sentences(speaker) for token in sentence]
    return frozenset(key for token in tokens if token.kind == "word" for key in keys(token.low))


def _without_prefix(line: str, speakers: frozenset[str]) -> tuple[str, frozenset[str]]:
    """The line without `Anna: ` before it, where Anna is one who spoke, and her name's keys."""
    match = _SPEAKER_PREFIX.match(line)
    who = _name_keys(match[1]) if match else frozenset[str]()
    return (line[match.end() :], who) if match and who and who <= speakers else (line, frozenset())


def _languages(text: str, line: str) -> tuple[bool | None, ...]:
    """What `_is_russian` may say of a line: as of the text, and as of words quoted from it, since
    one message may be in both languages."""
    words = " ".join(_SPEAKER_PREFIX.sub("", line, count=1).strip('"«»“”').split())
    same = _is_russian(text)
    quoted = bool(words) and words in " ".join(text.split())
    return (same, None, not same) if quoted else (same, None)


def _is_russian(text: str) -> bool | None:
    """Whether most letters are Cyrillic; None where there are no letters."""
    letters = [character for character in text[:4000] if character.isalpha()]
    cyrillic = sum("\u0400" <= character <= "\u04ff" for character in letters)
    return 2 * cyrillic > len(letters) if letters else None
