"""Labelled retrieval material: passages, queries, and which passage is relevant to which query.

Every source becomes this one model (`eval.loaders.pairs`), and the score column is built from it
(`eval.score_column`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from eval.errors import DatasetError, Fault
from memcore import PassageKind


@dataclass(frozen=True, slots=True)
class Passage:
    """What is found. `texts` are embedded; its score is that of the best of them."""

    id: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `candidates` are places in the group's passages: those known when it was
    asked; `relevant` are those among them that answer it."""

    id: str
    text: str
    language: str
    candidates: Sequence[int]
    relevant: frozenset[int]


@dataclass(frozen=True, slots=True)
class Group:
    """What stays together when some material is held out: a conversation, an article."""

    id: str
    passages: tuple[Passage, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Material:
    """Groups of one kind of passage. `grouped_by` is what a group is, in one word.

    `remarks` tell what was assumed or left out. `sha256` is of the content, whatever file it came
    in and in whatever order.
    """

    name: str
    kind: PassageKind
    grouped_by: str
    groups: tuple[Group, ...]
    remarks: tuple[str, ...] = ()
    sha256: str = ""

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({query.language for group in self.groups for query in group.queries}))

    @property
    def counts(self) -> dict[str, int]:
        """How many groups, queries and pairs there are, and relevant pairs among them."""
        asked = [query for group in self.groups for query in group.queries]
        return {
            "groups": len(self.groups),
            "queries": len(asked),
            "pairs": sum(len(query.candidates) for query in asked),
            "relevant": sum(len(query.relevant) for query in asked),
        }

    def only(self, language: str) -> Material:
        """The queries of one language. Raises `DatasetError` where there are too few."""
        groups = [
            replace(
                group, queries=tuple(query for query in group.queries if query.language == language)
            )
            for group in self.groups
        ]
        if not any(group.queries for group in groups):
            known = ", ".join(self.languages)
            raise DatasetError(
                [Fault(self.name, 0, "language", f"no language {language!r}; there are {known}")]
            )
        name = f"{self.name} ({language})"
        return make_material(name, self.kind, self.grouped_by, groups, self.remarks)


@dataclass(frozen=True, slots=True)
class Texts:
    """Text without labels: each text with what it comes from, by which pairs are told apart."""

    name: str
    kind: PassageKind
    grouped_by: str
    texts: tuple[tuple[str, str], ...]
    sha256: str = ""


def make_material(
    name: str,
    kind: PassageKind,
    grouped_by: str,
    groups: Iterable[Group],
    remarks: Iterable[str] = (),
    source: str = "",
) -> Material:
    """The material of these groups; those without a query are left out.

    Raises `DatasetError` where nothing can be calibrated on it: no pair, pairs of one class only,
    a single group.
    """
    kept = tuple(sorted((group for group in groups if group.queries), key=lambda one: one.id))
    made = Material(name, kind, grouped_by, kept, tuple(remarks))
    counts = made.counts
    faults = [
        Fault(source or name, 0, field, reason)
        for field, reason in faults_of_counts(
            counts["groups"], counts["pairs"], counts["relevant"], grouped_by
        )
    ]
    if faults:
        raise DatasetError(faults)
    return replace(made, sha256=_digest(made))


def faults_of_counts(
    groups: int, pairs: int, relevant: int, grouped_by: str
) -> list[tuple[str, str]]:
    """What keeps so many pairs from being calibrated on, as (field, reason)."""
    if not pairs:
        return [("", "there is no pair of a query and a passage in it")]
    faults = []
    if not relevant or relevant == pairs:
        what = "irrelevant" if not relevant else "relevant"
        faults.append(("relevant", f"all {pairs:,} pairs are {what}; both kinds are needed"))
    if groups < 2:
        reason = (
            f"there is a single {grouped_by}, too little data: a cutoff is reported on what it "
        )
        faults.append(("group", f"{reason}was not chosen on, which takes two or more"))
    return faults


def make_texts(
    name: str,
    kind: PassageKind,
    grouped_by: str,
    texts: Iterable[tuple[str, str]],
    source: str = "",
) -> Texts:
    """Texts as (group, text), each once. Raises `DatasetError` for fewer than two
    groups or different texts."""
    found = tuple(sorted(set(texts)))
    groups = {group for group, _ in found}
    count = f"{len(groups):,} {grouped_by}" + ("s" if len(groups) != 1 else "")
    reason = ""
    if len(groups) < 2:
        reason = f"there is text of {count}; pairs from different ones take two or more"
    elif len({text for _, text in found}) < 2:
        what = "line" if grouped_by == "line" else "text"
        reason = f"there is one distinct {what} in {count}; pairs take two or more"
    if reason:
        raise DatasetError([Fault(source or name, 0, "", reason)])
    digest = hashlib.sha256(json.dumps(found, ensure_ascii=False).encode()).hexdigest()
    return Texts(name, kind, grouped_by, found, digest)


def _digest(material: Material) -> str:
    """SHA-256 over one JSON line a group."""
    digest = hashlib.sha256(f"{material.kind}\n".encode())
    for group in material.groups:
        queries = [
            (
                one.id,
                one.text,
                one.language,
                # most know a beginning of the passages, which need not be written out
                str(one.candidates) if isinstance(one.candidates, range) else [*one.candidates],
                sorted(one.relevant),
            )
            for one in group.queries
        ]
        passages = [(one.id, one.texts) for one in group.passages]
        line = json.dumps((group.id, passages, queries), ensure_ascii=False)
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()
