"""The vocabulary of the support check, Russian and English, and the one form of a word.

Words stand here normalised (`memcore.text.normalize`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from memcore.text import normalize, readings, stem, stop_words

_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_IRREGULAR = """
be:been begin:began,begun break:broke,broken bring:brought build:built buy:bought catch:caught
choose:chose,chosen come:came do:done draw:drew,drawn drink:drank,drunk drive:drove,driven
eat:ate,eaten fall:fell,fallen feel:felt fight:fought find:found fly:flew,flown
forget:forgot,forgotten forgive:forgave get:gotten give:gave,given go:went,gone grow:grew,grown
hear:heard hide:hid,hidden hold:held keep:kept know:knew,known learn:learnt leave:left lend:lent
lose:lost make:made mean:meant meet:met pay:paid quit:quitted ride:rode,ridden ring:rang,rung
rise:rose,risen run:ran see:saw,seen sell:sold send:sent shoot:shot sing:sang,sung sit:sat
sleep:slept speak:spoke,spoken spend:spent stand:stood steal:stole,stolen swim:swam,swum
take:took,taken teach:taught tear:tore,torn tell:told think:thought throw:threw,thrown
understand:understood wake:woke,woken wear:wore,worn win:won write:wrote,written become:became
bite:bit,bitten freeze:froze,frozen shake:shook,shaken
"""
_PLURALS = "children:child men:man women:woman wives:wife knives:knife teeth:tooth"
PLURALS: dict[str, str] = dict(re.findall(r"(\w+):(\w+)", _PLURALS))
PAST = {
    past: base
    for base, _, pasts in (one.partition(":") for one in _IRREGULAR.split())
    for past in pasts.split(",")
}
"""English irregular past forms and participles, with their base form."""

_SAME = """
mother mom mum mommy mama; doctor dr doc; physiotherapist physio; veterinarian vet;
father dad daddy papa; child kid; job work; buy purchase; live reside;
move relocate; favorite favourite; phone telephone; apartment flat; movie film; photo picture;
like enjoy; start begin; ill sick; color colour; grandmother grandma granny gran;
grandfather grandpa;
finish end; bike bicycle; fridge refrigerator; врач доктор; велосипед велик;
фотография фото; преподаватель учитель; взять завести; советовать посоветовать рекомендовать;
suggest recommend advise; вес весить;
приехать приезжать; уехать уезжать; прийти приходить; уйти уходить; прилететь прилетать;
вернуться возвращаться; переехать переезжать; закончить заканчивать;  продать
продавать; дать давать; получить получать; сдать сдавать; снять снимать; сделать делать; написать
писать; заказать заказывать; открыть открывать; закрыть закрывать; поступить поступать; выбрать
выбирать; подарить дарить; встретить встречать; перенести переносить; забрать забирать;
собака пес песик; мама мать мамочка; папа отец; ребенок дитя; купить приобрести покупать;
жить проживать; муж супруг;
жена супруга; бабушка бабуля; дедушка дед; телефон мобильный; машина автомобиль авто;
нравиться любить; начать начинать начинаться; работать трудиться; квартира кв; корпус корп; дом д;
улица ул; день сутки; дочь дочка; сын сынок
"""

_FRAMES = """
say says said tell tells told mention mentions mentioned state report reports reported stated note
notes noted inform share user users customer customers client clients person name named called have
has had having own owns owned wear wears currently now be is are was were been being
there's here reportedly according asks asked asking requested requests
сказать говорить сообщить сообщать рассказать рассказывать упомянуть упоминать отметить уточнить
клиент клиентка пользователь пользовательница собеседник собеседница покупатель покупательница
звать имя называться сейчас теперь иметь носить являться быть собственный попросить просить
"""

_FUNCTION = """
a an the this that these those i me my mine myself we us our ours you your yours yourself he him his
she her hers they them their theirs it its itself himself herself themselves who whom whose which
what when where while how and or nor so yet of at in on to for from with by as into onto upon about
up out off over through during between among around within than then too also just well do does did
doing can could may might must shall should will would am is are was were be been being not no never
if s t d m ll re ve im ive id dont doesnt there here please however because since until till before
after oh hi hello hey thanks thank yes yeah ok okay ah um actually anyway let already still even
"""

_KIN = """
mother father brother sister son daughter wife husband child grandmother grandfather aunt uncle
cousin niece nephew friend girlfriend boyfriend boss colleague neighbour neighbor roommate partner
parent grandson granddaughter twin fiance fiancee manager teacher doctor cat dog parrot hamster
мама папа брат сестра сын дочь жена муж ребенок бабушка дедушка тетя дядя племянник племянница друг
подруга начальник начальница коллега сосед соседка родитель внук внучка свекровь теща тесть свекор
кузен кузина сестренка братик невеста жених близнец учитель учительница врач кот кошка собака пес
попугай хомяк напарник партнер тренер директор няня
"""


def listed(text: str) -> frozenset[str]:
    """The words of a text, normalised."""
    return frozenset(map(normalize, text.split()))


GENERIC = listed(
    """user customer client клиент клиентка пользователь пользовательница покупатель покупательница
    собеседник собеседница"""
)
"""Words for the person who talks, without a name."""

_FUNCTION_TAGS = frozenset({"PREP", "CONJ", "PRCL", "NPRO", "INTJ", "Apro"})
_PLAIN = listed("быть свой это нет есть там тут здесь туда сюда где")
_CONTENT = listed("like likes want wants own dear say says said get got likely least most across")


@cache
def _same() -> dict[str, str]:
    found: dict[str, str] = {}
    for group in _SAME.split(";"):
        head, *others = group.split()
        found |= {stem(normalize(one)): stem(normalize(head)) for one in (head, *others)}
    return found


@cache
def kin() -> frozenset[str]:
    """Canonical stems of words for people and animals that are somebody's."""
    return frozenset(canon(one) for one in listed(_KIN))


