"""Arms side by side: runs of the same questions, measured as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from eval.answers import answers, failures, failures_in_words, measured_answers, reasons, summary
from eval.arms import ARMS, FIRST
from eval.recall import DAYS, age_bands, by_layer, measured, older_than, overall, questions
from eval.runs import Run, records
from eval.stats import mcnemar, share
from memcore import MnemoscopeError

_PARTS = ("hits", "count", "value", "low", "high")


@dataclass(frozen=True)
class ArmsReport:
    """What was measured of some runs of one dataset, a run an arm, as tables in the runs' order.

    `days` is from what age an answer is old.

    - `arms`: `arm`, `run`, `about`, `yardstick`; of old answers `count`, and `some_` and `all_`
      with `hits`, `value`, `low`, `high` (shares 0 to 1, Wilson 95%), `cut` (of which a message
      was there in part, which does not count); `questions`, `measured`, `searched` (questions in
      which the search tool was called); characters on average:
      `per_question` and of that `tools_per_question`, `per_turn` (None where questions alone are
      turns, or a brain searches for questions alone); `inconclusive` (what failed, in words;
      empty where nothing did) and `reason` (of most failed answers).
    - `layers`: `arm`, `run`, `layer` (the memory's, `tools` or `grep`), `hits`, `count`, `value`,
      `low`, `high`: old answers with evidence by it; one may count for several.
    - `called`: for arms in which the search tool can be called, the old answers apart by whether it
      was (`called`): `arm`, `run`, `called`, `count`, `some_` with `hits`, `value`, `low`, `high`,
      and `right_` with the same where a brain answered.
    - `paired`: `arm`, `run`, `against`, `measure` (`some`, `all`, `right`), `count` of questions
      that both have, `gained` and `lost` against the other, `difference` of the shares, and `p` of
      McNemar's exact test.
    - `answers`: `arm`, `run`, `ages` (`all`, `old`), and what `eval.answers.summary` measures,
      shares as `name_hits`, `name_value`, `name_low`, `name_high`. Empty where no brain was asked.
    """

    days: int
    arms: pd.DataFrame
    layers: pd.DataFrame
    called: pd.DataFrame
    paired: pd.DataFrame
    answers: pd.DataFrame

    def plain(self) -> dict[str, Any]:
        """The tables as plain values for JSON: lists of rows, null for what is missing."""
        names = ("arms", "layers", "called", "paired", "answers")
        return {"days": self.days, **{name: rows_of(getattr(self, name)) for name in names}}


def compare_arms(runs: Sequence[Run], days: int = DAYS, against: str = FIRST) -> ArmsReport:
    """Measures runs, one an arm, of one dataset, and each against the run of the arm `against`,
    where there is one.

    Raises `MnemoscopeError` where they are of different data, and for `days` below 1.
    """
    age_bands(days)
    data = {(run.manifest["dataset"].get("sha256"), run.manifest.get("limit")) for run in runs}
    if len(data) > 1:
        names = ", ".join(run.name for run in runs)
        raise MnemoscopeError(f"these runs are of different data and cannot be compared: {names}")
    asked = {run.name: questions(run) for run in runs}
    given = {run.name: answers(run) for run in runs}
    other = next((run for run in runs if run.manifest["arm"] == against), None)
    arms, layers, called, answered = [], [], [], []
    paired: list[dict[str, Any]] = []
    for run in runs:
        key = {"arm": run.manifest["arm"], "run": run.name}
        old = older_than(asked[run.name], days)
        arms.append({**key, **_arm(run, asked[run.name], old)})
        layers += [{**key, **row} for row in records(by_layer(old))]
        mine = given[run.name]
        called += [{**key, **row} for row in _by_call(run, old, mine)]
        for ages, part in (("all", mine), ("old", mine[mine["age_days"] >= days])):
            if (found := summary(part)) is not None:
                answered.append({**key, "ages": ages, **_flat(found)})
        if other is not None and run is not other:
            before = older_than(asked[other.name], days)
            paired += [{**key, **row} for row in _paired(other, before, old)]
            paired += [{**key, **row} for row in _right(other, given[other.name], mine, days)]
    return ArmsReport(
        days,
        pd.DataFrame(arms),
        pd.DataFrame(layers, columns=["arm", "run", "layer", *_PARTS]),
        pd.DataFrame(called),
        pd.DataFrame(paired, columns=["arm", "run", "against", "measure", *_DIFFERENCE]),
        pd.DataFrame(answered),
    )


_DIFFERENCE = ("count", "gained", "lost", "difference", "p")


def _arm(run: Run, asked: pd.DataFrame, old: pd.DataFrame) -> dict[str, Any]:
    arm = ARMS.get(run.manifest["arm"])
    shares = overall(old)
    turns = run.query("SELECT avg(total + tool_characters) AS characters FROM {turns}")[
        "characters"
    ].iloc[0]
    questions_alone = arm is not None and (
        arm.questions_only or (arm.policy is not None and run.manifest.get("brain") is not None)
    )
    return {
        "about": arm.about if arm else "",
        "yardstick": arm is not None and arm.yardstick,
        "count": len(old),
        **{name: shares[name] for name in shares if name.startswith(("some_", "all_"))},
        "cut": shares["cut"],
        "questions": len(asked),
        "measured": len(measured(asked)),
        "searched": int(_searched(run, asked).sum()),
        "per_question": _mean(asked["characters"]),
        "tools_per_question": _mean(asked["tool_characters"]),
        "per_turn": None if questions_alone or pd.isna(turns) else round(float(turns), 1),
        "inconclusive": failures_in_words(failures(run)),
        "reason": "; ".join(reasons(run)),
    }


def _searched(run: Run, asked: pd.DataFrame) -> pd.Series[bool]:
    """In which of these questions' turns the search tool was called."""
    found = run.query(
        "SELECT DISTINCT conversation, turn FROM {calls} WHERE name = 'search_messages'"
    )
    turns = set(zip(found["conversation"], found["turn"], strict=True))
    keys = zip(asked["conversation"], asked["turn"], strict=True)
    return pd.Series([key in turns for key in keys], asked.index, dtype=bool)


def _by_call(run: Run, old: pd.DataFrame, given: pd.DataFrame) -> list[dict[str, Any]]:
    """Old answers apart by whether the search tool was called; none where the arm has none."""
    arm = ARMS.get(run.manifest["arm"])
    if arm is None or arm.policy is None:
        return []
    graded = measured_answers(given) if len(given) else None
    searched, rows = _searched(run, old), []
    for called in (True, False):
        part = old[searched == called]
        row = {"called": called, "count": len(part)}
        row |= _columns("some", int(part["some"].sum()), len(part))
        if graded is not None:
            mine = part.merge(
                graded[["conversation", "turn", "right"]], on=["conversation", "turn"]
            )
            row |= _columns("right", int(mine["right"].sum()), len(part))
        rows.append(row)
    return rows


def _columns(name: str, hits: int, count: int) -> dict[str, Any]:
    return {f"{name}_{part}": value for part, value in asdict(share(hits, count)).items()}


def _paired(other: Run, before: pd.DataFrame, after: pd.DataFrame) -> list[dict[str, Any]]:
    """Old answers reached in the one run and not in the other, question by question."""
    both = before.merge(after, on=["conversation", "question"], suffixes=("_before", "_after"))
    return [
        {"against": other.name, "measure": name, **_difference(
            both[f"{name}_before"].astype(bool), both[f"{name}_after"].astype(bool))}
        for name in ("some", "all")
    ]  # fmt: skip


def _right(
    other: Run, before: pd.DataFrame, after: pd.DataFrame, days: int
) -> list[dict[str, Any]]:
    """Old answers right in the one run and not in the other; none where either has no answers."""
    if before.empty or after.empty:
        return []
    kept = [measured_answers(part[part["age_days"] >= days]) for part in (before, after)]
    both = kept[0].merge(kept[1], on=["conversation", "question"], suffixes=("_before", "_after"))
    found = _difference(both["right_before"], both["right_after"])
    return [{"against": other.name, "measure": "right", **found}]


def _difference(before: pd.Series[bool], after: pd.Series[bool]) -> dict[str, Any]:
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    count = len(before)
    return {
        "count": count,
        "gained": gained,
        "lost": lost,
        "difference": (gained - lost) / count if count else None,
        "p": mcnemar(gained, lost),
    }


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    """A summary's shares and counts as columns."""
    row: dict[str, Any] = {}
    for name, value in found.items():
        if not isinstance(value, dict):
            row[name] = value
            continue
        for part, one in value.items():
            if isinstance(one, dict):
                row |= {f"{part}_{inner}": of for inner, of in one.items()}
            else:
                row[part if name == "table" else f"{name}_{part}"] = one
    return row


def _mean(values: pd.Series[Any]) -> float:
    return round(float(values.mean()), 1) if len(values) else 0.0


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows as plain values: None for what is missing."""
    return [
        {name: None if _missing(value) else getattr(value, "item", lambda value=value: value)()
         for name, value in row.items()}
        for row in records(table)
    ]  # fmt: skip


def _missing(value: Any) -> bool:
    return value is None or value != value
