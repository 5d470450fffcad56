"""How a clause says what it says: tense, intention, doubt, negation, how often, how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memcore.support.numbers import may_begin_number
from memcore.support.reading_dates import may_be_weekday
from memcore.support.tokens import Token
from memcore.support.words import PAST, is_russian, lemma, listed, tags
from memcore.text import normalize


def _table(text: str) -> dict[str, str]:
    """Word → its class, from lines `class: words`."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        name, _, words = line.partition(":")
        found |= {normalize(word).replace("_", " "): name.strip() for word in words.split()}
    return found


_MODES = _table("""
intent: plan plans planning planned план intend intends intending собираться планировать намерен
desire: want wants wanted wish wishes hope hopes hoping хотеть хотеться мечтать надеяться мечта
possible: may might maybe perhaps probably possibly considering consider considers guess seems
possible: seem unsure thinking может возможно наверное наверно вероятно кажется подумывать думать
possible: похоже пожалуй toying_with idea_of есть_мысль есть_идея
need: must should need needs needed have_to has_to had_to ought надо нужно нужный должен придется
need: следует обязан
attempt: almost nearly try tries tried trying attempted hardly barely чуть почти пытаться
attempt: пробовать попробовать попытаться едва
ended: stop stops stopped quit quits refuse refuses refused refusing cancel cancels cancelled
ended: canceled avoid avoids fail failed fails forgot forgotten deny denied gave_up given_up
ended: gives_up бросить перестать забыть отказаться отказываться отменить отменять избегать
ended: прекратить бросать передумать раздумать расхотеть
offered: promised offered offers promises supposed обещать предложить предлагать пообещать
former: ex former formerly old_one old_ones бывший экс
asked: please asked asks ask asking requested requests request пожалуйста просить попросить прошу
""")
_QUANTITIES = _table("""
always: always всегда вечно
all: all весь все
every: every each everyone everybody everything everywhere каждый любой any ежедневно везде
only: only solely exclusively merely только лишь исключительно
never: never никогда
best: best лучший самый most greatest
worst: worst худший
wholly: completely totally entirely absolutely fully полностью абсолютно совершенно совсем целиком
constantly: constantly постоянно непрерывно
forever: forever навсегда
very: very extremely incredibly hugely terribly severe severely очень крайне безумно чрезвычайно
very: сильно
no one: nobody никто
nothing: nothing ничто ничего
""")
_SOFT = _table("""
sometimes: sometimes occasionally иногда порой изредка
usually: usually normally generally обычно
often: often frequently часто
rarely: rarely seldom редко
mostly: mostly mainly largely большинство преимущественно
slightly: slightly somewhat немного слегка частично partly чуток немножко
slightly: a_bit tiny_bit little_bit a_little bit
""")
_UNREAL = listed(
    """unless would could suppose supposing imagine wonder wondering whether pretend joking kidding
    joke dreamt dreamed dreaming rumour rumor rumours apparently allegedly supposedly heard бы б
    hypothetically допустим предположим представь представьте якобы шучу шутка пошутил пошутила
    приснилось снится снилось слышал слышала говорят ли будто вдруг"""
)
_WISHING = listed("would i'd he'd she'd they'd we'd")
ADVISING = listed(
    """suggest suggests suggested recommend recommends recommended advise advises advised советовать
    посоветовать рекомендовать порекомендовать"""
)
_NEGATORS = listed(
    """not never no without nobody nothing none neither nowhere cannot не нет без нельзя нету"""
)
_LASTING = frozenset(("no longer", "any more"))
_FEW = listed("few couple some несколько пара")
_CONCORD = listed("ни никто никогда ничего ничто никакой нигде никуда никому никого")
_EITHER = listed("quit put cut set hit hurt shut cost read let")
_CALLED = listed("called named")
_NAMES_BEFORE = listed("a an is are what's")
"""In "a bank called North" they tell no past."""
_FUTURE = listed("will shall gonna won't shan't")
_BE = listed(
    """what's who's where's how's am is are be being been i'm he's she's it's they're we're
    you're that's"""
)
_WAS = listed("was were had did wasn't weren't hadn't didn't")
_NOT_PAST = listed(
    """red need bed speed seed feed weed breed greed indeed hundred sacred naked kindred shed sled
    wicked rugged embed exceed proceed succeed med ted fred left"""
)
_NOT_PROGRESSIVE = listed(
    """thing something anything nothing everything morning evening king ring spring string wing
    during wedding"""
)


@dataclass(frozen=True, slots=True)
class Manner:
    """What must be the same in a note and in its source, besides the words.

    `negations` counts them; `unreal` names what makes a clause no statement, empty where nothing
    does, and `condition` is true where that holds for the whole sentence; `verbless` is true where
    no verb was recognised, `either` where its form is of the present and of the past alike.
    """

    past: bool
    future: bool
    either: bool
    verbless: bool
    progressive: bool
    modes: frozenset[str]
    quantities: frozenset[str]
    soft: frozenset[str]
    negations: int
    unreal: str
    condition: bool


