"""Recall as text for a terminal."""

from __future__ import annotations

from typing import Any

from eval.stats import Share


def recall_text(report: dict[str, Any]) -> str:
    """A recall report as aligned lines: the headline in words first, then the tables."""
    days, old, counts = report["days"], report["old"], report["questions"]
    lines = [
        f"{_share(old, 'some')} of answers {days} days or older had some evidence in the prompt,",
        f"{_share(old, 'all')} had all of it.",
        "",
        f"{counts['measured']} of {counts['all']} questions measured; {counts['unanswerable']} are "
        f"unanswerable, {counts['without_evidence']} name no evidence.",
        f"{report['characters_per_question']:,.0f} characters a question's prompt; unanswerable "
        f"questions brought {report['unanswerable']['excerpt_characters_mean']:,.0f} of excerpts.",
    ]
    tables = [
        ("by age of the answer, days", "by_age", "age"),
        (f"{days} days or older, by language", "old_by_language", "language"),
        (f"{days} days or older, paraphrased or not", "old_paraphrased", "paraphrased"),
        (f"{days} days or older, by kind", "old_by_kind", "kind"),
        ("all ages, by kind", "by_kind", "kind"),
    ]
    for title, key, column in tables:
        if len(report[key]) > 1 or key == "by_age":
            lines += ["", title] + [
                f"  {row[column]!s:<26} some {_share(row, 'some'):<38} all {_share(row, 'all')}"
                for row in report[key]
            ]
    lines += ["", "evidence in the prompt by layer (a question may count for several)"]
    lines += [f"  {row['layer']:<26} {Share(*[row[k] for k in Share._fields])}"
              for row in report["by_layer"]]  # fmt: skip
    lines += ["", f"where evidence was lost, of {counts['measured']} questions"]
    lines += [f"  {row['stage']:<26} {row['lost']:>5} lost {row['left']:>6} left"
              for row in report["funnel"]]  # fmt: skip
    if report["ranking"]:
        measures = ", ".join(f"{name} {value:.3f}" for name, value in report["ranking"].items())
        lines += ["", f"the search's ranking: {measures}"]
    return "\n".join(lines)


def _share(row: dict[str, Any], name: str) -> str:
    return str(
        Share(row[f"{name}_hits"], row["count"], row[f"{name}_value"], row[f"{name}_low"],
              row[f"{name}_high"])
    )  # fmt: skip
