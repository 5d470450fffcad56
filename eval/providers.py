"""The embedding provider of a replay: opened once a process, named in the run, and warmed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any, NamedTuple

from eval.dataset import ConversationRecord
from memcore import (
    CachedEmbedder,
    Embedder,
    EmbedRole,
    Message,
    ProviderError,
    Settings,
    cache_folder,
    choose_embedder,
    embedder_named,
    passages,
    real_words,
)

_BATCH = 128


class Provided(NamedTuple):
    """A provider that is ready to be used. `name` is the one that `auto` took, `why` is why."""

    embedder: Embedder
    name: str
    why: str = ""

    def described(self) -> dict[str, Any]:
        """What a run says of it. Raises `ProviderError` where it cannot say what it is."""
        identity = self.embedder.identity
        return {
            "name": self.name,
            "identity": asdict(identity),
            "label": str(identity),
            "why": self.why,
        }


@lru_cache(maxsize=4)
def provided(name: str) -> Provided:
    """The provider of that name, with its answers kept on disk; the same one at every call.

    Raises `InvalidInput` for an unknown name.
    """
    if name != "auto":
        return Provided(embedder_named(name, cache=cache_folder()), name)
    choice = choose_embedder()
    return Provided(embedder_named(choice.name, cache=cache_folder()), choice.name, choice.why)


def cache_problem(name: str) -> str:
    """Why the answers of a provider are not kept on disk; empty where they are."""
    embedder = provided(name).embedder
    return embedder.problem if isinstance(embedder, CachedEmbedder) else ""


def cutoffs_in_words(manifest: Mapping[str, Any]) -> str:
    """Whether the calibrated cutoffs that a replay was given could be used by its provider; empty
    where it was given none."""
    given = manifest["settings"]["cutoffs"]
    identity = (manifest.get("provider") or {}).get("identity")
    used = [one for one in given if one["identity"] == identity]
    if not given:
        return ""
    count = "1 cutoff was" if len(given) == 1 else f"{len(given)} cutoffs were"
    if not used:
        return f"{count} given, none of this run's provider: nothing is cut"
    kinds = ", ".join(f"{one['cutoff']:.4g} for {one['kind']}s" for one in used)
    return f"{count} given, of this run's provider: {kinds}"


def warm(
    embedder: Embedder,
    talk: ConversationRecord,
    asked: Sequence[Message],
    settings: Settings,
    report: Callable[[int, int], None],
) -> None:
    """Has everything of a conversation embedded in large batches, where the answers are kept, so
    that the replay need not ask for one text at a time.

    `asked` are its turns' messages; `report(done, of)` is told of texts. A provider that fails ends
    it: the replay meets that again and records it.
    """
    if not isinstance(embedder, CachedEmbedder):
        return
    wanted: list[tuple[EmbedRole, str]] = [
        ("passage", text) for message in talk.messages() for text in passages.of_message(message)
    ]
    wanted += [
        ("query", passages.of_query(one.text))
        for one in asked
        if len(real_words(one.text)) >= settings.min_real_words
    ]
    done = 0
    try:
        for role, texts in _batches(list(dict.fromkeys(wanted))):
            embedder.embed(texts, role)
            done += len(texts)
            report(done, len(wanted))
    except ProviderError:
        return


def _batches(wanted: list[tuple[EmbedRole, str]]) -> Iterator[tuple[EmbedRole, list[str]]]:
    roles: tuple[EmbedRole, ...] = ("passage", "query")
    for role in roles:
        texts = [text for of, text in wanted if of == role]
        for first in range(0, len(texts), _BATCH):
            yield role, texts[first : first + _BATCH]
