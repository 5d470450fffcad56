"""A brain that answers a replay's questions, over real HTTP and through its maker's own client, and
a judge that grades the answers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.answers import answers, failures, measured_answers
from eval.arms_report import compare_arms
from eval.arms_text import arms_text
from eval.dataset import ConversationRecord, Dataset
from eval.errors import RunError
from eval.evidence import Beside
from eval.judge import PROMPT_SHA256, VERSION, verdict
from eval.overview import first_choice, overview
from eval.recall import report
from eval.replay import Progress, replay
from eval.runs import Run, inspect_run, list_runs, records
from eval.text_report import recall_text, turn_text
from eval.turns import find_question, load_turn
from tests.brain_server import (
    ANTHROPIC,
    OPENAI,
    BrainServer,
    Request,
    brain_server,
    calls,
    failing,
    says,
)
from tests.eval.conftest import Command
from tests.misbehaving_server import Answer
from tests.talks import (
    asked,
    chatter,
    dataset,
    files_of,
    manifest_of,
    said,
    tables_of,
    talk,
    write_dataset,
)

KEY = "sk-verysecret0123456789abcdef"
NARROW = {"window_cap": 500}
ROOT = Path(__file__).resolve().parents[2]
UNKNOWN = "I do not know."


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[BrainServer]:
    with brain_server() as running:
        running.behaviour = reads
        yield running
        assert running.refused == []


def one(id: str = "anna", number: str = "4711") -> ConversationRecord:
    """An answer twelve days back and one of today, and what was never told."""
    return talk(
        [
            said("old", 0, f"My locker has the number {number}."),
            said("old-r", 0.001, "Noted.", "assistant"),
            *chatter(30, 1, 0.3),
            said("new", 13, "The parcel is violet."),
            said("new-r", 13.001, "Noted.", "assistant"),
        ],
        [
            asked("old", 13.1, "Which number has my locker?", ["old"], answer=number),
            asked("new", 13.2, "Which colour has the parcel?", ["new"], answer="The violet"),
            asked("never", 13.3, "Which name has my boat?", answerable=False, answer="none"),
        ],
        id=id,
    )


def seen(request: Request) -> str:
    """All that a model is sent, as text."""
    parts = [request.asked.get("system", ""), request.asked["messages"]]
    return json.dumps(parts, ensure_ascii=False)


def question(request: Request) -> str:
    content = request.asked["messages"][-1]["content"]
    return content if isinstance(content, str) else ""


def reads(request: Request) -> Answer:
    """A brain that answers from what it is sent, and calls no tool."""
    if request.asked["model"] == "judge":
        return judges(request)
    text = seen(request)
    wanted = [one for one in ("4711", "violet") if one in text]
    about = next((m for m in ("locker", "parcel", "boat") if m in last_said(request)), "")
    found = {"locker": "4711", "parcel": "violet"}.get(about)
    return says(found if found in wanted else UNKNOWN)(request)


def last_said(request: Request) -> str:
    said = [one for one in request.asked["messages"] if one["role"] == "user"]
    words = [one["content"] for one in said if isinstance(one["content"], str)]
    return words[-1].rpartition("\n\n")[2]


def searches(request: Request) -> Answer:
    """A brain that calls the search tool with the question before it answers."""
    if request.asked.get("tools") and question(request).endswith("?"):
        return calls(("c1", "search_messages", {"query": last_said(request)}))(request)
    return reads(request)


def judges(request: Request) -> Answer:
    given = json.loads(request.asked["messages"][-1]["content"])
    gold, answer = given["gold"], given["answer"]
    right = UNKNOWN in answer if gold is None else gold.split()[-1] in answer
    return says("yes" if right else "no")(request)


def brain_of(server: BrainServer, path: str = OPENAI, model: str = "small") -> str:
    kind, tail = ("openai", "/v1") if path == OPENAI else ("anthropic", "")
    return f"{kind}:{model}@{server.url}{tail}"


def run_of(
    server: BrainServer, out: Path, arm: str, *, path: str = OPENAI, data: Dataset | None = None,
    judge: bool = False, name: str = "", **changes: Any,
) -> Run:  # fmt: skip
    given = {**NARROW, "brain": brain_of(server, path), **changes}
    judging = brain_of(server, model="judge") if judge else None
    data = data or dataset(one())
    return replay(data, out, arm=arm, changes=given, judge=judging, name=name or arm)


def given_to(run: Run, question: str) -> dict[str, Any]:
    (row,) = [row for row in records(answers(run)) if row["question"] == question]
    return row


# ---- the finding


@pytest.mark.parametrize("path", [OPENAI, ANTHROPIC])
def test_old_answers_are_right_where_the_model_searches_and_wrong_where_it_does_not(
    server: BrainServer, tmp_path: Path, path: str
) -> None:
    without = run_of(server, tmp_path, "tool-only", path=path, name="without")
    server.behaviour = searches
    reaching = run_of(server, tmp_path, "tool-only", path=path, name="reaching")
    server.behaviour = reads
    first = run_of(server, tmp_path, "first-search", path=path, name="first")

    def fared(run: Run) -> tuple[bool, bool, str]:
        row = given_to(run, "old")
        return bool(row["some"]), bool(row["exact_match"]), row["text"]

    assert fared(without) == (False, False, UNKNOWN)
    assert fared(reaching) == (True, True, "4711")
    assert fared(first) == (True, True, "4711")
    view = load_turn(reaching, *find_question(reaching, "old"))
    assert view.fates[0].layers == (Beside.TOOLS,)
    assert "My locker has the number 4711." in view.calls["result"].iloc[0]
    told = turn_text(view)
    assert "Answer (done): 4711" in told
    assert "== Tool call: search_messages" in told
    assert without.table("calls").empty
    assert first.table("calls").empty
    assert {len(request.asked.get("tools", ())) for request in server.requests} <= {0, 1}


def test_the_arms_set_it_side_by_side(server: BrainServer, tmp_path: Path) -> None:
    runs = [
        run_of(server, tmp_path, arm, judge=True) for arm in ("first-search", "no-search")
    ]  # fmt: skip
    server.behaviour = searches
    runs.append(run_of(server, tmp_path, "tool-only", judge=True))
    server.behaviour = reads
    runs.append(run_of(server, tmp_path, "tool-always", judge=True))
    made = compare_arms(runs)
    old = made.answers[made.answers["ages"] == "old"].set_index("arm")
    assert old["right_hits"].to_dict() == {
        "first-search": 1, "no-search": 0, "tool-only": 1, "tool-always": 1
    }  # fmt: skip
    assert old["both_hits"].to_dict() == old["right_hits"].to_dict()
    assert old.loc["no-search", "absent_wrong"] == 1
    called = made.called.set_index(["arm", "called"])
    assert called.loc[("tool-only", True), ["count", "some_hits", "right_hits"]].tolist() == [
        1,
        1,
        1,
    ]
    assert called.loc[("tool-only", False), "count"] == 0
    told = arms_text(made)
    assert "where the search tool was called, and where it was not" in told
    assert "tool-only    called  evidence there: 100.0%" in told
    right = made.paired[made.paired["measure"] == "right"].set_index("arm")
    assert right["lost"].to_dict() == {"no-search": 1, "tool-only": 0, "tool-always": 0}
    arms = made.arms.set_index("arm")
    assert arms["searched"].to_dict() == {
        "first-search": 0, "no-search": 0, "tool-only": 3, "tool-always": 3
    }  # fmt: skip
    assert arms["per_turn"].isna().to_dict() == {
        "first-search": False, "no-search": False, "tool-only": True, "tool-always": True
    }  # fmt: skip
    text = arms_text(made)
    assert "answers of no-search, 12 days or older (1 measured, 0 failed)" in text
    assert "inconclusive" not in text


def test_what_the_tool_returned_is_what_the_model_was_sent(
    server: BrainServer, tmp_path: Path
) -> None:
    run = run_of(server, tmp_path, "tool-always")
    sent = [
        message["content"]
        for request in server.requests
        for message in request.asked["messages"]
        if message["role"] == "tool"
    ]
    assert run.table("calls")["result"].tolist() == sent
    assert given_to(run, "old")["characters"] > given_to(run, "old")["tool_characters"] > 0


def test_grep_is_in_what_the_model_is_sent(server: BrainServer, tmp_path: Path) -> None:
    run = run_of(server, tmp_path, "grep")
    assert given_to(run, "old")["text"] == "4711"
    view = load_turn(run, *find_question(run, "old"))
    system = next(
        request.asked["messages"][0]["content"]
        for request in server.requests
        if last_said(request).startswith("Which number")
    )
    assert view.system == system


# ---- figures


def test_answers_are_measured_beside_their_evidence(server: BrainServer, tmp_path: Path) -> None:
    run = run_of(server, tmp_path, "no-search", judge=True)
    found = report(run)["answers"]
    assert (found["count"], found["failed"], found["right_by"]) == (2, 0, "judge")
    assert (found["exact_match"]["hits"], found["judged"]["hits"]) == (1, 1)
    assert found["f1"] == 0.5
    assert found["table"] == {
        "in_prompt_right": 1, "in_prompt_wrong": 0, "absent_right": 0, "absent_wrong": 1,
    }  # fmt: skip
    assert found["both"]["hits"] == 1
    assert 0 < found["both"]["low"] < 0.5 < found["both"]["high"] < 1
    assert found["unanswerable"]["abstained"]["hits"] == 1
    assert (found["tokens_in"], found["tokens_out"]) == (33, 9)
    assert run.manifest["results"]["answers"] == found
    told = recall_text(report(run))
    assert "answers, all ages: 2 measured, 0 failed" in told
    assert "abstained 100.0%" in told


def test_without_a_judge_exact_match_decides_and_nobody_tells_abstention(
    server: BrainServer, tmp_path: Path
) -> None:
    run = run_of(server, tmp_path, "first-search")
    found = report(run)["answers"]
    assert (found["right_by"], found["judged"]) == ("exact match", None)
    assert found["right"] == found["exact_match"]
    assert found["unanswerable"]["abstained"] is None
    never = given_to(run, "never")
    assert never["exact_match"] is None or never["exact_match"] != never["exact_match"]
    assert "nobody judged" in recall_text(report(run))


def test_without_a_brain_nothing_is_answered(tmp_path: Path) -> None:
    run = replay(dataset(one()), tmp_path, name="quiet")
    assert answers(run).empty
    assert report(run)["answers"] is None
    assert run.manifest["brain"] is None
    assert failures(run) == {}


def test_an_empty_table_of_answers_can_be_measured(tmp_path: Path) -> None:
    run = replay(dataset(one()), tmp_path, name="quiet")
    assert measured_answers(answers(run)).empty


# ---- what fails


@pytest.mark.parametrize(
    ("broken", "changes", "stopped"),
    [
        (lambda path: failing(path, 429, retry_after=0), {}, "error"),
        (lambda path: failing(path, 401), {}, "error"),
        (lambda _: Answer(body=b"no JSON"), {}, "error"),
        (lambda _: Answer(body=b'{"choices": []}'), {}, "error"),
        (lambda _: Answer(never=True), {"agent_seconds": 0.3}, "too slow"),
    ],
    ids=["429", "401", "no JSON", "no reply", "silence"],
)
def test_a_call_that_fails_stays_in_the_denominator_and_makes_the_run_inconclusive(
    server: BrainServer, tmp_path: Path, broken: Any, changes: dict[str, Any], stopped: str
) -> None:
    sound = run_of(server, tmp_path, "first-search", judge=True, name="sound")

    def fails(request: Request) -> Answer:
        if request.asked["model"] != "judge" and "locker?" in last_said(request):
            found: Answer = broken(request.path)
            return found
        return reads(request)

    server.behaviour = fails
    run = run_of(server, tmp_path, "first-search", judge=True, name="failed", **changes)
    row = given_to(run, "old")
    assert (row["stopped"], row["exact_match"], row["f1"]) == (stopped, False, 0)
    assert not row["judged"]
    assert row["error"]
    good, bad = report(sound)["answers"], report(run)["answers"]
    assert (bad["count"], bad["failed"]) == (good["count"], 1)
    for name in ("exact_match", "judged", "in_prompt", "right", "both"):
        assert bad[name]["count"] == good[name]["count"]
    assert bad["right"]["hits"] == good["right"]["hits"] - 1
    results = run.manifest["results"]
    assert results["inconclusive"] is True
    assert results["failures"] == {"answers that the brain failed": 1}
    assert sound.manifest["results"]["inconclusive"] is False
    assert "inconclusive: 1 answers that the brain failed" in recall_text(report(run))
    assert "first-search is inconclusive: 1 answers" in arms_text(compare_arms([run]))


def test_a_judge_that_fails_or_waffles_is_an_error_of_the_judge(
    server: BrainServer, tmp_path: Path
) -> None:
    for said_by_judge in (says("Yes, it is right."), lambda r: failing(r.path, 400)):

        def behave(request: Request, told: Any = said_by_judge) -> Answer:
            return told(request) if request.asked["model"] == "judge" else reads(request)

        server.behaviour = behave
        name = f"run-{len(server.requests)}"
        run = run_of(server, tmp_path, "first-search", judge=True, name=name)
        found = report(run)["answers"]
        assert (found["count"], found["judged"]["count"], found["judged"]["hits"]) == (2, 2, 0)
        assert found["right_by"] == "judge"
        assert failures(run) == {"answers that the judge failed": 3}
        assert set(answers(run)["judge_error"].map(bool)) == {True}
        assert run.manifest["results"]["inconclusive"]


def test_an_inconclusive_run_is_told_as_such_and_never_called_best(
    server: BrainServer, tmp_path: Path, command: Command
) -> None:
    server.script = [failing(OPENAI, 401)]
    run_of(server, tmp_path, "first-search", name="unsure")
    run_of(server, tmp_path, "no-search", name="sure")
    found = list_runs(tmp_path)
    table = overview(found).set_index("run")
    assert table["inconclusive"].to_dict() == {
        "unsure": "inconclusive: 1 answers that the brain failed", "sure": "",
    }  # fmt: skip
    assert table["best"].to_dict() == {"unsure": False, "sure": True}
    assert first_choice(found) == "sure"
    assert table["brain"]["sure"] == brain_of(server)
    status, out, _ = command("runs", "--out", tmp_path)
    assert status == 0
    assert "; inconclusive: 1 answers that the brain failed" in out
    status, out, _ = command("recall", "unsure", "--out", tmp_path, "--json")
    assert json.loads(out)["inconclusive"] is True


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("yes", True), ("no", False), (" Yes\n", True), ("NO", False),
        ("yes.", None), ("yes, it is", None), ("", None), ("maybe", None), ("yes no", None),
        ("да", None), ('{"right": true}', None),
    ],
)  # fmt: skip
def test_a_verdict_is_one_word_and_anything_else_an_error(text: str, right: bool | None) -> None:
    found = verdict(text)
    assert found.right is right
    assert bool(found.error) is (right is None)


# ---- what is kept


def test_the_manifest_names_brain_and_judge_and_no_key_is_in_a_run(
    server: BrainServer, tmp_path: Path
) -> None:
    server.script = [failing(OPENAI, 401, f"wrong key {KEY}")]
    run = run_of(server, tmp_path, "tool-always", judge=True)
    manifest = manifest_of(run.folder)
    assert manifest["brain"] == brain_of(server)
    assert manifest["judge"] == {
        "name": brain_of(server, model="judge"),
        "version": VERSION,
        "prompt_sha256": PROMPT_SHA256,
        "temperature": 0.0,
    }
    judged = [one.asked for one in server.requests if one.asked["model"] == "judge"]
    assert {one["temperature"] for one in judged} == {0.0}
    assert next(one.headers["authorization"] for one in server.requests) == f"Bearer {KEY}"
    assert not [name for name, bytes in files_of(run.folder).items() if KEY.encode() in bytes]
    frames = [run.table(name).to_csv() for name in ("answers", "calls", "turns", "questions")]
    assert not [text for text in frames if KEY in text]


def test_times_stand_in_the_timings_alone(server: BrainServer, tmp_path: Path) -> None:
    runs = [run_of(server, tmp_path, "tool-always", judge=True, name=name) for name in "ab"]
    assert tables_of(runs[0].folder) == tables_of(runs[1].folder)
    layers = set(runs[0].table("timings")["layer"])
    assert {"answer", "judge", "tool search_messages"} <= layers


def test_the_environment_may_name_the_brain(
    server: BrainServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOSCOPE_BRAIN", brain_of(server))
    run = replay(dataset(one()), tmp_path, name="run")
    assert len(answers(run)) == 3
    assert run.manifest["changed_settings"] == {}


# ---- broken off and gone on with


class Interrupted(Exception):
    """Somebody broke it off."""


KILLED = """
import os, signal, sys
from eval.loaders import load
from eval.replay import replay
from pathlib import Path

