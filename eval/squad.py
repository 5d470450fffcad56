"""Exact match and token F1, as the evaluation of SQuAD 1.1 computes them (Rajpurkar et al. 2016,
https://rajpurkar.github.io/SQuAD-explorer, `evaluate-v1.1.py`), for Russian beside English.

Of SQuAD: lower case, punctuation left out, the articles a, an, the left out, white space unified;
F1 over tokens with their multiplicity. Ours: case-folding, `ё` as `е`, and punctuation of all of
Unicode, since a Russian gold answer holds `«»` and `—` where an English one has ASCII signs.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalized(text: str) -> str:
    """The text as answers are compared: its words alone, with one space between."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    bare = "".join(one for one in folded if not _is_punctuation(one))
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _is_punctuation(one: str) -> bool:
    return one in string.punctuation or unicodedata.category(one).startswith("P")


def exact_match(answer: str, gold: str) -> bool:
    """Whether both are the same once normalised."""
    return normalized(answer) == normalized(gold)


def f1(answer: str, gold: str) -> float:
    """The harmonic mean of precision and recall of the answer's tokens, 0 to 1.

    Where either has no token left it is 1 if both have none, else 0, as SQuAD 2.0 has it.
    """
    said, wanted = normalized(answer).split(), normalized(gold).split()
    if not said or not wanted:
        return float(said == wanted)
    same = (Counter(said) & Counter(wanted)).total()
    return 2 * same / (len(said) + len(wanted))
