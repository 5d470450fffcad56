"""The text that is embedded for an item, for what is stored and what comes in alike."""

from __future__ import annotations

import re

from memcore.text import pieces
from memcore.types import Message, Note

SIZE = 1_500
"""The most characters of one passage; models cut off what is longer."""

QUERY_SIZE = 2_000
"""The most characters of a query: of a longer one, its beginning and its end count."""

_SPEAKER = 100
_TELLING = re.compile(r"[^\W_]")
_MARKS = re.compile(r"\s*(?:(?:[-*+]|\d{1,3}[.)]|#{1,6}|>+|\[[ xX]\])\s+)+")


def of_message(message: Message) -> list[str]:
    """`speaker: text`, in several passages at sentence ends where that is longer than `SIZE`; each
    has the speaker before it. Empty where the text has neither letter nor digit."""
    name = message.speaker.strip()[:_SPEAKER]
    return _passages(message.text, f"{name}: " if name else "")


def of_note(note: Note) -> list[str]:
    """Each line with a letter or digit, without the marks of Markdown lists and headings; a line
    longer than `SIZE` in several passages."""
    found = []
    for line in note.text.splitlines():
        mark = _MARKS.match(line)
        bare = line[mark.end() :] if mark else line
        found += _passages(bare if _TELLING.search(bare) else line, "")
    return found


def of_query(text: str) -> str:
    """The text; of one longer than `QUERY_SIZE` its first and its last thousand characters."""
    if len(text) <= QUERY_SIZE:
        return text
    half = QUERY_SIZE // 2
    return f"{text[:half]}\n{text[-half:]}"


def _passages(text: str, before: str) -> list[str]:
    found = (text[start:end] for start, end in pieces(text, SIZE - len(before)))
    return [f"{before}{piece}" for piece in found if _TELLING.search(piece)]
