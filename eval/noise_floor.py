"""The noise floor of a provider: how high pairs score that have nothing to do with each other.

Without labels nothing tells what is relevant. What can be told is how high scores get by chance, of
texts drawn from different conversations: a cutoff below that would let noise through.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eval.calibration_tables import percentiles
from eval.objective import Floats
from eval.pairs import Texts
from eval.score_column import DECIMALS, Report, embedded
from memcore import Embedder, ProviderIdentity, passages

PAIRS, TEXTS, SEED = 10_000, 1_000, 0
IS_NO_CUTOFF = "This is a floor and not a cutoff: nothing here says what is relevant."


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The scores of random pairs: percentiles 0 to 100, and the 95th and 99th. `texts` is how many
    different ones were drawn of `of_texts`."""

    name: str
    identity: ProviderIdentity
    kind: str
    grouped_by: str
    pairs: int
    texts: int
    of_texts: int
    p95: float
    p99: float
    data: str
    percentiles: list[float] = field(repr=False)
    scores: Floats = field(repr=False)


def noise_floor(
    texts: Texts, embedder: Embedder, report: Report = lambda _done, _all: None
) -> NoiseFloor:
    """Scores pairs of texts from different groups, one as a query and one as a passage.

    At most 1,000 texts and 10,000 different pairs of them, drawn at random with a fixed seed.
    Raises `ProviderError`.
    """
    chance = np.random.default_rng(SEED)
    drawn = _drawn(texts, chance)
    found = [text for _, text in drawn]
    groups = np.unique([group for group, _ in drawn], return_inverse=True)[1]
    count = len(found)
    asked = embedded(
        embedder,
        [passages.of_query(one) for one in found],
        "query",
        lambda done, _: report(done, 2 * count),
    )
    held = embedded(embedder, found, "passage", lambda done, _: report(count + done, 2 * count))
    rows, columns = np.nonzero(groups[:, None] != groups[None, :])
    kept = chance.permutation(len(rows))[:PAIRS]
    cosines = (asked @ held.T)[rows[kept], columns[kept]].astype(np.float64)
    scores = np.sort(np.round(cosines, DECIMALS))
    p95, p99 = (float(one) for one in np.percentile(scores, [95, 99]))
    return NoiseFloor(
        texts.name, embedder.identity, texts.kind, texts.grouped_by, len(scores), count,
        len(texts.texts), p95, p99, texts.sha256, percentiles(scores), scores,
    )  # fmt: skip


def _drawn(texts: Texts, chance: np.random.Generator) -> list[tuple[str, str]]:
    """Some of the texts, of two groups at least, each text once: a text meets no copy of itself."""
    each = {text: group for group, text in reversed(texts.texts)}
    pool = sorted((group, text) for text, group in each.items())
    order: NDArray[np.intp] = chance.permutation(len(pool))
    drawn = [pool[at] for at in order[:TEXTS]]
    if len({group for group, _ in drawn}) < 2:
        other = [pool[at] for at in order if pool[at][0] != drawn[0][0]]
        drawn[-1:] = other[:1] or drawn[-1:]
    return drawn
