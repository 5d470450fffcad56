"""What meaning could do for a turn, in words: by whom, from which scores on, and what it lacked."""

from __future__ import annotations

from typing import Any, NamedTuple

from eval.turns import TurnView
from memcore import Layer


class Meant(NamedTuple):
    """`words` is one sentence; `error` what the provider failed with at this turn, empty where it
    did not."""

    words: str
    error: str


def meant(view: TurnView) -> Meant | None:
    """None where the run has no provider."""
    provider = view.run.manifest.get("provider")
    if not isinstance(provider, dict):
        return None
    parts = [
        str(provider.get("label") or provider.get("name") or "a provider"),
        f"cutoffs: messages {_bar(view, Layer.EXCERPTS)}, notes {_bar(view, Layer.NOTES)}",
    ]
    invisible, waiting = _number(view.row, "invisible"), _number(view.row, "waiting")
    parts.append(
        f"{invisible:,} vectors invisible, being another provider's" if invisible else
        "no vector invisible"
    )  # fmt: skip
    parts.append(f"{waiting:,} items waiting to be embedded" if waiting else "no item waiting")
    return Meant("; ".join(parts) + ".", str(view.row.get("provider_error") or ""))


def degraded(view: TurnView) -> list[str]:
    """What the layers say of a search that could not be made as it was asked for."""
    notes = (str(note or "") for note in view.layers["note"])
    return [note for note in notes if note.startswith("degraded:")]


def _bar(view: TurnView, layer: Layer) -> str:
    """From which cosine on a layer takes something as near, as its account says."""
    order = str(view.layer(layer)["ordering"] or "")
    _, found, told = order.partition("cutoff ")
    if not found:
        return "not ordered by meaning"
    value = told.split(")")[0].split(";")[0].split(",")[0]
    return value if value == "not calibrated" else f"from {value} on"


def _number(row: dict[str, Any], name: str) -> int:
    value = row.get(name)
    return int(value) if value is not None and value == value else 0
