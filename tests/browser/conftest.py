"""A dashboard over the small run, and a real browser to look at it with.

Skipped where there is no Chromium; with MNEMOSCOPE_REQUIRE_BROWSER=1 that is a failure instead.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.small_run import make_run

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = os.environ.get("MNEMOSCOPE_REQUIRE_BROWSER") == "1"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 90


def missing(what: str) -> None:
    if REQUIRED:
        pytest.fail(f"{what}, and MNEMOSCOPE_REQUIRE_BROWSER=1 asks for it")
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the package playwright is not installed")
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        missing(f"none of {', '.join(BROWSERS)} is on this machine")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of runs of the dashboard."""
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder)
    return folder


@pytest.fixture(scope="session")
def server(runs: Path) -> Iterator[str]:
    """The address of a dashboard over the small run, and the demo that it makes on first start."""
    folder = runs
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")]
    command += ["--server.headless", "true", "--server.port", str(port)]
    with (folder.parent / "server.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={
                **os.environ,
                "MNEMOSCOPE_RUNS": str(folder),
                "MNEMOSCOPE_CACHE": str(folder.parent / "cache"),
            },
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_it_answers(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _wait_until_it_answers(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, "the dashboard ended by itself"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            continue
    pytest.fail(f"the dashboard did not answer within {SECONDS} seconds")


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A fresh page that fails the test for errors of its scripts."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(SECONDS * 1000)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(f"a dialog opened: {dialog.message}"))
    yield opened
    context.close()
    assert errors == []
