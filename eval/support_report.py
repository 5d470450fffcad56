"""How well the support check tells supported lines from unsupported ones, on labelled pairs.

`python -m eval support` prints it. The pairs were written for this project (`eval/data/`).
The check was built on part `dev`, whose lines keep to the words said, and on `free`, whose lines
are restatements; `blind` was written without knowing the check and is only measured.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from eval.stats import share
from eval.terminal import print_json
from memcore import Message, Verdict, supported

PAIRS = Path(__file__).parent / "data" / "support_pairs.jsonl"
ZONE = ZoneInfo("Europe/Moscow")
"""The owner's zone of the labelled pairs."""

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class Pair:
    """A line, the messages it cites, and whether they support it. `kind` names what is tested."""

    id: str
    language: str
    part: str
    kind: str
    line: str
    sources: tuple[Message, ...]
    supported: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and what the check says of it."""

    pair: Pair
    verdict: Verdict

    @property
    def right(self) -> bool:
        return self.pair.supported == self.verdict.ok


def load_pairs(path: Path = PAIRS) -> list[Pair]:
    """The labelled pairs of a JSON-lines file, in order."""
    return [_pair(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line]


def _pair(row: dict[str, Any]) -> Pair:
    sources = tuple(
        Message(
            id=f"m{place}",
            thread="main",
            role=one["role"],
            speaker=one["speaker"],
            time=datetime.fromisoformat(one["time"]),
            text=one["text"],
        )
        for place, one in enumerate(row["sources"])
    )
    return Pair(**(row | {"sources": sources}))


def judge(pairs: Sequence[Pair]) -> list[Judged]:
    """Each pair with the check's verdict."""
    return [Judged(pair, supported(pair.line, pair.sources, zone=ZONE)) for pair in pairs]


def measure(judged: Sequence[Judged]) -> dict[str, Any]:
    """Precision and recall of either verdict, as shares with 95% Wilson intervals.

    `passed` counts unsupported lines that the check lets through, `refused` supported ones that it
    does not.
    """
    found: dict[str, Any] = {
        "pairs": len(judged),
        "passed": sum(one.verdict.ok and not one.pair.supported for one in judged),
        "refused": sum(one.pair.supported and not one.verdict.ok for one in judged),
    }
    for name, wanted in (("supported", True), ("unsupported", False)):
        given = sum(one.verdict.ok == wanted for one in judged)
        real = sum(one.pair.supported == wanted for one in judged)
        hits = sum(one.right and one.pair.supported == wanted for one in judged)
        found[f"{name}_precision"] = asdict(share(hits, given))
        found[f"{name}_recall"] = asdict(share(hits, real))
    return found


def report(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The measures by part and language and by part and kind, and every wrong verdict."""
    judged = judge(pairs)
    return {
        "pairs": len(judged),
        "by_language": _by("language", judged),
        "by_kind": _by("kind", judged),
        "failures": [_failure(one) for one in judged if not one.right],
    }


def _by(field: str, judged: Sequence[Judged]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str], list[Judged]] = {}
    for one in judged:
        groups.setdefault((one.pair.part, getattr(one.pair, field)), []).append(one)
    return [{"part": part, field: name} | measure(group)
            for (part, name), group in sorted(groups.items())]  # fmt: skip


def _failure(one: Judged) -> dict[str, Any]:
    return {
        "id": one.pair.id,
        "kind": one.pair.kind,
        "supported": one.pair.supported,
        "reason": one.verdict.reason,
        "line": one.pair.line,
        "sources": [message.text for message in one.pair.sources],
    }


def report_text(measured: dict[str, Any]) -> str:
    """The report as aligned lines."""
    lines = [f"{measured['pairs']} labelled pairs; precision and recall"]
    for field in ("language", "kind"):
        head = f"part  {field:<13}pairs    supported       unsupported   let through  refused"
        lines += ["", head, *(_row(row, field) for row in measured[f"by_{field}"])]
    lines += ["", f"{len(measured['failures'])} wrong"]
    for one in measured["failures"]:
        verdict = f"refused: {one['reason']}" if one["supported"] else "let through"
        lines.append(f"  {one['id']} ({one['kind']}) {verdict}: {one['line']}")
        lines += [f"    said: {text}" for text in one["sources"]]
    return "\n".join(lines)


def _row(row: dict[str, Any], field: str) -> str:
    shares = "  ".join(
        f"{_percent(row[f'{name}_precision'])} {_percent(row[f'{name}_recall'])}"
        for name in ("supported", "unsupported")
    )
    counts = f"{row['passed']:>12} {row['refused']:>8}"
    return f"{row['part']:<6}{row[field]:<13}{row['pairs']:>5}  {shares}{counts}"


def _percent(found: dict[str, Any]) -> str:
    return "     –" if found["value"] is None else f"{found['value']:>6.1%}"


@app.command("support")
def support_command(
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """How well the check of a note against its sources does on labelled pairs."""
    measured = report(load_pairs())
    if as_json:
        print_json(measured)
    else:
        print(report_text(measured))
