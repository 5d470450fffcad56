"""Arms side by side, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.arms_report import ArmsReport, rows_of
from eval.stats import Share


def arms_text(report: ArmsReport) -> str:
    """The report as aligned lines for a terminal."""
    days = report.days
    unsure = [row for row in rows_of(report.arms) if row["inconclusive"]]
    lines = [
        f"{row['arm']} is {row['inconclusive']} (most often: {row['reason']})"
        if row["reason"]
        else f"{row['arm']} is {row['inconclusive']}"
        for row in unsure
    ]
    lines += [""] * bool(unsure)
    lines.append(f"old answers ({days} days or older): evidence in what the model is sent")
    rows = [
        ("arm", "some of it", "all of it", "cut", "characters a question", "a turn", "tool used")
    ]
    for row in rows_of(report.arms):
        sent = f"{row['per_question']:,.0f}"
        if row["tools_per_question"]:
            sent += f" ({row['tools_per_question']:,.0f} of tools)"
        rows.append((
            f"{row['arm']}{' (yardstick)' if row['yardstick'] else ''}",
            _told(row, "some"),
            _told(row, "all"),
            str(row["cut"]),
            sent,
            "–" if row["per_turn"] is None else f"{row['per_turn']:,.0f}",
            f"{row['searched']} of {row['questions']}" if row["searched"] else "–",
        ))  # fmt: skip
    lines += _aligned(rows)
    lines += ["", "by which layer (an answer may count for several)"]
    by_run: dict[str, list[str]] = {}
    for row in rows_of(report.layers):
        by_run.setdefault(row["arm"], []).append(f"{row['layer']} {row['hits']}")
    lines += _aligned([(arm, ", ".join(parts)) for arm, parts in by_run.items()])
    lines += _called_lines(report)
    if len(report.paired):
        lines += ["", "against the first search: the same questions, McNemar's exact test"]
        lines += _aligned([
            (row["arm"], row["measure"], f"{row['difference']:+.1%}" if row["count"] else "–",
             f"{row['gained']} gained, {row['lost']} lost of {row['count']}", f"p {row['p']:.2g}")
            for row in rows_of(report.paired)
        ])  # fmt: skip
    for row in rows_of(report.answers):
        lines += _answer_lines(row, days)
    return "\n".join(lines)


def _called_lines(report: ArmsReport) -> list[str]:
    """Old answers where the search tool was called, and where it was not."""
    rows = [
        (
            row["arm"],
            "called" if row["called"] else "not called",
            f"evidence there: {_told(row, 'some')}",
            f"right: {_told(row, 'right')}" if row.get("right_value") is not None else "",
        )
        for row in rows_of(report.called)
        if row["count"]
    ]
    return ["", "where the search tool was called, and where it was not", *_aligned(rows)] * bool(
        rows
    )


def _answer_lines(row: dict[str, Any], days: int) -> list[str]:
    ages = "all ages" if row["ages"] == "all" else f"{days} days or older"
    f1 = "–" if row["f1"] is None else f"{row['f1']:.3f}"
    judged = _told(row, "judged") if row.get("judged_value") is not None else "no judge"
    return [
        "",
        f"answers of {row['arm']}, {ages} ({row['count']} measured, {row['failed']} failed)",
        f"  exact match {_told(row, 'exact_match')}, F1 {f1}, judged right: {judged}",
        f"  right by {row['right_by']}, of those answers:",
        f"  all evidence there: {row['in_prompt_right']} right, {row['in_prompt_wrong']} wrong",
        f"  not all there: {row['absent_right']} right, {row['absent_wrong']} wrong",
    ]


def _told(row: dict[str, Any], name: str) -> str:
    parts = {part: row[f"{name}_{part}"] for part in ("hits", "value", "low", "high")}
    return str(Share(count=row["count"], **parts))


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))] if rows else []
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return [f"  {'  '.join(cells)}".rstrip() for cells in padded]
