"""The list of runs as a table: what each measured, at what price, and which is best.

Made of manifests alone, so that a folder of large runs opens at once. A manifest may be damaged or
of another version: whatever is missing in it is missing in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from eval.answers import failures_in_words
from eval.arms import ARMS
from eval.runs import RunInfo, records
from memcore import Settings, load_settings

COLUMNS = [
    "run", "best", "newest", "state", "problem", "dataset", "data", "sha256", "arm", "yardstick",
    "changed", "provider", "days", "hits", "count", "reached", "low", "high", "in_full",
    "characters", "per", "turns", "questions", "failed_layers",
    "provider_errors", "refused", "started", "seconds", "brain", "judge", "inconclusive",
]  # fmt: skip

_NUMBERS = [
    "days", "hits", "count", "reached", "low", "high", "in_full", "characters", "turns",
    "questions", "failed_layers", "provider_errors", "refused", "seconds",
]  # fmt: skip


def overview(found: Sequence[RunInfo]) -> pd.DataFrame:
    """A row a run, in the order given: `COLUMNS`.

    `best` is the best complete run of its dataset: most old answers reached, then fewest
    characters, then newest; yardsticks and inconclusive runs are left out. `characters` are a
    turn's prompt, with what tools returned, on average, `per` says what was a turn: every message
    (`turn`) or questions alone (`question`). `data` is the dataset's name, with the start of its
    hash where other data here has the same name. `inconclusive` says what failed, in words, and is
    empty where nothing did. A run that is not complete has no results.
    """
    table = pd.DataFrame([_row(info) for info in found], columns=COLUMNS)
    table[_NUMBERS] = table[_NUMBERS].astype(float)
    table["yardstick"] = table["yardstick"].astype(bool)
    several = table[table["sha256"] != ""].groupby("dataset")["sha256"].nunique() > 1
    twice = table["dataset"].map(several).eq(True) & (table["sha256"] != "")
    table["data"] = table["dataset"].where(~twice, table["dataset"] + " " + table["sha256"].str[:8])
    complete = table[table["state"] == "complete"]
    table["newest"] = table.index.isin(complete.index[:1])
    sure = complete["inconclusive"] == ""
    ranked = complete[~complete["yardstick"] & complete["reached"].notna() & sure]
    ranked = ranked.sort_values(
        ["reached", "characters"], ascending=[False, True], kind="stable", na_position="last"
    )
    table["best"] = table.index.isin(ranked.groupby("sha256", sort=False).head(1).index)
    return table


def compared(table: pd.DataFrame) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The best run and the yardsticks of one dataset: the one with most old answers measured.

    (None, []) where nothing is measured yet. A yardstick is given once an arm, its newest run.
    """
    measured = table[(table["state"] == "complete") & table["reached"].notna()]
    if measured.empty:
        return None, []
    largest = measured.sort_values("count", ascending=False, kind="stable")["sha256"].iloc[0]
    same = measured[measured["sha256"] == largest]
    best = records(same[same["best"]])
    yardsticks = same[same["yardstick"]].drop_duplicates("arm")
    return (best[0] if best else None), records(yardsticks)


def first_choice(found: Sequence[RunInfo]) -> str | None:
    """The run to open where none is named: the best of the largest dataset, else the newest
    complete one; None where there is none."""
    table = overview(found)
    best, _ = compared(table)
    if best is not None:
        return str(best["run"])
    newest = table.loc[table["newest"], "run"]
    return str(newest.iloc[0]) if len(newest) else None


def comparable(found: Sequence[RunInfo], run: str) -> list[RunInfo]:
    """The complete runs of the same dataset as `run`: the newest of each arm and changed settings.

    `run` itself is always among them, and first; the others follow newest first. Runs of the first
    conversations alone are of other data than those of all.
    """
    own = next((info for info in found if info.name == run and info.complete), None)
    if own is None:
        return []
    chosen = {_kind(own): own}
    for info in found:
        if info.complete and _data(info) == _data(own):
            chosen.setdefault(_kind(info), info)
    return list(chosen.values())


def of_same_settings(found: Sequence[RunInfo]) -> list[RunInfo]:
    """Those of `comparable`'s runs that differ from the first by their arm alone, that one
    included: what may be set side by side by arm."""
    return [info for info in found if changed_in_words(info) == changed_in_words(found[0])]


def changed_in_words(info: RunInfo) -> str:
    """The settings that a run changed, as `name=value, name=value`; empty where none."""
    changed = _get(info.manifest, "changed_settings")
    if not isinstance(changed, dict):
        return ""
    told = {
        name: _cutoffs_in_words(info.manifest) if name == "cutoffs" else value
        for name, value in sorted(changed.items())
    }
    return ", ".join(f"{name}={value}" for name, value in told.items())


