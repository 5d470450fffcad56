"""Whether everything that is stored can be found by meaning: the state of an owner's index."""

from __future__ import annotations

from dataclasses import dataclass

from memcore.ports import Store, Transaction
from memcore.types import Owner, PassageKind, ProviderIdentity, QueuedPassage

KINDS: tuple[PassageKind, ...] = ("note", "message")
ATTEMPTS = 3
"""How often a text that a provider refused is tried; after that only a re-index tries it again."""

PAGE_OF_IDS = 500


@dataclass(frozen=True, slots=True)
class KindHealth:
    """The items of one kind and their vectors.

    `current` have vectors of the provider and of their newest revision; `stale` have vectors of an
    older one. `waiting` are queued, `refused` are queued and no longer tried. `missing` are the
    items that have no current vectors and are not queued, `orphans` what has vectors and does not
    exist, and is not queued to be taken out.
    """

    kind: PassageKind
    items: int
    current: int
    stale: int
    waiting: int
    refused: int
    missing: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """The index of an owner. Without a provider `identity` is None, and only orphans are looked
    for. `invisible` counts the passages of every other provider identity by kind."""

    owner: Owner
    identity: ProviderIdentity | None
    kinds: tuple[KindHealth, ...]
    invisible: tuple[tuple[ProviderIdentity, PassageKind, int], ...] = ()

    @property
    def ok(self) -> bool:
        """False where an item can never be found by meaning, or vectors belong to none."""
        return not any(one.missing or one.orphans for one in self.kinds)


def revisions(parts: Transaction, owner: Owner, kind: PassageKind) -> dict[str, int]:
    """The newest revision of each item of a kind. A message has one for ever."""
    if kind == "note":
        return {note.key: note.revision for note in parts.notes.all(owner)}
    found: dict[str, int] = {}
    last = ""
    while ids := parts.messages.ids(owner, last, PAGE_OF_IDS):
        found.update(dict.fromkeys(ids, 1))
        last = ids[-1]
    return found


def orphans(parts: Transaction, owner: Owner, kind: PassageKind, items: dict[str, int]) -> set[str]:
    """What has vectors of any identity without being an item."""
    found: set[str] = set()
    for identity, of_kind in parts.vectors.counts(owner):
        if of_kind == kind:
            found |= parts.vectors.revisions(owner, identity, kind).keys() - items.keys()
    return found


def examine(store: Store, owner: Owner, identity: ProviderIdentity | None) -> Health:
    """The state of an owner's index, as of one moment."""
    with store.reading() as parts:
        queue = parts.queue.waiting(owner, parts.queue.count(owner))
        kinds = tuple(_kind(parts, owner, kind, identity, queue) for kind in KINDS)
        counts = parts.vectors.counts(owner)
    others = [(one, kind, held) for (one, kind), held in counts.items() if one != identity]
    return Health(owner, identity, kinds, tuple(sorted(others, key=str)))


def _kind(
    parts: Transaction,
    owner: Owner,
    kind: PassageKind,
    identity: ProviderIdentity | None,
    queue: list[QueuedPassage],
) -> KindHealth:
    items = revisions(parts, owner, kind)
    queued = {one.item: one for one in queue if one.kind == kind}
    have = parts.vectors.revisions(owner, identity, kind) if identity else {}
    current = {item for item, revision in items.items() if have.get(item) == revision}
    missing = items.keys() - current - queued.keys() if identity else set()
    refused = sum(one.attempts >= ATTEMPTS for one in queued.values())
    return KindHealth(
        kind,
        len(items),
        len(current),
        len((have.keys() & items.keys()) - current),
        len(queued) - refused,
        refused,
        tuple(sorted(missing)),
        tuple(sorted(orphans(parts, owner, kind, items) - queued.keys())),
    )
