"""What holds for every test: no setting comes from the machine's environment, and none fails
because the machine is slow."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from eval.providers import provided

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def _no_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("MNEMOSCOPE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MNEMOSCOPE_CACHE", str(tmp_path / "cache"))
    provided.cache_clear()
