"""New lines joined to a note by appending: what it holds stays, whoever wrote it.

Only where a page would grow too long, the curator's own lines that a new one makes out of date go.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memcore.extraction import attributed, subject_of
from memcore.types import PAGE, Draft, Message, Note, Proposal

_MARK = re.compile(r"^(?:[-*+]\s+)?(?:\d{4}-\d\d-\d\d, )?")


@dataclass(slots=True)
class Merged:
    """A note with new lines: the draft, None where nothing is new; the lines it takes, and those
    refused with the reason."""

    draft: Draft | None
    taken: list[Proposal] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Dated:
    """A proposal and the local day on which it was said last."""

    proposal: Proposal
    day: str


def bare(line: str) -> str:
    """A note's line without list mark and date: what was proposed."""
    return _MARK.sub("", line.strip(), count=1)


def own_lines(history: Sequence[Note]) -> set[str]:
    """The lines of a note that the curator has added, by its revisions, newest first."""
    own: set[str] = set()
    before: set[str] = set()
    for note in reversed(history):
        lines = set(note.text.splitlines())
        if note.writer == "curator":
            own |= lines - before
        else:
            own &= before & lines
        before = lines
    return own


def merge(
    key: str,
    current: Note | None,
    new: Sequence[Dated],
    known: set[str],
    size: int,
    history: Sequence[Note],
    said: Sequence[Message],
) -> Merged:
    """The note with the new lines appended, at most `size` characters.

    `known` are lines that stand in notes already, folded. `history` are the note's revisions,
    newest first, and `said` the messages that it cites now: what a dropped line alone came from
    is cited no more.
    """
    merged = Merged(None)
    lines = current.text.splitlines() if current else []
    sources = list(current.sources) if current else []
    known = known | {fold(bare(line)) for line in lines}
    own = own_lines(history) if key == PAGE else set()
    for one in new:
        line = one.proposal.text
        if fold(line) in known:
            merged.refused.append((line, "it stands in the notes already"))
            continue
        grown = [*lines, f"- {one.day}, {line}" if key == PAGE else f"- {line}"]
        excess = _size(grown) - size
        dropped = _superseded(one.proposal, lines, own, excess) if key == PAGE else []
        kept = [old for old in grown if old not in dropped]
        if (length := _size(kept)) > size:
            name = "the page" if key == PAGE else f"the note of {key}"
            why = f"{name} would have {length} characters and an item holds at most {size}"
            merged.refused.append((line, why))
            continue
        lines = kept
        known.add(fold(line))
        sources = [id for id in sources if id not in _only_behind(dropped, lines, said)]
        sources += [id for id in one.proposal.sources if id not in sources]
        merged.taken.append(one.proposal)
    if merged.taken:
        revision = current.revision if current else 0
        merged.draft = Draft(key, "\n".join(lines), revision, tuple(sources))
    return merged


def fold(line: str) -> str:
    """A line as it is compared: case and white space do not count, everything else does."""
    return " ".join(line.casefold().split())


def _size(lines: Sequence[str]) -> int:
    return len("\n".join(lines))


def _superseded(new: Proposal, lines: list[str], own: set[str], excess: int) -> list[str]:
    """The curator's own lines about what the new one tells anew, oldest first, as many as free
    `excess` characters; none where they do not."""
    subject, dropped = subject_of(new.text), list[str]()
    for line in lines:
        if excess <= 0:
            break
        told = bare(line)
        same = subject is not None and subject_of(told) == subject
        named = bool(new.updates) and fold(told) == fold(bare(new.updates))
        if line in own and (same or named):
            dropped.append(line)
            excess -= len(line) + 1
    return dropped if excess <= 0 else []


def _only_behind(dropped: list[str], kept: list[str], said: Sequence[Message]) -> set[str]:
    """Ids of messages that dropped lines quote and no line that stays."""
    if not dropped:
        return set()
    gone, stays = (
        [parts.words for line in group if (parts := attributed(bare(line)))]
        for group in (dropped, kept)
    )
    texts = {one.id: " ".join(one.text.split()) for one in said}
    return {
        id
        for id, text in texts.items()
        if any(words in text for words in gone) and not any(words in text for words in stays)
    }
