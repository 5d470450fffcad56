"""Where runs are kept: the only place in `eval` that reads the environment."""

from __future__ import annotations

import os
from pathlib import Path


def runs_folder() -> Path:
    """The folder of runs: `MNEMOSCOPE_RUNS`, or `runs` where the command was started."""
    return Path(os.environ.get("MNEMOSCOPE_RUNS", "runs"))