def manner(tokens: Sequence[Token]) -> Manner:
    """The manner of a clause."""
    words = [
        token.low
        for at, token in enumerate(tokens)
        if token.kind == "word" and not _is_month(tokens, at)
    ]
    modes, quantities, soft = _classes(words)
    past = future = verb = progressive = condition = done = False
    either = bool(_EITHER & set(words)) and not any(one in _FUTURE for one in words)
    unreal = ""
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in _WISHING and following in ("like", "love", "prefer"):
            modes.add("desire")
        elif word in _UNREAL or (word in _WISHING and following not in ("been", "had")):
            if word in _WISHING and following in ADVISING:
                continue  # "I would suggest" suggests
            unreal = unreal or word
        elif word in ("if", "если") and following not in ("что", "anything"):
            unreal, condition = unreal or word, True
        if is_russian(word):
            told = tags(word)
            past |= {"past", "VERB"} <= told
            done |= {"past", "PRTS"} <= told
            future |= "futr" in told
            verb |= bool(told & {"VERB", "PRTS", "PRED"})
            progressive |= "pres" in told
        elif word in _FUTURE or word.endswith("'ll"):
            future = verb = True
        elif word == "going" and following == "to":
            verb = True
            modes.add("intent")
        elif word in _WAS or (word == "used" and following == "to"):
            past = verb = True
        elif word in _BE or word in ("have", "has", "do", "does"):
            verb = True
        elif word.endswith("ing") and word not in _NOT_PROGRESSIVE:
            progressive |= any(one in _BE for one in words[max(0, at - 3) : at])
        elif is_past(word):
            past |= not (
                any(one in _BE for one in words[max(0, at - 2) : at])
                or (word in _CALLED and bool(_NAMES_BEFORE & set(words[max(0, at - 4) : at])))
                or _continues(words, at)
                or (at > 0 and is_marker_pair(words[at - 1], word))
            )
            verb = True
    past = past or (done and not (future or progressive))
    return Manner(
        past, future or "intent" in modes, either, not verb, progressive, frozenset(modes),
        frozenset(quantities), frozenset(soft), _negations(words), unreal, condition,
    )  # fmt: skip


def _continues(words: Sequence[str], at: int) -> bool:
    """Whether a participle tells of what still lasts: has lived here since May, for six years."""
    held = {"have", "has", "i've", "we've", "she's", "he's", "they've", "haven't", "hasn't"}
    return bool(held & set(words[max(0, at - 2) : at])) and bool({"since", "for"} & set(words[at:]))


def _classes(words: Sequence[str]) -> tuple[set[str], set[str], set[str]]:
    """The classes of modal words, of quantities and of softening words."""
    modes, quantities, soft = set[str](), set[str](), set[str]()
    excepted = _excepts_some(words)
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        base = lemma(word) if is_russian(word) else word
        if _is_nearly_all(base, following):
            soft.add("mostly")
            continue
        mode = _MODES.get(f"{word} {following}") or _MODES.get(word) or _MODES.get(base)
        cannot = word == "может" and at > 0 and words[at - 1] == "не"
        if mode and not cannot:
            modes.add(mode)
        quantity = _QUANTITIES.get(word) or _QUANTITIES.get(base)
        if quantity == "every" and may_be_weekday(following):
            continue  # a time of its own: every Friday, on Fridays
        if quantity == "all" and (_is_nearly_all(words[at - 1] if at else "", base) or excepted):
            soft.add("mostly")
            continue
        if quantity and not (base in ("весь", "все") and following in ("еще", "же", "равно")):
            quantities.add(quantity)
        if kind := _SOFT.get(f"{word} {following}") or _SOFT.get(word) or _SOFT.get(base):
            soft.add(kind)
    return modes, quantities, soft


def _is_nearly_all(word: str, following: str) -> bool:
    """Whether two words say "most": almost all, most of, почти все."""
    if word in ("almost", "nearly", "почти"):
        return _QUANTITIES.get(following) == "all" or _QUANTITIES.get(lemma(following)) == "all"
    return word == "most" and following in ("of", "my", "the")


def _excepts_some(words: Sequence[str]) -> bool:
    """Whether a clause leaves out a few that it does not name: all but two, кроме двух."""
    for at, word in enumerate(words[:-1]):
        if word in ("except", "but", "кроме") or words[max(0, at - 1) : at + 1] == [
            "apart",
            "from",
        ]:
            base = lemma(words[at + 1])
            return base in _FEW or may_begin_number(base)
    return False


def _is_month(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word is the month and not the verb."""
    if tokens[at].low != "may":
        return False
    dated = any(near.text[:1].isdigit() for near in tokens[max(0, at - 1) : at + 2])
    return dated or (tokens[at].capital and not tokens[at].first)


@lru_cache(maxsize=50_000)
def is_marker_pair(first: str, second: str) -> bool:
    """Whether two words together only tell the manner: gave up, a bit, any more."""
    both = f"{first} {second}"
    return both in _MODES or both in _SOFT or both in _LASTING


def is_past(word: str) -> bool:
    """Whether an English word has the form of a past."""
    return word not in _NOT_PAST and (word in PAST or (word.endswith("ed") and len(word) > 3))


def is_negator(word: str) -> bool:
    """Whether a normalised word denies what stands beside it."""
    return word in _NEGATORS or word.endswith("n't") or word in _CONCORD


@lru_cache(maxsize=50_000)
def is_marker(word: str) -> bool:
    """Whether a word only tells the manner, which is compared apart."""
    base = lemma(word)
    return (
        word in _UNREAL
        or is_negator(word)
        or word in ("going", "used")
        or any(word in one or base in one for one in (_QUANTITIES, _SOFT, _MODES))
    )


def _negations(words: Sequence[str]) -> int:
    """How many negations there are; `никто не` and `neither … nor` are one."""
    found = concord = 0
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in ("not", "не") and following in ("only", "только"):
            continue
        if word == "без" and following and may_begin_number(following):  # the time of day
            continue
        if word in ("no", "нет") and at == 0 and following in ("i", "у", "я"):  # an answer
            continue
        if word in _CONCORD or (is_russian(word) and lemma(word) in _CONCORD):
            concord += 1
        elif word in _NEGATORS or word.endswith("n't"):
            found += 1
    return found or min(concord, 1)
