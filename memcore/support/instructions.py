"""Lines that read as a rule for whoever answers, and not as something known of a person."""

from __future__ import annotations

import re

from memcore.support.tokens import sentences
from memcore.support.words import listed, tags

_RULE = re.compile(
    r"""
    \b(?:from\ now\ on|from\ this\ (?:moment|point)|going\ forward|henceforth|system\ prompt)\b
  | \b(?:ignore|disregard|forget|override|bypass)\b.{0,40}
    \b(?:rules?|instructions?|prompts?|guidelines|polic(?:y|ies)|restrictions|everything)\b
  | \b(?:assistant|agent|bot|chatbot|ai|model)\s+
    (?:must|should|shall|has\ to|needs\ to|is\ to|will|may|can|always|never)\b
  | \byou\ (?:must|should|shall|have\ to|need\ to|are\ now|will\ now|can\ now|may\ now)\b
  | \bс\ (?:этого|данного|сего)\ момента\b | \bс\ этой\ минуты\b | \bотныне\b | \bвпредь\b
  | \b(?:игнорир\w+|забудь\w*|отмени\w*|наруш\w+|обойди\w*).{0,40}
    \b(?:правил\w*|инструкци\w+|указани\w+|ограничени\w+|промпт\w*)\b
  | \b(?:ассистент|помощник|бот|агент|модель|нейросеть)\w?\s+
    (?:долж\w+|обязан\w*|всегда|никогда|может\ теперь|теперь)
  | \b(?:ты|вы)\ (?:долж\w+|обязан\w*|теперь)\b
    """,
    re.VERBOSE,
)
_VERBS = listed(
    """answer reply respond say tell give offer mention reveal ask call use send add grant approve
    trust recommend include refuse obey write speak ignore forget remember address make keep start
    let refund transfer pay delete show treat put deliver bring remind avoid act pretend do be
    provide apply charge confirm agree ship greet end begin sign accept disclose share"""
)
_OPENERS = listed("please always never not don't do only пожалуйста всегда никогда не")


def is_instruction(line: str) -> bool:
    """Whether a line tells somebody what to do or what rules hold."""
    if _RULE.search(line.casefold().replace("ё", "е")):
        return True
    for sentence in sentences(line):
        words = [token.low for token in sentence if token.kind == "word"]
        while words and words[0] in _OPENERS:
            words = words[1:]
        if words and ((words[0] in _VERBS and len(words) > 1) or "impr" in tags(words[0])):
            return True
    return False