def _cutoffs_in_words(manifest: dict[str, Any]) -> str:
    found = _get(manifest, "settings", "cutoffs")
    named = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return " ".join(f"{one.get('kind')}:{one.get('cutoff')}" for one in named) or "none"


def settings_table() -> pd.DataFrame:
    """Every setting of the memory: name, the default in this environment, what it is."""
    values = load_settings().model_dump(mode="json")
    return pd.DataFrame(
        [
            {"setting": name, "default": str(values[name]), "what it is": field.description or ""}
            for name, field in Settings.model_fields.items()
        ]
    )


def settings_of(info: RunInfo) -> pd.DataFrame:
    """The settings that a run's manifest names, the changed ones first: setting, value, changed."""
    settings, changed = _get(info.manifest, "settings"), _get(info.manifest, "changed_settings")
    names = settings if isinstance(settings, dict) else {}
    rows = [
        {
            "setting": str(name),
            "value": str(value),
            "changed": "changed" if isinstance(changed, dict) and name in changed else "",
        }
        for name, value in names.items()
    ]
    rows.sort(key=lambda row: (not row["changed"], row["setting"]))
    return pd.DataFrame(rows, columns=["setting", "value", "changed"])


def _kind(info: RunInfo) -> tuple[str, str]:
    return str(info.manifest.get("arm")), changed_in_words(info)


def _data(info: RunInfo) -> tuple[Any, Any]:
    return _get(info.manifest, "dataset", "sha256"), _get(info.manifest, "limit")


def _row(info: RunInfo) -> dict[str, Any]:
    manifest = info.manifest
    results = manifest.get("results") if info.complete else None
    reached = _get(results, "old_answers_some")
    reached = reached if isinstance(reached, dict) else {}
    refused = _get(manifest, "refused")
    name = _get(manifest, "arm")
    arm = ARMS.get(name) if isinstance(name, str) else None
    return {
        "run": info.name,
        "state": _state(info),
        "problem": info.problem,
        "dataset": _dataset(manifest),
        "sha256": _text(_get(manifest, "dataset", "sha256")),
        "arm": _text(name),
        "yardstick": arm is not None and arm.yardstick,
        "changed": changed_in_words(info),
        "provider": _provider(manifest),
        "days": _number(_get(results, "days")),
        "hits": _number(reached.get("hits")),
        "count": _number(reached.get("count")),
        "reached": _number(reached.get("value")),
        "low": _number(reached.get("low")),
        "high": _number(reached.get("high")),
        "in_full": _number(_get(results, "old_answers_all", "value")),
        "characters": _number(_get(results, "characters_per_turn")),
        "per": "question" if arm is not None and arm.questions_only else "turn",
        "turns": _number(_get(results, "turns")),
        "questions": _number(_get(manifest, "counts", "questions")),
        "failed_layers": _number(_get(results, "failed_layers")),
        "provider_errors": _number(_get(results, "provider_errors")),
        "refused": len(refused) if isinstance(refused, list) else None,
        "started": pd.to_datetime(_text(_get(manifest, "started")), utc=True, errors="coerce"),
        "seconds": _number(_get(manifest, "duration_seconds")),
        "brain": _text(_get(manifest, "brain")),
        "judge": _text(_get(manifest, "judge", "name")),
        "inconclusive": _inconclusive(results),
    }


def _inconclusive(results: Any) -> str:
    found = _get(results, "failures")
    counts = {what: _number(n) for what, n in found.items()} if isinstance(found, dict) else {}
    return failures_in_words({what: int(count) for what, count in counts.items() if count})


def _dataset(manifest: dict[str, Any]) -> str:
    """The dataset's name, and that only its first conversations were replayed where it is so."""
    name, limit = _text(_get(manifest, "dataset", "name")), _number(_get(manifest, "limit"))
    return name if limit is None else f"{name}, first {limit:.0f}"


def _state(info: RunInfo) -> str:
    if info.complete:
        return "complete"
    if info.problem.startswith("format"):
        return "newer format" if "newer" in info.problem else "older format"
    return "unfinished" if info.problem.startswith("unfinished") else "damaged"


def _provider(manifest: dict[str, Any]) -> str:
    """What embedded the passages; `none` with the way of searching where nothing did."""
    mode, provider = _text(_get(manifest, "settings", "search_mode")), _get(manifest, "provider")
    if not mode:
        return ""
    if provider is None:
        return f"none: {mode}"
    name = provider.get("name") if isinstance(provider, dict) else provider
    return f"{name}: {mode}"


def _get(value: Any, *path: str) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
