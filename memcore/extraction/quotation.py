"""The attributed quotation: `Anna: "My size is 38"`, «…» around Russian text."""

from __future__ import annotations

import re
from typing import NamedTuple

from memcore.types import Message

_FORM = re.compile(r"(?P<who>[^\n]{1,60}?): (?:\"(?P<en>[^\n]+)\"|«(?P<ru>[^\n]+)»)")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_NAME = 60


class Attributed(NamedTuple):
    """Who said it, and the words."""

    speaker: str
    words: str


def speaker_of(message: Message) -> str:
    """The speaker's name as a line has it: on one line, without a colon; the role where there is
    none."""
    name = " ".join(message.speaker.replace(":", " ").split())[:_NAME].strip()
    return name or message.role


def quotation(message: Message, words: str) -> str:
    """The line that says who said these words."""
    marks = "«»" if is_russian(words) else '""'
    return f"{speaker_of(message)}: {marks[0]}{words}{marks[1]}"


def attributed(line: str) -> Attributed | None:
    """The parts of an attributed quotation, None for any other line."""
    match = _FORM.fullmatch(line)
    return Attributed(match["who"], match["en"] or match["ru"]) if match else None


def is_russian(text: str) -> bool:
    """Whether most letters are Cyrillic."""
    return len(_CYRILLIC.findall(text)) > len(_LATIN.findall(text))
