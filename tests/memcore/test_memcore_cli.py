"""`python -m memcore`: what it prints, its exit status, and one clear message for every error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memcore import PAGE, Owner, Settings, open_memory
from memcore.cli import LISTED, escaped, main, parsed_owner
from memcore.embedders.tfidf import TfidfEmbedder
from memcore.errors import ProviderUnavailable
from memcore.testing import PredictableEmbedder, SettableClock
from tests.misbehaving_server import listed, misbehaving_server
from tests.packages import package
from tests.support import ANNA, START, say

ROOT = Path(__file__).parents[2]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the command line in this process; gives exit status, output and errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["memcore", *map(str, arguments)])
        status: Any = 0
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a note and messages of two owners, nothing of it embedded."""
    path = tmp_path / "memory.db"
    with closing(open_memory(path, SettableClock(START), Settings(), durable=False)) as mind:
        mind.notes.write(ANNA, PAGE, "roses", writer="remember", expected_revision=0)
        for owner in (ANNA, Owner("work", "helper", "anna")):
            mind.conversation.append(owner, say("m1", "about lilies"))
    return path


def test_what_waits_is_in_order_and_a_reindex_embeds_it(command: Command, store: Path) -> None:
    status, out, err = command("doctor", store, "--provider", "tfidf")
    assert (status, err) == (0, "")
    assert "home / helper / anna, by tfidf:tfidf 1, 512 wide" in out
    assert "notes: 1 items, 0 current, 1 waiting" in out
    status, out, err = command("reindex", store, "--provider", "tfidf")
    assert (status, out, err) == (0, "2 owners, 3 items: 3 embedded\n", "")
    status, out, _ = command("doctor", store, "--provider", "tfidf")
    assert status == 0
    assert "notes: 1 items, 1 current, 0 waiting" in out
    assert out.endswith("\nok\n")


def test_doctor_says_that_what_waits_is_not_found_by_meaning_yet(
    command: Command, store: Path
) -> None:
    _, out, _ = command("doctor", store, "--provider", "tfidf")
    assert "ok: nothing is lost, but 3 queued items cannot be found by meaning yet" in out


def test_a_reindex_says_why_a_provider_refused(command: Command, store: Path) -> None:
    with misbehaving_server() as server:
        server.behaviour = lambda request: listed(
            [{"index": n, "embedding": [0.0] * 4} for n in range(len(request.texts))]
        )
        name = f"openai:m@{server.url}?dimensions=4"
        status, _, err = command("reindex", store, "--provider", name)
        assert status == 1
        assert "without a direction" in err


