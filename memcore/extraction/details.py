"""What a statement may be worth keeping for: a number, a date, or somebody's or something's name.

The forms in `english` and `russian` know what people usually state of themselves. A sentence that
tells a detail in the speaker's own words is kept besides, where it stands on its own.
"""

from __future__ import annotations

import re

from memcore.extraction.screen import folded
from memcore.text import real_words

_LEAST_WORDS = 3
"""Real words; with fewer a sentence tells nothing without those before it."""

_NAME = re.compile(r"(?<=[a-zа-яё,;»\"] )[A-ZА-ЯЁ][\w’'-]{2,}")
"""A capital that no sentence begins with."""

_POINTING = re.compile(
    r"(?:\w+,? )?(?:it|it's|its|this|that|that's|these|those|he|he's|she|she's|they|they're|him|her"
    r"|them|there|same|he'll|she'll|they'll|it'll"
    r"|он|она|они|оно|это|этот|эта|эти|его|ее|их|ему|ей|им|там|туда|тот|та|те|такой|такая|такие)\b"
)
"""A sentence that begins so is about what another one names."""

_TO_ANOTHER = re.compile(
    r"\b(?:you|your|yours|you're|you've|you'll|yourself|let's|ты|тебя|тебе|твой|твоя|твои|вы|вас"
    r"|вам|вами|ваш|ваша|ваше|ваши|вашего|вашей|вашу|давай|давайте)\b"
)

_REQUEST = re.compile(
    r"(?:(?:please|pls|so|and|ok|now|well|а|ну|и|пожалуйста),? )*(?:tell|show|give|send|explain"
    r"|find|look|check|remind|help|compare|describe|list|recommend|suggest|скажи|скажите|расскажи|расскажите"
    r"|покажи|покажите|подскажи|подскажите|напомни|напомните|посмотри|посмотрите|глянь|гляньте"
    r"|найди|найдите|объясни|объясните|сравни|сравните|посоветуй|посоветуйте|проверь|проверьте)\b"
)
"""What is asked of the assistant is over once it has answered."""


def tells_detail(sentence: str, present: frozenset[str]) -> bool:
    """Whether a statement of one's own tells a detail and can be understood alone.

    `present` are the names of those who talk, case-folded: to call somebody is no detail.
    """
    text = folded(sentence)
    if _POINTING.match(text) or _REQUEST.match(text) or _TO_ANOTHER.search(text):
        return False
    if not any(map(str.isdigit, text)) and not _names(sentence, present):
        return False
    return len(real_words(sentence)) >= _LEAST_WORDS


def _names(sentence: str, present: frozenset[str]) -> bool:
    found = (name.casefold().replace("’", "'") for name in _NAME.findall(sentence))
    return any(
        name not in present and not any(name == one[: len(name)] for one in present)
        for name in found
        if not name.startswith(("i'", "i’"))
    )
