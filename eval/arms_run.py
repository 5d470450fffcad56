"""Replays a dataset by several arms: complete runs are kept, unfinished ones gone on with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.dataset import Dataset
from eval.errors import RunError
from eval.replay import Plan, Progress, carry_out, checked_name, plain_name, plan_replay
from eval.run_writer import difference
from eval.runs import Run, inspect_run


@dataclass(frozen=True, slots=True)
class ArmRun:
    """The run of an arm, and whether it was there already."""

    run: Run
    kept: bool


def replay_arms(
    dataset: Dataset,
    out: Path,
    arms: Sequence[str],
    *,
    changes: dict[str, Any] | None = None,
    judge: str | None = None,
    limit: int | None = None,
    prefix: str | None = None,
    on_progress: Callable[[str, Progress], None] | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> list[ArmRun]:
    """The run of each arm, in that order, named PREFIX-ARM in `out`.

    A complete one of the same input is kept as it is, an unfinished one gone on with. Without a
    `prefix` it is the dataset's name and a hash of what the runs are made of, so that other
    settings make other runs. Raises what `replay` does, and `RunError` where a run of that name is
    of other input.
    """
    prefix = prefix or default_prefix(dataset, changes or {}, judge, limit)
    plans = [
        plan_replay(dataset, arm=arm, changes=changes, judge=judge, limit=limit, now=now)
        for arm in arms
    ]
    folders = [out / checked_name(f"{prefix}-{arm}") for arm in arms]
    kept = [_is_kept(folder, plan) for folder, plan in zip(folders, plans, strict=True)]
    made = []
    for plan, folder, there in zip(plans, folders, kept, strict=True):

        def report(progress: Progress, arm: str = plan.arm.name) -> None:
            if on_progress is not None:
                on_progress(arm, progress)

        run = Run(folder) if there else carry_out(plan, folder, report, now)
        made.append(ArmRun(run, there))
    return made


def _is_kept(folder: Path, plan: Plan) -> bool:
    """Whether a complete run of the plan is there. Raises `RunError` for one of other input."""
    found = inspect_run(folder)
    if not found.complete:
        return False
    if other := difference(found, plan.manifest):
        raise RunError(f"run {folder.name} is complete already, {other}; give another --name")
    return True


def default_prefix(
    dataset: Dataset, changes: dict[str, Any], judge: str | None, limit: int | None
) -> str:
    """The dataset's name and the start of a hash of what makes the runs what they are."""
    given = {
        "data": dataset.sha256,
        "changes": {name: str(value) for name, value in changes.items()},
        "judge": judge,
        "limit": limit,
    }
    text = json.dumps(given, sort_keys=True, ensure_ascii=False)
    return f"{plain_name(dataset)}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
