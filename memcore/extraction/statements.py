"""Finds a person's explicit statements in what was said, and proposes them as quotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from memcore.extraction import english, russian
from memcore.extraction.details import tells_detail
from memcore.extraction.quotation import attributed, quotation
from memcore.extraction.screen import folded, is_joke, is_statement, own_words
from memcore.text import sentences
from memcore.types import Message, Proposal

LONGEST = 300
"""Characters; a longer sentence says more than one thing and is left to a model."""

_SHORTEST = 6
_CLAUSE = (
    r"(?:^|[,;:.!(—–]\s*|\b(?:and|but|so|because|since|also|btw|well|oh|hi|hello|yes|no|ok|now"
    r"|anyway|и|а|но|так что|потому что|ведь|кстати|ну|вообще|ой|да|нет|привет|короче)[,.!]?\s+)"
)
_LEAD = re.compile(
    r"^(?:please )?(?:(?:also )?remember|note|keep in mind|bear in mind|fyi|for your records"
    r"|запомни\w*|запиши\w*|учти\w*|имей\w* в виду|пожалуйста)[,:]?(?: that| что)?[,:]?\s+"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that states something of its speaker.

    `subject` names what can have one value only (home, size), so that a later statement of the
    same speaker takes its place; it is empty for what can have many.
    """

    message: Message
    text: str
    kind: str
    subject: str
    lasting: bool


@dataclass(frozen=True, slots=True)
class _Pattern:
    kind: str
    subject: str
    lasting: bool
    pattern: re.Pattern[str]


@cache
def _patterns(language: str) -> tuple[_Pattern, ...]:
    table = russian.PATTERNS if language == "ru" else english.PATTERNS
    return tuple(
        _Pattern(kind, subject, lasting, re.compile(f"{_CLAUSE}(?:{form})"))
        for kind, subject, lasting, form in table
    )


@cache
def _any_of(language: str) -> re.Pattern[str]:
    """One look that tells for most sentences that there is nothing in them."""
    table = russian.PATTERNS if language == "ru" else english.PATTERNS
    forms = (re.sub(r"\(\?P<\w+>", "(?:", form) for _, _, _, form in table)
    return re.compile(f"{_CLAUSE}(?:{'|'.join(f'(?:{form})' for form in forms)})")


def statements(message: Message, present: frozenset[str] = frozenset()) -> Iterator[Statement]:
    """The explicit statements of one message of the person's, one a sentence at most.

    `present` are the names of those who talk, case-folded.
    """
    if message.role != "user" or is_joke(message.text):
        return
    own = own_words(message.text)
    for start, end in sentences(message.text):
        if not _SHORTEST <= end - start <= LONGEST:
            continue
        found = _read(own[start:end]) or _detail(own[start:end], present)
        if found is not None:
            words = " ".join(message.text[start:end].split())
            yield Statement(message, words, *found)


def propose(messages: Sequence[Message]) -> list[Proposal]:
    """The statements of all messages, each as an attributed quotation; one said twice, once."""
    found: dict[str, Proposal] = {}
    present = frozenset(name for one in messages for name in one.speaker.casefold().split())
    for message in messages:
        for one in statements(message, present):
            line = quotation(message, one.text)
            found.setdefault(line.casefold(), Proposal(line, (message.id,), one.lasting))
    return list(found.values())


def subject_of(line: str) -> tuple[str, str] | None:
    """Of whom and what a quotation tells that has one value at a time, None for any other line."""
    parts = attributed(line)
    found = _read(parts.words) if parts else None
    return (parts.speaker, found[1]) if parts and found and found[1] else None


def _detail(sentence: str, present: frozenset[str]) -> tuple[str, str, bool] | None:
    """As `_read`, for a statement that is of no known kind and tells a detail."""
    if tells_detail(sentence, present) and is_statement(folded(sentence)):
        return "detail", "", False
    return None


def _read(sentence: str) -> tuple[str, str, bool] | None:
    """Kind, subject and whether it lasts; None for what is no statement of a known kind."""
    text = _LEAD.sub("", folded(sentence)).rstrip(" .!…)(:;🙂😄😎🙏")
    cyrillic = re.search(r"[а-я]", text) is not None
    languages = ("ru", "en") if cyrillic and re.search(r"[a-z]{2}", text) else ("ru",)
    for language in languages if cyrillic else ("en",):
        if not _any_of(language).search(text):
            continue
        if not is_statement(text):
            return None
        for one in _patterns(language):
            if match := one.pattern.search(text):
                subject = one.subject or (match.groupdict().get("what") or "")
                return one.kind, subject.removeprefix("new ").removeprefix("новый "), one.lasting
    return None
