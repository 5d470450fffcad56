"""The demo: the bundled conversations, replayed by a few arms, made on first start."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

from eval.dataset import Dataset
from eval.errors import RunError
from eval.loaders import load
from eval.replay import Progress, replay
from eval.runs import inspect_run
from memcore import load_settings

BUNDLED = "shop"
"""Name of the bundled dataset."""

DEMO_ARMS = ("first-search", "no-search", "full-context")
"""The arms that the demo replays: the others say more than a first look needs."""


def demo_names(dataset: Dataset) -> dict[str, str]:
    """The name of the demo run of each arm; other data has other names."""
    return {arm: f"demo-{arm}-{dataset.sha256[:8]}" for arm in DEMO_ARMS}


def ensure_demo(
    out: Path, on_progress: Callable[[float, str], None] | None = None
) -> dict[str, Path]:
    """Makes the demo runs that are not there yet; returns their folders by arm.

    `on_progress` gets the share done and the arm at work. Each run is made aside and then moved to
    its place, so several processes may do this at once: the first one wins.
    """
    dataset = load(BUNDLED)
    names = demo_names(dataset)
    missing = [arm for arm, name in names.items() if not inspect_run(out / name).complete]
    for number, arm in enumerate(missing):

        def report(progress: Progress, number: int = number, arm: str = arm) -> None:
            if on_progress is not None:
                on_progress((number + progress.share) / len(missing), arm)

        aside = f".{names[arm]}-{uuid.uuid4().hex[:8]}"
        try:
            # whoever opens the dashboard has not asked for a model's answers
            quiet = load_settings().vary(brain=None)
            replay(dataset, out, arm=arm, settings=quiet, name=aside, on_progress=report)
            _move(out / aside, out / names[arm])
        finally:
            shutil.rmtree(out / aside, ignore_errors=True)
    return {arm: out / name for arm, name in names.items()}


def _move(made: Path, target: Path) -> None:
    """Puts a complete run in its place, unless another process did; a broken one gives way."""
    if target.exists() and not inspect_run(target).complete:
        shutil.rmtree(target, ignore_errors=True)
    try:
        made.rename(target)
    except OSError as error:
        if not inspect_run(target).complete:
            raise RunError(f"the demo run cannot be put at {target}: {error}") from error
