"""What `eval` raises, under the base of `memcore`.

MnemoscopeError
├── DatasetError     a dataset, or a file of cutoffs, was refused; lists every fault at once
└── RunError         a run cannot be used
    ├── RunDamaged   files are missing or broken
    ├── RunFormat    written by an older or newer version
    └── RunUnfinished  the replay was interrupted; it is no result
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memcore import MnemoscopeError

_SHOWN = 50


class Fault(NamedTuple):
    """One fault of a dataset: file, line (from 1, 0 for the file), field, reason."""

    file: str
    line: int
    field: str
    reason: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.field}: {self.reason}" if self.field else f"{where}: {self.reason}"


class DatasetError(MnemoscopeError):
    """Correct the faults listed in `faults` and load again; nothing was written. `what` is the file
    that has them, where it is no dataset."""

    def __init__(self, faults: Sequence[Fault], what: str = "the dataset") -> None:
        self.faults = tuple(faults)
        shown = "\n".join(f"  {fault}" for fault in self.faults[:_SHOWN])
        more = len(self.faults) - _SHOWN
        tail = f"\n  … and {more} more" if more > 0 else ""
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        super().__init__(f"{what} has {count}, nothing was written:\n{shown}{tail}")


class RunError(MnemoscopeError):
    """The run cannot be used; the message says what to do."""


class RunDamaged(RunError):
    """Replay again: files of the run are missing or broken."""


class RunFormat(RunError):
    """Replay again with this version, or open the run with the version that wrote it."""


class RunUnfinished(RunError):
    """Resume the replay; what is there is no result."""
