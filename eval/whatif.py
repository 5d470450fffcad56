"""A turn composed with another provider: the conversation is embedded first."""

from __future__ import annotations

from collections.abc import Callable

from eval.providers import provided, warm
from eval.turns import MemoryAt

PROVIDERS = ("tfidf", "packaged:use", "packaged")
"""Those to try on a run that has none, quickest first."""


def embed_first(at: MemoryAt, provider: str, report: Callable[[int, int], None]) -> None:
    """Has the conversation embedded where the answers are kept; `report(done, of)` is told of
    texts. Raises `ProviderError` where the provider gives no vectors, `InvalidInput` for none."""
    embedder = provided(provider).embedder
    embedder.embed([at.message.text or "ready?"], "query")
    warm(embedder, at.talk, [at.message], at.settings, report)
