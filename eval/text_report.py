"""Recall, and one turn, as text for a terminal."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

from eval.answers import failures_in_words
from eval.explain import LAYER_NAMES, loss_in_words, verdict
from eval.runs import records
from eval.stats import Share
from eval.turns import TurnView
from memcore import Layer


def recall_text(report: dict[str, Any]) -> str:
    """A recall report as aligned lines: the headline in words first, then the tables."""
    days, old, counts = report["days"], report["old"], report["questions"]
    excerpts = report["unanswerable"]["excerpt_characters_mean"]
    lines = [
        f"{_share(old, 'some')} of answers {days} days or older had some evidence in the prompt,",
        f"{_share(old, 'all')} had all of it.",
        f"{report['old_only_cited']} of the {old['some_hits']} have no more than a note or summary",
        "that cites it; that it tells the answer is judged by its words alone.",
        "",
        f"{counts['measured']} of {counts['all']} questions measured;",
        f"{counts['unanswerable']} unanswerable, {counts['without_evidence']} without evidence.",
        f"{report['characters_per_question']:,.0f} characters a question's prompt;",
        f"{excerpts:,.0f} of excerpts on unanswerable ones.",
    ]
    if tools := report["tool_characters_per_question"]:
        lines.append(f"{tools:,.0f} of a question's characters are what the search tool returned.")
    if told := failures_in_words(report["failures"]):
        lines += ["", told, *(f"  most often: {why}" for why in report["failure_reasons"])]
    if report["answers"]:
        lines += ["", *_answers("all ages", report["answers"])]
    if report["old_answers"]:
        lines += ["", *_answers(f"{days} days or older", report["old_answers"])]
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
    lines += ["", "all ages: evidence in the prompt by layer (a question may count for several)"]
    lines += [f"  {row['layer']:<26} {_share(row)}" for row in report["by_layer"]]
    lines += [
        "",
        f"all ages: where some or all evidence was lost, of {counts['measured']} questions",
    ]
    lines += [f"  {row['stage']:<26} {row['lost']:>5} lost {row['left']:>6} left"
              for row in report["funnel"]]  # fmt: skip
    if report["ranking"]:
        measures = ", ".join(f"{name} {value:.3f}" for name, value in report["ranking"].items())
        lines += ["", f"the search's ranking: {measures}"]
    return "\n".join(lines)


def _share(row: dict[str, Any], name: str = "") -> str:
    prefix = f"{name}_" if name else ""
    parts = {part: row[f"{prefix}{part}"] for part in ("hits", "value", "low", "high")}
    return str(Share(count=row["count"], **parts))


def _answers(ages: str, found: dict[str, Any]) -> list[str]:
    """How the brain's answers fared: words, judge, and both sides of the evidence."""

    def told(name: str) -> str:
        return str(Share(**found[name])) if found[name] else "–"

    counts, empty = found["table"], found["unanswerable"]
    f1 = "–" if found["f1"] is None else f"{found['f1']:.3f}"
    lines = [
        f"answers, {ages}: {found['count']} measured, {found['failed']} failed",
        f"  exact match                {told('exact_match')}",
        f"  token F1                   {f1}",
        f"  judged right               {told('judged')}",
        f"  all evidence in the prompt {told('in_prompt')}",
        f"  and right (by {found['right_by']})  {told('both')}",
        f"  all of it there: {counts['in_prompt_right']} right, {counts['in_prompt_wrong']} wrong",
        f"  not all of it: {counts['absent_right']} right, {counts['absent_wrong']} wrong",
    ]
    if empty["count"]:
        abstained = Share(**empty["abstained"]) if empty["abstained"] else "nobody judged"
        lines.append(f"  unanswerable: {empty['count']}, abstained {abstained}")
    return lines


def turn_text(view: TurnView) -> str:
    """A turn as text: the verdict, its evidence, the account, what was dropped, the prompt."""
    asked = view.row["time"].astimezone(ZoneInfo(view.talk.timezone))
    lines = [
        f"{view.talk.title or view.talk.id} · asked {asked:%d %b %Y, %H:%M} ({view.talk.timezone})",
        f"Question: {view.row['text']}",
        verdict(view.talk, view.messages, view.row["time"], view.fates),
    ]
    for fate in view.fates:
        said = view.messages[fate.message].text if fate.message in view.messages else "?"
        where = ", ".join(LAYER_NAMES[layer] for layer in fate.layers)
        fared = where if fate.reached else f"lost: {loss_in_words(fate)}"
        lines.append(f"  evidence {fate.message} ({fared}): {said}")
    if view.answer is not None:
        told = view.answer["error"] or view.answer["stopped"]
        lines.append(f"Answer ({told}): {view.answer['text']}")
    lines += ["", "== Account, in characters ==", *_account(view)]
    dropped = view.items[~view.items["kept"]]
    for name, part in dropped.groupby("layer", sort=False):
        lines += ["", f"== Dropped by {LAYER_NAMES[Layer(str(name))]} =="]
        lines += [
            f"  {one['id']} ({one['size']:,} characters): {one['reason']} {one['detail']}".rstrip()
            for one in records(part)
        ]
    lines += ["", "== System prompt ==", view.system, "", "== History and message =="]
    lines += [f"[{turn.role}] {turn.content}" for turn in view.turns]
    for call in records(view.calls):
        lines += ["", f"== Tool call: {call['name']} {call['arguments']} ==", call["result"]]
    return "\n".join(lines)


def _account(view: TurnView) -> list[str]:
    head = ("layer", "asked", "cap", "granted", "received", "kept", "dropped", "status")
    rows = [head]
    for row in records(view.layers):
        cap = "–" if pd.isna(row["cap"]) else f"{int(row['cap']):,}"
        sizes = f"{row['asked']:,}", cap, f"{row['granted']:,}", f"{row['received']:,}"
        told = [str(one) for one in (row["note"], row["ordering"]) if one]
        status = ": ".join([row["status"], "; ".join(told)]) if told else row["status"]
        counts = str(row["kept"]), str(row["dropped"])
        rows.append((LAYER_NAMES[Layer(row["layer"])], *sizes, *counts, status))
    rows.append(("total", "", "", "", f"{view.row['total']:,}", "", "", ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    return [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [row[column].rjust(widths[column]) for column in range(1, len(head) - 1)]
            + [row[-1]]
        ).rstrip()
        for row in rows
    ]
