"""A turn with a cutoff that somebody tries, beside the same turn without any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from eval.runs import RunInfo
from eval.turns import MemoryAt, TurnView, recomposed
from memcore import Cutoff, InvalidInput, Layer, PassageKind, ProviderIdentity, Reason

MODES = ("semantic", "hybrid")
LAYER_OF: dict[PassageKind, Layer] = {"message": Layer.EXCERPTS, "note": Layer.NOTES}
"""The layer that a cutoff of each kind of passage works on."""


class Tried(NamedTuple):
    """The turn `without` a cutoff and `held` to one. `below` passages of the layer scored below
    it."""

    without: TurnView
    held: TurnView
    below: int


def by_meaning(found: Sequence[RunInfo]) -> list[RunInfo]:
    """The complete runs that searched by meaning."""
    return [
        info
        for info in found
        if info.complete
        and isinstance(info.manifest.get("provider"), dict)
        and info.manifest["settings"].get("search_mode") in MODES
    ]


def made_by(info: RunInfo, identity: ProviderIdentity | None) -> bool:
    """Whether a run's vectors are of this provider."""
    provider = info.manifest.get("provider")
    told = provider.get("identity") if isinstance(provider, dict) else None
    return identity is not None and told == asdict(identity)


def tried(
    view: TurnView, at: MemoryAt, identity: ProviderIdentity, kind: PassageKind, cutoff: float
) -> Tried:
    """Composes the turn twice. Raises `InvalidInput` where the memory's vectors are not of this
    provider, since scores of different providers never mix; and for a kind that no layer shows."""
    if kind not in LAYER_OF:
        raise InvalidInput(f"no layer of the prompt shows {kind}s yet, so nothing would change")
    composition, _ = at.compose({"cutoffs": ()})
    vectors = composition.account.vectors
    own = vectors.identity if vectors else None
    if own != identity:
        raise InvalidInput(f"the memory of this turn is of {own or 'no provider'}, not {identity}")
    by_hand = Cutoff(identity, kind, cutoff, cutoff, cutoff, "set by hand", "", "")
    changes: dict[str, Any] = {"cutoffs": (by_hand,)}
    without, held = recomposed(view, at, {"cutoffs": ()}), recomposed(view, at, changes)
    return Tried(without, held, _below(held, kind, cutoff))


def _below(view: TurnView, kind: PassageKind, cutoff: float) -> int:
    items = [item for item in view.offered if item.layer is LAYER_OF[kind]]
    if kind == "message":
        return sum(item.reason is Reason.BELOW_CUTOFF for item in items)
    return sum(item.score is not None and item.score < cutoff for item in items)
