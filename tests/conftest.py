"""What holds for every test: no setting comes from the machine's environment."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MNEMOSCOPE_")]:
        monkeypatch.delenv(name)
