"""The provider that needs nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcore.embedders import TfidfEmbedder
from memcore.errors import InvalidInput

CORPUS = ["заказ чайник синий", "заказ кружка", "заказ чайник", "заказ доставка завтра", "заказ"]


def cosine(one: str, other: str, embedder: TfidfEmbedder | None = None) -> float:
    a, b = (embedder or TfidfEmbedder()).embed([one, other], "passage")
    return float(a @ b)


def test_it_is_512_wide() -> None:
    assert TfidfEmbedder().identity.width == 512


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ёлка", "елка"),
        ("ПРИВЕТ", "привет"),
        ("Straße", "STRASSE"),
        ("ﬁne", "fine"),
        ("ａｂ", "ab"),
    ],
)
def test_case_and_forms_of_letters_do_not_matter(one: str, other: str) -> None:
    assert cosine(one, other) == pytest.approx(1, abs=1e-6)


def test_forms_of_a_word_are_near_and_other_words_are_not() -> None:
    assert cosine("чайник", "чайники") > 0.5
    assert abs(cosine("чайник", "доставка")) < 0.25


def test_what_stands_everywhere_counts_less_once_it_is_learnt() -> None:
    plain = TfidfEmbedder()
    knowing = plain.knowing(plain.learn(CORPUS))
    pair = ("заказ синий", "заказ кружка")
    assert cosine(*pair, knowing) < cosine(*pair, plain)


def test_what_it_learnt_is_part_of_its_identity() -> None:
    plain = TfidfEmbedder()
    learnt = plain.learn(CORPUS)
    knowing = plain.knowing(learnt)
    assert knowing.identity.revision != plain.identity.revision
    assert knowing.identity == TfidfEmbedder(learnt).identity
    assert plain.knowing(plain.learn(CORPUS[:3])).identity != knowing.identity


def test_the_order_of_what_it_learns_and_blank_texts_do_not_matter() -> None:
    plain = TfidfEmbedder()
    assert plain.learn(["", *CORPUS[::-1], "  "]) == plain.learn(CORPUS)
    assert TfidfEmbedder(plain.learn(CORPUS)).learn(CORPUS) == plain.learn(CORPUS)


def test_it_may_learn_from_nothing() -> None:
    plain = TfidfEmbedder()
    knowing = plain.knowing(plain.learn([]))
    np.testing.assert_allclose(knowing.embed(["чай"], "query"), plain.embed(["чай"], "query"))


FIRST, COUNT = [5, 8, 41, 47, 56], 16
LEARNT = TfidfEmbedder().learn(CORPUS)


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"x",
        b"tfidf1\n",
        LEARNT[:-1],
        LEARNT + b"\0",
        LEARNT + b"\0" * 6,
        b"\x80\x04K\x01.",
        LEARNT[:7] + b"\0\0\0\0" + LEARNT[11:],
        LEARNT[:-4] + b"\0\0\0\0",
    ],
)
def test_bytes_that_were_never_learnt_are_refused(bad: bytes) -> None:
    with pytest.raises(InvalidInput, match="learn"):
        TfidfEmbedder().knowing(bad)


@given(st.text(min_size=1).filter(lambda text: not text.isspace()))
def test_every_text_has_a_vector_of_length_one(text: str) -> None:
    vectors = TfidfEmbedder(LEARNT).embed([text], "passage")
    assert float(np.linalg.norm(vectors[0])) == pytest.approx(1, abs=1e-5)


def test_a_vector_is_the_same_for_ever() -> None:
    """Another one would make all vectors stored so far wrong: change `FEATURES` with it."""
    vector = TfidfEmbedder().embed(["Ёлка, чай!"], "passage")[0]
    assert TfidfEmbedder().identity.revision == "1"
    assert np.flatnonzero(vector)[:5].tolist() == FIRST
    assert np.count_nonzero(vector) == COUNT
