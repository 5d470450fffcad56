"""What is no statement: questions, suppositions, reports of others' words, instructions.

All patterns are held against text that `folded` has normalised.
"""

from __future__ import annotations

import re

_INSTRUCTION = re.compile(
    r"\b(?:from now on|henceforth|going forward|system prompt|developer mode|jailbreak"
    r"|(?:ignore|disregard|forget|override|bypass)\b.{0,60}\b(?:instructions?|rules?|prompts?"
    r"|guidelines|previous|earlier|above|everything|limits?)"
    r"|(?:your|the) (?:new )?(?:rules?|instructions?|prompt) (?:is|are|says?)"
    r"|(?:you|the (?:assistant|agent|bot|ai|model)) (?:must|should|shall|have to|need to"
    r"|are (?:now|to)|will (?:now|always|never))"
    r"|act as|pretend (?:to be|you)|respond only|answer only|do not (?:tell|mention|reveal)"
    r"|(?:always|never|don't ever|do not ever) (?:answer|reply|respond|say|write|send|give|call"
    r"|tell|mention|reveal|ask|use|recommend|offer|approve|add|include|address|speak|translate"
    r"|refund|ship|deliver|share|forward|trust|confirm|follow|obey)"
    r"|с этого момента|отныне|впредь|с этой минуты|системн\w+ (?:промпт|инструкци)\w*"
    r"|(?:игнорируй|игнорируйте|забудь|забудьте|не обращай)\b.{0,60}"
    r"\b(?:инструкци\w+|правил\w*|указани\w+|промпт\w*|все|прежн\w+|предыдущ\w+)"
    r"|(?:ты|вы|ассистент|бот|модель|помощник) (?:теперь )?(?:должен|должна|должны|обязан\w*)"
    r"|(?:твои|ваши|новые|новое) (?:правила|правило|инструкции)"
    r"|(?:всегда|никогда(?: больше)? не|больше не)\s+(?:\w+\s+){0,2}?"
    r"(?!(?:чай|мой|твой|свой|край|май|трамвай)\b)\w+(?:айте?|яйте?|ойте?|уйте?|ите|ьте|ори|иши"
    r"|ажи))"
    r"\b"
)  # fmt: skip
# Third-person and first-person verbs of habit ("I always use") are no instructions.
_OWN_HABIT = re.compile(
    r"\b(?:i|we|he|she|they|who|\w+s) (?:have |has |will |would |'ll )?(?:always|never) \w+"
)

_UNSURE = re.compile(
    r"\b(?:if|unless|would|wouldn't|could|couldn't|might|maybe|perhaps|probably|possibly|suppose"
    r"|supposing|imagine|pretend|wish|guess|think|thinking|thought|hopefully|hypothetical\w*"
    r"|as if|in theory|should i|should we|not true|no longer sure|i may|we may|it may|may be"
    r"|was going to|were going to|not sure|let's say|for example|e\.g|dream\w*|joking|almost"
    r"|если|бы|б|кабы|может|возможно|наверно\w*|вероятно|допустим|предположим|представь\w*|вдруг"
    r"|кажется|вроде|похоже|думаю|думаем|думала?|хотелось|неправда|не правда|не факт|не уверен\w*"
    r"|например|приснил\w*|мечтаю|чуть не|едва не|собирал(?:ся|ась|ись)|будто|словно|ли)\b"
    r"|\b(?:i|we|he|she|they|it)'d\b"
)
_REPORTED = re.compile(
    r"\b(?:said|says|say|told|tells|wrote|writes|writing|claims?|claimed|asked|asks|replied"
    r"|according to|quote|reads|swears|reckons?|insists?|insisted"
    r"|сказал\w*|говорит|говорят|говорил\w*|говоришь|пишет|пишут|написал\w*|написано|считает"
    r"|уверя\w+|утвержда\w+|мол|дескать|якобы|по словам|спросил\w*|спрашива\w+|ответил\w*"
    r"|отвеча\w+|цитирую|цитата|велел\w*|обещал\w*|настаива\w+)\b"
)
_ASKS = re.compile(
    r"(?:what|whats|what's|when|where|which|who|whose|why|how|do|does|did|is|are|can|could|should"
    r"|would|will|am|have you|has"
    r"|что|когда|где|какой|какая|какое|какие|кто|чей|почему|зачем|как|сколько|куда|откуда"
    r"|можно|а если|а как|а что)\b"
)
_JOKE = re.compile(r"\b(?:just kidding|kidding|jk|joking|шучу|шутка|пошутил\w*)\b")
_PAIRS = re.compile(r"«[^»]*(?:»|\Z)|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)|\"[^\"\n]*\""
r"|```[\s\S]*?(?:```|\Z)"
                    r"|(?<!\w)'[^'\n]{3,}'(?!\w)|(?<!\w)‘[^’\n]{3,}’(?!\w)")  # fmt: skip
_QUOTED_LINE = re.compile(r"^[ \t]*[>|].*$", re.MULTILINE)
_PASTED = re.compile(
    r"(?:^|(?<=\n))[ \t]*(?:-{2,} ?(?:original|forwarded|пересланн)|forwarded message|fwd?:|from:"
    r"|subject:|пересланное|от кого:|от:|тема:|begin forwarded|system:|assistant:|user:)"
    r"|\b(?:wrote|writes|said|says|sent|forward\w*|copied|copying|pasted?|pasting|quot\w+|email"
    r"|letter|message|review|text|note|reads|пишет|пишут|написал\w*|прислал\w*|сказал\w*|говорит"
    r"|цитирую|цитата|копирую|переслал\w*|пересылаю|вставляю|письмо|отзыв|сообщение|текст"
    r"|объявление)\b[^\n.!?:]{0,40}:(?=\s)",
    re.IGNORECASE,
)


def folded(text: str) -> str:
    """Case-folded, `ё` as `е`, typographic apostrophes as `'`, white space as single spaces."""
    return " ".join(text.casefold().replace("ё", "е").replace("’", "'").split())


def is_instruction(text: str) -> bool:
    """Whether a text tells an assistant how to behave. Such text is content, never a rule."""
    bare = _OWN_HABIT.sub(" ", folded(text))
    return _INSTRUCTION.search(bare) is not None


def is_statement(sentence: str) -> bool:
    """Whether a folded sentence states something, and of the speaker's own."""
    return not (
        "?" in sentence
        or _ASKS.match(sentence)
        or _UNSURE.search(sentence)
        or _REPORTED.search(sentence)
        or is_instruction(sentence)
    )


def is_joke(text: str) -> bool:
    """Whether a message takes back what it says."""
    return _JOKE.search(folded(text)) is not None


def own_words(text: str) -> str:
    """The text with everything quoted or pasted blanked out, at the same length."""
    for pattern in (_QUOTED_LINE, _PAIRS):
        text = pattern.sub(lambda match: "\x00" * len(match[0]), text)
    if pasted := _PASTED.search(text):
        text = text[: pasted.start()] + "\x00" * (len(text) - pasted.start())
    return text
