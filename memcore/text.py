"""Text analysis, one for every store and every writer: a query is analysed as the text was.

Unicode NFKC, case-folded, `ё` as `е`, Latin letters without accents, split at word boundaries,
then morphology: Russian words are brought to their lemma (pymorphy3) and stemmed (Snowball),
others are stemmed as English. Measured on `docs/decisions/0003-text-analysis.md`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

import pymorphy3
import Stemmer
from lunr.stop_word_filter import WORDS as ENGLISH_STOP_WORDS
from stop_words import get_stop_words

_WORD = re.compile(r"[\w\u0300-\u036f]+(?:['’][\w\u0300-\u036f]+)*")
_COMPOUND = re.compile(
    r"(?<![\w\u0300-\u036f])[\w\u0300-\u036f]+(?:[-./_@:+'’][\w\u0300-\u036f]+)+"
)
_PHONE = re.compile(  # as written in Russia, else any 10 to 15 digits with signs between them
    r"(?<!\d)(?:(?:\+?7|8)(?:[ \t\xa0().\-]{0,3}\d){10}|\+?\d(?:[ \t\xa0().\-]{0,3}\d){9,14})(?!\d)"
)
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_LETTERS = re.compile(r"[^\W\d_]")
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'»”)\]]*+(?=\s)|\n+")
_ACCENT = re.compile(r"(?<=[a-z])[\u0300-\u036f]+|(?<=[\u0400-\u04ff])[\u0300\u0301]+")
_SEPARATORS = re.compile(r"[\x00-&(-/:-@\[-`{-\x7f\s⁄]+")
_LONGEST = 100
"""A longer word is found by its first characters."""

_ENGLISH = Stemmer.Stemmer("english")
_RUSSIAN = Stemmer.Stemmer("russian")

_COURTESIES = """
hi hello hey bye goodbye thanks thank thx please pls welcome ok okay yes yep yeah no nope sure
great cool nice perfect good fine sorry wow lol haha morning evening night cheers
привет здравствуй здравствуйте добрый доброе доброго вечер утро пока свидания спасибо
спасибки благодарю пожалуйста пожалуй ок окей да нет ага угу хорошо ладно отлично супер
класс понятно ясно извини извините простите ура хаха договорились
"""

_RELATIVE_DAYS = {
    "сегодня": 0,
    "вчера": -1,
    "позавчера": -2,
    "today": 0,
    "yesterday": -1,
}


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text: `surface` normalised, `stems` it is found by, `[start, end)` in the text.

    `whole` is true for an identifier or a phone number, whose parts follow as tokens of their own.
    """

    surface: str
    stems: tuple[str, ...]
    start: int
    end: int
    whole: bool = False


@lru_cache(maxsize=200_000)
def normalize(word: str) -> str:
    """NFKC, case-folded, `ё` as `е`, without accents and stress marks (`й` stays itself)."""
    folded = unicodedata.normalize("NFKC", word).casefold().replace("ё", "е")
    if folded.isascii():
        return folded
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare).replace("ё", "е").replace("’", "'")


@cache
def _morphology() -> pymorphy3.MorphAnalyzer:
    return pymorphy3.MorphAnalyzer()


