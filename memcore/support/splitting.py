"""Where a sentence falls into clauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memcore.support.modality import is_marker, is_negator, is_past
from memcore.support.numbers import may_begin_number
from memcore.support.reading_dates import may_begin_when
from memcore.support.tokens import Token
from memcore.support.words import is_function, is_russian, listed, may_be_nominative, tags

FIRST = listed("i i'm i've i'll i'd im ive we we're we've we'll я мы")
"""Words for the speaker as whom a clause is about."""

_SPLITTING = listed(
    """but because although though whereas while if when that но однако потому поскольку хотя зато
    чтобы если когда что где который которая которое которые которого которую"""
)
_SUBJECTS = listed(
    """i i'm i've i'll i'd he he's she she's they they're we we're you you're it it's my his her
    their our я мы он она они ты вы оно у мой моя мое мои"""
)
_POSSESSIVES = listed("my his her their our мой моя мое мои")
REFUSING = listed("can't couldn't won't могу смогу можем сможем получится")
"""What follows such a word and a comma is the reason: "I can't, allergic to cats"."""
_OPENERS = listed("не нет not never no don't please пожалуйста")
_AUXILIARIES = listed("is are was were has will")
_FINITE = _AUXILIARIES | listed("am have had do does did can could must should")
_AFTER_WORD = listed("i i'm i've i'll he she they we")
_CONTRACTED = listed("i'm i've i'll")
_ACTING = listed(
    """like love hate prefer want need enjoy adore dislike fear avoid drink eat wear own use play
    buy sell keep know speak study teach live work sleep run ride drive cook bake read write watch
    collect grow support trust miss owe visit call pay rent carry bring take make give choose pick
    respect admire despise distrust envy"""
)
"""English verbs that a second statement of the same subject may begin with, after "and"."""
_ENDING = frozenset((",", ";", ":", "(", ")", "and", "и"))


def split(sentence: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The clauses of a sentence as tokens: cut at `;` and parentheses, at conjunctions, where a
    subject begins, where a second verb follows a comma, and where quoted speech begins or ends."""
    start = 0
    quoted = bool(sentence) and sentence[0].quoted
    for at, token in enumerate(sentence):
        if at == start:
            quoted = token.quoted
            continue
        before, following = sentence[at - 1], sentence[at + 1 : at + 5]
        if token.quoted != quoted:
            cut = _is_long_quote(sentence, at) or (quoted and _is_long_quote(sentence, start))
            quoted = token.quoted
        elif token.low == ",":
            begins = _begins(following) and not _is_apposition(sentence[at + 1 : at + 5])
            begins = begins or _changes_subject(sentence, start, at)
            begins = begins or before.low in REFUSING
            cut = not _is_aside(sentence[start:at]) and (begins or _has_verbs(sentence, start, at))
        elif token.low in (":", "(", ")"):
            told = any(_is_verb(one) for one in sentence[start:at])
            more = sum(one.kind != "sign" for one in sentence[at + 1 :]) > 2
            cut = _has_verbs(sentence, start, at) or (token.low == ":" and told and more)
        elif token.low in ("and", "и", "а", "so", "or"):
            past = bool(following) and is_past(following[0].low)
            both = token.low in ("and", "и") and _has_verbs(sentence, start, at)
            both = both or (token.low in ("and", "or") and acts(following))
            begins = _begins(following)
            if token.low == "и" and not any(_is_verb(one) for one in sentence[start:at]):
                begins = False  # two nouns before one verb
            counts = bool(following) and may_begin_number(following[0].low)  # one or two
            cut = token.low == "а" or (begins and not counts) or past or both
        elif token.low in _AFTER_WORD:
            apart = token.low in _CONTRACTED or not is_function(before.low)
            first = start + (sentence[start].kind != "word")
            cut = before.kind == "word" and apart and at - first > 1
        else:
            cut = token.low == ";" or token.low in _SPLITTING
        if cut:
            yield sentence[start:at]
            start, quoted = at, token.quoted
    yield sentence[start:]


def acts(tokens: Sequence[Token]) -> bool:
    """Whether an English verb without a subject of its own stands first, or behind an adverb."""
    words = [token.low for token in tokens[:2] if token.kind == "word"]
    if len(words) == 2 and is_marker(words[0]):
        words = words[1:]
    return bool(words) and any(
        form in _ACTING
        for form in (words[0], words[0].removesuffix("s"), words[0].removesuffix("es"))
    )


def _changes_subject(sentence: Sequence[Token], start: int, at: int) -> bool:
    """Whether a Russian verb stands before a comma and a person in the nominative behind it: what
    the daughter does, the son does otherwise."""
    if at + 1 >= len(sentence) or not any("VERB" in tags(one.low) for one in sentence[start:at]):
        return False
    low = sentence[at + 1].low
    animate = is_russian(low) and "NOUN" in tags(low) and "anim" in tags(low)
    return animate and may_be_nominative(low)


def _is_apposition(tokens: Sequence[Token]) -> bool:
    """Whether only one word belongs to a possessive: "it's the 5th, my birthday"."""
    words = [token.low for token in tokens]
    if not words or words[0] not in _POSSESSIVES or len(words) < 2:
        return False
    ends = words[2:3] or ["."]
    return words[2:4] == ["i", "mean"] or (not ends[0].isalnum() and "'" not in words[1])


def _is_aside(tokens: Sequence[Token]) -> bool:
    """Whether what stands since the last comma only tells the manner: "Anna, perhaps, will"."""
    for token in reversed(tokens):
        if token.low == ",":
            break
        if token.kind == "word" and not is_marker(token.low):
            return False
    return True


def _has_verbs(sentence: Sequence[Token], start: int, at: int) -> bool:
    """Whether a verb, or a denial, stands on both sides of a sign or a conjunction."""
    if not any(_is_verb(token) or token.low in FIRST for token in sentence[start:at]):
        return False
    for token in sentence[at + 1 :]:
        if token.low in _ENDING:
            return False
        if _is_verb(token) or is_negator(token.low):
            return True
    return False


def _is_verb(token: Token) -> bool:
    """Whether a word is surely finite: in Russian by its form, in English an auxiliary or past."""
    low = token.low
    if token.kind != "word":
        return False
    if is_russian(low):
        return bool({"VERB", "PRED"} & tags(low))
    return low in _FINITE or low.endswith(("n't", "'m", "'re", "'ve", "'ll")) or is_past(low)


def _is_long_quote(sentence: Sequence[Token], at: int) -> bool:
    """Whether what is quoted from a token on is speech and not a title."""
    words = 0
    for token in sentence[at : at + 40]:
        words += token.kind == "word" and token.quoted
        if token.quoted and token.low in FIRST:
            return True
    return words > 4


def _begins(tokens: Sequence[Token]) -> bool:
    """Whether a clause of its own begins here: with a subject, a negation, a Russian verb."""
    timed = True
    for place, token in enumerate(tokens):
        low = token.low
        if token.kind != "word":
            return False
        if (place < 2 and low in _SUBJECTS) or (timed and low in _AFTER_WORD):
            return True
        verb = low.endswith("n't") or low in _AUXILIARIES or "VERB" in tags(low)
        if place < 3 and (low in _OPENERS or verb):
            return True
        timed = timed and (is_function(low) or may_begin_when(low))  # on Friday I …
    return False
