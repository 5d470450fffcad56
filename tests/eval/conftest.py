"""What the tests of `eval` share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real files, which stay outside the project; without them the test is skipped."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real data is not at {SHARED_DATA}")
    return SHARED_DATA