@lru_cache(maxsize=50_000)
def readings(word: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """What a normalised Russian word may be, likeliest first: lemma and OpenCorpora grammemes."""
    return tuple(
        (found.normal_form.replace("ё", "е"), frozenset(map(str, found.tag.grammemes)))
        for found in _morphology().parse(word)
    )


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a normalised word. Words with digits are left as they are."""
    if _CYRILLIC.search(word):
        lemma = _morphology().parse(word)[0].normal_form.replace("ё", "е")
        found = str(_RUSSIAN.stemWord(lemma))
    elif word.isalpha() or "'" in word:
        found = str(_ENGLISH.stemWord(word))
    else:
        found = word
    return found.replace("'", "")


@cache
def stop_words() -> frozenset[str]:
    """Stop words, normalised: Russian from the `stop-words` package, English from `lunr`.

    The English list is the short one on purpose: the long ones hold words such as home, work, buy,
    new, and cost 5 points of recall (docs/decisions/0003-text-analysis.md).
    """
    return frozenset(map(normalize, [*get_stop_words("ru"), *ENGLISH_STOP_WORDS]))


@cache
def _courtesies() -> frozenset[str]:
    return frozenset(_COURTESIES.split())


def tokens(text: str) -> Iterator[Token]:
    """The words of a text, in order.

    An identifier such as `AB-1234`, `photo_2.jpg` or `anna@example.com` is found by its parts and
    by the whole without its separators; a phone number also by its digits and their last ten.
    """
    for match in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        yield Token(digits, (digits, digits[-10:]), match.start(), match.end(), True)
    for match in _COMPOUND.finditer(text):
        if re.search(r"[\d_@./]", match[0]):
            whole = re.sub(r"[^\w]|_", "", normalize(match[0]))
            yield Token(whole, (whole[:_LONGEST],), match.start(), match.end(), True)
    for match in _WORD.finditer(text):
        word = normalize(match[0]).strip("_")
        parts = [part[:_LONGEST] for part in _SEPARATORS.split(word) if part.strip("'")]
        if parts:
            yield Token(word, tuple(map(stem, parts)), match.start(), match.end())


def stems(text: str) -> list[str]:
    """All stems of a text, with repetitions: what is indexed."""
    return [one for token in tokens(text) for one in token.stems]


def query_stems(text: str) -> list[str]:
    """What a query is searched by: each stem once, in order, stop words left out.

    A query of nothing but stop words is searched by them.
    """
    found = list(tokens(text))
    telling = [token for token in found if not _is_stop_word(token.surface)]
    return list(dict.fromkeys(one for token in telling or found for one in token.stems))


def _is_stop_word(word: str) -> bool:
    """Whether a normalised word is a stop word, alone or before an apostrophe (what's, we'll)."""
    first, _, rest = word.partition("'")
    return word in stop_words() or (first in stop_words() and not any(map(str.isdigit, rest)))


def real_words(text: str) -> list[str]:
    """The words that make a message worth searching, each once.

    A real word has at least two letters and is neither a stop word nor a courtesy; an identifier
    with digits or a number of three digits or more counts as one, whatever its parts.
    """
    real: dict[str, None] = {}
    reached: int = 0
    for token in sorted(tokens(text), key=lambda token: (token.start, -token.end)):
        word = token.surface
        letters, digits = len(_LETTERS.findall(word)), sum(map(str.isdigit, word))
        if token.end <= reached:
            continue
        if digits:
            counts = digits >= 3 or letters > 0
            reached = token.end
        else:
            known = _is_stop_word(word) or word in _courtesies()
            counts = letters >= 2 and not known and not token.whole
        if counts:
            real.setdefault(word)
    return list(real)


def sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of a text as `(start, end)` without surrounding white space."""
    bounds, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        bounds.append((start, match.end()))
        start = match.end()
    bounds.append((start, len(text)))
    trimmed = []
    for first, last in bounds:
        piece = text[first:last]
        left = first + len(piece) - len(piece.lstrip())
        right = first + len(piece.rstrip())
        if left < right:
            trimmed.append((left, right))
    return trimmed


def pieces(text: str, limit: int) -> list[tuple[int, int]]:
    """A text as `(start, end)` of runs of whole sentences of at most `limit` characters each.

    A sentence that is longer is cut at white space where there is any.
    """
    runs: list[tuple[int, int]] = []
    for start, end in (
        part for whole in sentences(text) for part in _split_long(text, *whole, limit)
    ):
        if runs and end - runs[-1][0] <= limit:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def cut_around(text: str, wanted: Iterable[str], limit: int) -> tuple[int, int]:
    """Where to cut a text of more than `limit` characters so that it shows the wanted stems.

    Returns `(start, end)` with `end - start <= limit`, at sentence ends where sentences are short
    enough: the run of sentences with the most different wanted stems, grown while it fits.
    """
    keys = set(wanted)
    places = sorted(
        (token.start, one) for token in tokens(text) for one in token.stems if one in keys
    )
    starts = [at for at, _ in places]
    pieces = [part for whole in sentences(text) for part in _split_long(text, *whole, limit)]
    if not pieces:
        return 0, min(limit, len(text))

    def value(bounds: tuple[int, int]) -> int:
        first, last = (bisect_left(starts, bound) for bound in bounds)
        return len({one for _, one in places[first:last]})

    best = max(range(len(pieces)), key=lambda number: (value(pieces[number]), -number))
    first = last = best
    while True:
        options = []
        if first > 0 and pieces[last][1] - pieces[first - 1][0] <= limit:
            options.append((value(pieces[first - 1]), 0, first - 1, last))
        if last + 1 < len(pieces) and pieces[last + 1][1] - pieces[first][0] <= limit:
            options.append((value(pieces[last + 1]), 1, first, last + 1))
        if not options:
            return pieces[first][0], pieces[last][1]
        _, _, first, last = max(options)


def _split_long(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Pieces of a sentence no longer than `limit`, cut at white space where there is any."""
    while end - start > limit:
        space = max(text.rfind(" ", start + limit // 2, start + limit), 0)
        stop = space if space > start else start + limit
        yield start, stop
        start = stop + 1 if space > start else stop
    if start < end:
        yield start, end


def local_day(time: datetime, zone: ZoneInfo) -> date:
    """The owner's local day of a moment."""
    return time.astimezone(zone).date()


def named_days(text: str, now: datetime, zone: ZoneInfo) -> set[date]:
    """The local days that a text names by a relative word: today, yesterday, вчера, позавчера."""
    today = local_day(now, zone)
    words = (normalize(match[0]) for match in _WORD.finditer(text))
    return {today + timedelta(_RELATIVE_DAYS[word]) for word in words if word in _RELATIVE_DAYS}


def clean(text: str) -> str:
    """A text that every store can hold: lone surrogates become U+FFFD, everything else stays."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