def test_an_empty_file_is_no_store_and_stays_empty(command: Command, tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    status, out, err = command("doctor", empty, "--provider", "tfidf")
    assert (status, out) == (2, "")
    assert "is empty" in err
    assert empty.stat().st_size == 0


def test_what_another_provider_embedded_is_not_ok_until_reindexed(
    command: Command, store: Path
) -> None:
    other = PredictableEmbedder()
    with closing(open_memory(store, SettableClock(START), embedder=other)) as mind:
        mind.index.reindex()
    status, out, _ = command("doctor", store, "--provider", "tfidf")
    assert status == 1
    assert "without current vectors and not queued: page" in out
    assert "invisible: 1 passages of notes by predictable:words 1, 64 wide" in out
    assert out.endswith(f"not ok: python -m memcore reindex {store} --provider …\n")
    told = json.loads(command("doctor", store, "--provider", "tfidf", "--json")[1])
    assert told["ok"] is False
    anna = told["owners"][0]
    assert anna["owner"] == {"team": "home", "agent": "helper", "person": "anna"}
    assert (anna["ok"], anna["provider"]["provider"]) == (False, "tfidf")
    assert anna["kinds"][0]["missing"] == ["page"]
    assert {one["passages"] for one in anna["invisible"]} == {1}
    status, out, _ = command("reindex", store, "--provider", "tfidf", "--drop-others", "--json")
    told = json.loads(out)
    assert (status, told["embedded"], told["dropped"]) == (0, 3, 3)
    status, out, _ = command("doctor", store, "--provider", "tfidf")
    assert (status, "invisible" in out) == (0, False)


def test_long_lists_are_cut_in_the_text_alone(command: Command, store: Path) -> None:
    with closing(open_memory(store, SettableClock(START), durable=False)) as mind:
        for number in range(LISTED + 5):
            mind.conversation.append(ANNA, say(f"n{number:02}", "x"))
        with mind.store.transaction() as tx:
            for number in range(LISTED + 5):
                tx.queue.remove(ANNA, "message", f"n{number:02}")
    status, out, _ = command("doctor", store, "--provider", "tfidf")
    assert (status, f"n{LISTED - 1} and 5 more" in out) == (1, True)
    told = json.loads(command("doctor", store, "--provider", "tfidf", "--json")[1])
    assert len(told["owners"][0]["kinds"][1]["missing"]) == LISTED + 5


def test_without_a_provider_only_vectors_of_nothing_are_looked_for(
    command: Command, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, _ = command("doctor", store)
    assert status == 0
    assert "no provider is set: only vectors without an item were looked for" in out
    assert "notes: 1 items, 1 queued" in out
    embedder = PredictableEmbedder()
    with (
        closing(open_memory(store, SettableClock(START))) as mind,
        mind.store.transaction() as tx,
    ):
        rows = embedder.embed(["x"], "passage")
        tx.vectors.put(ANNA, embedder.identity, "note", "2020-01-01", 1, rows)
    status, out, _ = command("doctor", store)
    assert (status, "vectors of nothing: 2020-01-01" in out) == (1, True)
    assert command("reindex", store)[0] == 2
    monkeypatch.setenv("MNEMOSCOPE_PROVIDER", "tfidf")
    assert command("reindex", store)[0] == 0
    assert command("doctor", store)[0] == 0


def test_a_store_of_nobody_is_ok(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    open_memory(path, SettableClock(START)).close()
    assert command("doctor", path) == (0, "nobody's memory is here\nok\n", "")
    status, out, _ = command("reindex", f"sqlite:///{path}", "--provider", "tfidf")
    assert (status, out) == (0, "0 owners, 0 items: 0 embedded\n")


def test_a_provider_that_fails_is_exit_status_1(
    command: Command, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ProviderUnavailable("no route to host")

    monkeypatch.setattr(TfidfEmbedder, "embed", fail)
    status, out, err = command("reindex", store, "--provider", "tfidf")
    assert (status, err) == (1, "error: ProviderUnavailable: no route to host\n")
    assert "0 embedded, 2 still wait" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["doctor", "missing.db"], "error: there is no store missing.db"),
        (["reindex", "missing.db", "--provider", "tfidf"], "error: there is no store missing.db"),
        (["doctor", "mysql://host/db"], "error: no store for mysql://"),
        (["doctor", "text.txt"], "text.txt: file is not a database"),
        (["reindex", "memory.db"], "error: no provider is set: name one"),
        (["doctor", "memory.db", "--provider", "nonsense"], "nonsense"),
        (["doctor"], "Missing argument"),
        (["cure", "memory.db"], "No such command 'cure'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_is_one_message_and_exit_status_2(
    command: Command,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(store.parent)
    Path("text.txt").write_text("This is a diary. " * 100)
    before = {path.name for path in store.parent.iterdir()}
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert message in " ".join(err.split())
    assert {path.name for path in store.parent.iterdir()} == before


def test_it_runs_as_a_module(store: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "memcore", "doctor", str(store)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("ok\n")


def test_a_package_goes_out_and_into_a_new_store(
    command: Command, store: Path, tmp_path: Path
) -> None:
    first, second, other = tmp_path / "1.zip", tmp_path / "2.zip", tmp_path / "other.db"
    status, out, err = command("export", store, first, "--owner", "home/helper/anna")
    assert (status, err) == (0, "")
    counted = "1 notes in 1 revisions, 1 messages, 0 summaries, 1 events"
    assert out.startswith(f"home/helper/anna to {first}: {counted}\nsha256 ")
    status, out, _ = command("import", other, first)
    assert (status, out.splitlines()[0]) == (0, f"{first} to home/helper/anna: {counted}")
    told = json.loads(command("import", other, first, "--json")[1])
    assert (told["counts"]["notes"], told["skipped"]["notes"]) == (0, 1)
    told = json.loads(command("export", other, second, "--owner", "home/helper/anna", "--json")[1])
    assert told["owner"] == {"team": "home", "agent": "helper", "person": "anna"}
    assert told["counts"]["messages"] == 1
    assert first.read_bytes() == second.read_bytes()
    assert command("export", other, second, "--owner", "home/helper/anna", "--force")[0] == 0


def test_an_owner_with_a_slash_is_one_word(command: Command, store: Path, tmp_path: Path) -> None:
    package, word = tmp_path / "p.zip", r"home/a\/b/c\\d"
    command("export", store, package, "--owner", "home/helper/anna")
    status, out, _ = command("import", store, package, "--owner", word)
    assert (status, word in out) == (0, True)
    with closing(open_memory(store, SettableClock(START))) as mind:
        assert Owner("home", "a/b", "c\\d") in mind.store.owners()
    assert command("export", store, tmp_path / "q.zip", "--owner", word)[0] == 0
    status, _, err = command("export", store, tmp_path / "r.zip", "--owner", "home/helper/ann")
    assert status == 2
    assert err == (
        "error: nothing is stored under the owner home/helper/ann; there are: "
        rf"home/a\/b/c\\d, home/helper/anna, work/helper/anna{chr(10)}"
    )


@pytest.mark.parametrize("word", ["anna", "a/b", "a/b/c/d", "a/b/", "//", "", "a/b/c\\", "a/b/\\c"])
def test_what_is_no_owner_is_refused(
    command: Command, store: Path, tmp_path: Path, word: str
) -> None:
    command("export", store, tmp_path / "p.zip", "--owner", "home/helper/anna")
    status, out, err = command("import", tmp_path / "n.db", tmp_path / "p.zip", "--owner", word)
    assert (status, out) == (2, "")
    assert "TEAM/AGENT/PERSON" in err
    assert not (tmp_path / "n.db").exists()


@pytest.mark.parametrize("name", ["a/b", "\\", "a\\/b", "/", "%", "имя x", "\\\\//"])
def test_every_owner_has_a_word(name: str) -> None:
    owner = Owner(name, "x", name)
    assert parsed_owner(escaped(owner)) == owner


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import", "new.db", "none.zip"], "error: there is no package none.zip"),
        (["import", "new.db", "text.zip"], "error: the package is not a zip"),
        (["import", "none/new.db", "good.zip"], "error: there is no store none/new.db"),
        (["import", "text.zip", "good.zip"], "text.zip: file is not a database"),
        (["import", "memory.db", "good.zip"], "message m1 differs"),
        (["export", "none.db", "p.zip", "--owner", "a/b/c"], "error: there is no store none.db"),
        (["export", "memory.db", "good.zip", "--owner", "work/helper/anna"], "is there already"),
        (["export", "memory.db", "no/p.zip", "--owner", "work/helper/anna"], "cannot be written"),
        (["export", "memory.db", "p.zip"], "Missing option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_package_error_is_one_line_and_leaves_no_file(
    command: Command,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(store.parent)
    Path("text.zip").write_text("This is a diary. " * 100)
    Path("good.zip").write_bytes(package())
    before = {path.name for path in store.parent.iterdir()}
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Missing" in message or err.count("\n") == 1
    assert {path.name for path in store.parent.iterdir()} == before
