"""What the tests of `eval` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval.cli import main

SHARED_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real files, which stay outside the project; without them the test is skipped."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real data is not at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command line in this process; exit status, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["eval", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run
