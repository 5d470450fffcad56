"""Whether a turn that is not searched by itself is searched all the same: the stated policies that
stand in for a model where there is none.

`points-back`, for `tool-only`: the search tool is called where the message is a question and points
to what was said before. Both are told by words alone, compared without case and with `ё` as `е`:

- a question: it holds a question mark, or begins with an interrogative or with a request to be
  reminded (`which …`, `remind me …`, `сколько …`, `напомни …`);
- pointing back: it holds a word of remembering or of an earlier time (`remember`, `ago`, `last
  week`, `помнишь`, `в прошлый раз`), says that somebody said, asked, chose or agreed something
  (`I told`, `we agreed`, `договорились`, `говорила`), or asks in the past tense (`did`, `was`,
  `были`; a Russian pronoun with a past form up to four words after it: `я тебе заказывал`).

`always`: it is called in every turn. No policy is a model; each is a point to measure from.
"""

from __future__ import annotations

import re
from typing import Literal

Policy = Literal["points-back", "always"]

_ENGLISH_QUESTION = r"who|whom|whose|what|which|when|where|why|how|remind"
_RUSSIAN_QUESTION = (
    r"кто|кого|кому|кем|что|чего|чему|чем|чья|чей|чье|чьи|какой|какая|какое|какие|какого|какую|"
    r"каком|каким|каких|когда|где|куда|откуда|почему|зачем|как|сколько|во сколько|на сколько|"
    r"напомни|напомните"
)
_QUESTION = re.compile(rf"\?|^\W*(?:{_ENGLISH_QUESTION}|{_RUSSIAN_QUESTION})\b")

_REPORTED = "said|told|mentioned|asked|wrote|promised|agreed|decided|chose|picked|discussed|talked"
_ENGLISH_PAST = (
    r"remember|remind|recall|earlier|previously|ago|yesterday|back then|"
    r"last (?:time|night|week|month|year|spring|summer|autumn|fall|winter)|"
    rf"(?:i|you|we|he|she|they)(?: \w+)? (?:{_REPORTED})|"
    r"did|didn't|was|wasn't|were|weren't|had"
)
_RUSSIAN_PAST = (
    r"помн\w+|вспомн\w+|напомн\w+|раньше|ранее|прежде|вчера|позавчера|назад|тогда|"
    r"прошл(?:ый|ая|ое|ые|ого|ой|ом|ую|ым|ых)|"
    r"(?:говорил|сказал|рассказывал|рассказал|упоминал|упомянул|писал|написал|спрашивал|спросил|"
    r"просил|попросил|обещал|договорил|договаривал|обсуждал|обсудил|решил|выбрал|выбирал)"
    r"(?:а|о|и|ся|ась|ось|ись)?|"
    r"(?:был|была|было|были)|"
    r"(?:я|мы|ты|вы|он|она|они)(?:\W+\w+){0,4}?\W+(?!если\b)\w{2,}(?:л|ла|ло|ли|лся|лась|лось|лись)"
)
_PAST = re.compile(rf"\b(?:{_ENGLISH_PAST}|{_RUSSIAN_PAST})\b")


def searches(policy: Policy, text: str) -> bool:
    """Whether the policy calls the search tool for a message."""
    if policy == "always":
        return True
    folded = text.casefold().replace("ё", "е").replace("’", "'")
    return bool(_QUESTION.search(folded) and _PAST.search(folded))