def is_russian(word: str) -> bool:
    return bool(_CYRILLIC.search(word))


@lru_cache(maxsize=50_000)
def lemma(word: str) -> str:
    """The dictionary form of a normalised word; of English only irregular forms are undone."""
    if is_russian(word):
        return readings(word)[0][0]
    return PAST.get(word) or PLURALS.get(word, word)


@lru_cache(maxsize=50_000)
def canon(word: str) -> str:
    """The form under which two words mean the same: the stem of the lemma, one for synonyms."""
    found = stem(lemma(word.removesuffix("'s").removesuffix("s'")))
    return _same().get(found, found)


@lru_cache(maxsize=50_000)
def keys(word: str) -> frozenset[str]:
    """All that a word may be: of Russian the stems of all its readings."""
    if not is_russian(word):
        return frozenset({canon(word)})
    stems = {stem(found) for found, _ in readings(word)} | {stem(word)}
    return frozenset(_same().get(one, one) for one in stems) | {canon(word)}


@cache
def _function_words() -> frozenset[str]:
    english = {word for word in stop_words() if not is_russian(word)}
    return frozenset((english | listed(_FUNCTION)) - _CONTENT)


@lru_cache(maxsize=50_000)
def is_function(word: str) -> bool:
    """Whether a word carries no content: article, pronoun, preposition, conjunction, auxiliary."""
    if not is_russian(word):
        return word in _function_words() or word.partition("'")[0] in _function_words()
    found, told = readings(word)[0]
    return bool(told & _FUNCTION_TAGS) or found in _PLAIN


@lru_cache(maxsize=50_000)
def is_frame(word: str) -> bool:
    """Whether a note adds a word to tell who said or has something; it needs no source."""
    return lemma(word) in _frames() or canon(word) in _frame_canons()


@cache
def _frames() -> frozenset[str]:
    return listed(_FRAMES)


@cache
def _frame_canons() -> frozenset[str]:
    return frozenset(canon(one) for one in _frames())


@lru_cache(maxsize=50_000)
def tags(word: str) -> frozenset[str]:
    """The grammemes of a Russian word's likeliest reading; empty for others."""
    return readings(word)[0][1] if is_russian(word) else frozenset()


@lru_cache(maxsize=50_000)
def is_given_name(word: str) -> bool:
    """Whether a Russian word may be a person's name, whatever its case."""
    return is_russian(word) and any(told & {"Name", "Surn", "Patr"} for _, told in readings(word))


@lru_cache(maxsize=50_000)
def may_be_nominative(word: str) -> bool:
    """Whether a Russian word may be a subject; guesses at indeclinable surnames count last."""
    told = [found for _, found in readings(word)]
    declined = [found for found in told if "Fixd" not in found] or told
    return any(
        "nomn" in found and "NPRO" not in found and not {"Name", "plur"} <= found
        for found in declined
    )
