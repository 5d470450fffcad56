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
from eval.replay import Progress, carry_out, plain_name, plan_replay
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
    made = []
    for arm in arms:
        plan = plan_replay(dataset, arm=arm, changes=changes, judge=judge, limit=limit, now=now)
        folder = out / f"{prefix}-{arm}"
        if Path(folder.name).name != folder.name or not folder.name.isprintable():
            raise RunError(f"{prefix!r} cannot begin the name of a run: it is a part of a folder's")
        found = inspect_run(folder)
        if found.complete:
            if other := difference(found, plan.manifest):
                raise RunError(
                    f"run {folder.name} is complete already, {other}; give another --name"
                )
            made.append(ArmRun(Run(folder), True))
            continue

        def report(progress: Progress, arm: str = arm) -> None:
            if on_progress is not None:
                on_progress(arm, progress)

        made.append(ArmRun(carry_out(plan, folder, report, now), False))
    return made


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
