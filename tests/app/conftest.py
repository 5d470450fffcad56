"""Folders of runs for the pages, and a page opened on one of them, without a browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from eval.dataset import read_native
from eval.replay import Progress, replay

APP = Path(__file__).resolve().parents[2] / "app.py"
BEGAN = datetime(2026, 2, 2, 9, 0, tzinfo=UTC)
HOSTILE = "Is <b>x</b> **bold** at $5 and $6, [here](http://x)?"

Open = Callable[..., AppTest]


class Interrupted(Exception):
    """A replay that somebody broke off."""


def day(number: float, hours: float = 0) -> str:
    """A moment so many days after the conversations began."""
    return (BEGAN + timedelta(days=number, hours=hours)).isoformat()


def conversation(id: str, language: str, said: list[str], asked: list[dict[str, Any]]) -> str:
    """A conversation as a line: one message every half day, and questions about them."""
    return json.dumps(
        {
            "id": id,
            "title": f"{id} and the shop",
            "language": language,
            "person": id,
            "threads": [
                {
                    "id": "main",
                    "messages": [
                        {
                            "id": f"m{number:03d}",
                            "role": "assistant" if number % 2 else "user",
                            "speaker": "Shop" if number % 2 else id,
                            "time": day(number / 2),
                            "text": text,
                        }
                        for number, text in enumerate(said)
                    ],
                }
            ],
            "questions": [
                {"id": f"q{number}", **question} for number, question in enumerate(asked)
            ],
        },
        ensure_ascii=False,
    )


def _said(first: str, chatter: str) -> list[str]:
    return [first, *(f"{chatter} {number}. " + "x" * 480 for number in range(60))]


@pytest.fixture(scope="session")
def dataset_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small dataset: Russian and English, old answers and a fresh one, one that has none."""
    russian = conversation(
        "marina",
        "ru",
        _said("Я взяла куртку размера L, рост 176.", "Сегодня опять снег, номер"),
        [
            {"text": "Какой размер куртки я взяла?", "evidence": ["m000"], "answer": "L"},
            {"text": "Что мне надеть по росту?", "evidence": ["m000"], "paraphrased": True},
            {"text": "Какой опять снег сегодня?", "evidence": ["m059"], "kind": "fresh"},
        ],
    )
    english = conversation(
        "john",
        "en",
        _said("My order number is 7788, for a green kettle.", "It rains again today, entry"),
        [
            {"text": "What is my order number?", "evidence": ["m000"], "answer": "7788"},
            {"text": HOSTILE, "evidence": ["m000"], "answer": "<i>no</i>", "paraphrased": True},
            {"text": "Which bank do I use?", "answerable": False},
        ],
    )
    path = tmp_path_factory.mktemp("dataset") / "small.jsonl"
    lines = []
    for line in (russian, english):
        record = json.loads(line)
        for question in record["questions"]:
            question["asked_at"] = day(31)
        lines.append(json.dumps(record, ensure_ascii=False))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def normal_runs(tmp_path_factory: pytest.TempPathFactory, dataset_file: Path) -> Path:
    """Three finished runs of the small dataset, one of each arm; not to be written to."""
    folder, dataset = tmp_path_factory.mktemp("runs"), read_native(dataset_file)
    for number, arm in enumerate(("no-search", "first-search", "full-context")):
        begun = BEGAN + timedelta(days=100, hours=number)
        replay(dataset, folder, arm=arm, name=f"small-{arm}", now=lambda begun=begun: begun)
    return folder


@pytest.fixture
def empty_runs(tmp_path: Path) -> Path:
    """A folder without any run."""
    return tmp_path / "no-runs-yet"


@pytest.fixture(scope="session")
def _odd_runs(tmp_path_factory: pytest.TempPathFactory, dataset_file: Path) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    older = folder / "older"
    older.mkdir()
    manifest = {"format": 0, "dataset": "small", "score": 0.5, "started": "2025-01-02"}
    (older / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    dataset = read_native(dataset_file)
    replay(dataset, folder, name="damaged")
    (folder / "damaged" / "turns.parquet").unlink()
    (folder / "no-json").mkdir()
    (folder / "no-json" / "manifest.json").write_text('{"format": 1,', encoding="utf-8")

    def break_off(progress: Progress) -> None:
        if progress.turns > 40:
            raise Interrupted

    with pytest.raises(Interrupted):
        replay(dataset, folder, name="unfinished", on_progress=break_off)
    return folder


@pytest.fixture
def odd_runs(tmp_path: Path, _odd_runs: Path) -> Path:
    """A run of an older format, two damaged ones, an unfinished one; the test's own copy."""
    return Path(shutil.copytree(_odd_runs, tmp_path / "odd"))


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a page (`runs`, `recall`, `turn`) on a folder of runs, with an address' parameters.

    The demo is taken as made. Fails where the page raises.
    """

    def opened(page: str, folder: Path, **parameters: Any) -> AppTest:
        monkeypatch.setenv("MNEMOSCOPE_RUNS", str(folder))
        app = AppTest.from_file(str(APP), default_timeout=30)
        app.session_state["demo_ready"] = True
        if page != "runs":
            app.run()
            app.switch_page(f"pages/{page}.py")
        app.query_params.clear()
        for name, value in parameters.items():
            app.query_params[name] = str(value)
        app.run()
        assert not app.exception, app.exception[0].message
        return app

    return opened


@pytest.fixture
def texts() -> Callable[[AppTest], str]:
    """All that a page says in words, joined: what is Markdown, plain or a message."""

    def joined(app: AppTest) -> str:
        kinds = (
            app.markdown, app.caption, app.text, app.code, app.error, app.warning, app.info,
            app.success, app.subheader,
        )  # fmt: skip
        return "\n".join(str(element.value) for kind in kinds for element in kind)

    return joined