def kill(progress):
    if progress.conversation == "boris":
        os.kill(os.getpid(), signal.SIGKILL)

file, out, brain, judge = sys.argv[1:]
changes = {"window_cap": 500, "brain": brain}
replay(load(file), Path(out), arm="tool-always", changes=changes, judge=judge, name="run",
       on_progress=kill)
"""


def test_what_was_answered_is_not_asked_again(
    server: BrainServer, tmp_path: Path, command: Command
) -> None:
    talks = [one("anna"), one("boris")]
    file = write_dataset(tmp_path / "talks.jsonl", *talks)
    out = tmp_path / "runs"
    whole = run_of(server, tmp_path, "tool-always", data=dataset(*talks), judge=True, name="whole")
    asked_for_all = len(server.requests)
    server.requests.clear()

    judge = brain_of(server, model="judge")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, file, out, brain_of(server), judge],
        cwd=ROOT,
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert inspect_run(out / "run").problem.startswith("unfinished: 1 of 2")
    before = len(server.requests)
    server.requests.clear()
    status, _, err = command("replay", "--resume", out / "run")
    assert status == 0, err
    assert before == len(server.requests) == asked_for_all / 2
    resumed = Run(out / "run")
    assert resumed.table("answers").equals(whole.table("answers"))
    assert resumed.manifest["judge"] == whole.manifest["judge"]
    other = ("replay", file, "--arm", "tool-always", "--name", "run", "--out", out)
    assert command(*other)[0] == 2


def test_a_run_begun_with_a_judge_is_not_gone_on_with_without_it(
    server: BrainServer, tmp_path: Path
) -> None:
    def stop(_: Progress) -> None:
        raise Interrupted

    given = {**NARROW, "brain": brain_of(server)}
    with pytest.raises(Interrupted):
        replay(dataset(one()), tmp_path, changes=given, judge=brain_of(server, model="judge"),
               name="run", on_progress=stop)  # fmt: skip
    with pytest.raises(Exception, match="was begun with another judge; choose another name"):
        replay(dataset(one()), tmp_path, changes=given, name="run")


def test_the_command_line_takes_brain_and_judge(
    server: BrainServer, tmp_path: Path, command: Command
) -> None:
    file = write_dataset(tmp_path / "talks.jsonl", one())
    server.behaviour = searches
    status, out, err = command(
        "arms", file, "--arms", "first-search,tool-only,no-search", "--brain", brain_of(server),
        "--judge", brain_of(server, model="judge"), "--set", "window_cap=500",
        "--out", tmp_path / "runs", "--json",
    )  # fmt: skip
    assert status == 0, err
    told = json.loads(out)
    right = {
        row["arm"]: row["judged_hits"] for row in told["answers"] if row["ages"] == "old"
    }  # fmt: skip
    assert right == {"first-search": 1, "tool-only": 1, "no-search": 0}


def test_a_dead_brain_stops_the_replay_and_what_was_answered_is_gone_on_with(
    server: BrainServer, tmp_path: Path
) -> None:
    talks = dataset(*(one(f"t{n}", f"471{n}") for n in range(4)))
    whole = run_of(server, tmp_path, "first-search", data=talks, name="whole")
    server.script = [reads] * 3 + [failing(OPENAI, 401)] * 5
    with pytest.raises(RunError, match=r"failed 5 questions in a row.*401.*--resume run") as caught:
        run_of(server, tmp_path, "first-search", data=talks, name="run")
    assert KEY not in str(caught.value)
    assert not inspect_run(tmp_path / "run").complete
    before = len(server.requests)
    resumed = run_of(server, tmp_path, "first-search", data=talks, name="run")
    assert len(server.requests) - before == 9  # the first conversation's three are kept
    assert failures(resumed) == {}
    assert answers(resumed).equals(answers(whole))


def test_failures_that_are_not_in_a_row_do_not_stop_a_replay(
    server: BrainServer, tmp_path: Path
) -> None:
    talks = dataset(*(one(f"t{n}", f"471{n}") for n in range(4)))
    server.script = [failing(OPENAI, 401)] * 4 + [reads] + [failing(OPENAI, 401)] * 4
    run = run_of(server, tmp_path, "first-search", data=talks)
    assert failures(run) == {"answers that the brain failed": 8}
