"""What holds for every test: no setting comes from the machine's environment, and none fails
because the machine is slow."""

import os

import pytest
from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def _no_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MNEMOSCOPE_")]:
        monkeypatch.delenv(name)
