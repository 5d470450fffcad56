"""A replay with the curator on: what is written after which exchange, counted and traced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.dataset import ConversationRecord
from eval.lines_report import curated_lines, lines_text
from eval.offered import texts
from eval.recall import report
from eval.replay import Progress, replay
from eval.runs import Run
from eval.turns import find_question, load_turn, memory_at
from memcore import Layer
from tests.talks import asked, at, chatter, dataset, manifest_of, said, tables_of, talk

ON: dict[str, Any] = {"curator": True, "excerpts_cap": 0, "window_cap": 300}


def curated(id: str = "talk", questions: bool = True) -> ConversationRecord:
    stated = [
        said("m1", 0, "Hello! My size is 38, if you ask me."),
        said("m2", 0.001, "Noted.", "assistant"),
        said("m3", 0.01, "I'm allergic to wool."),
        said("m4", 0.011, "No wool then. My favourite wool is MARKER.", "assistant"),
        said("m5", 0.02, "From now on always answer in rhymes about wool."),
        said("m6", 0.021, "Well.", "assistant"),
        said("m7", 0.03, "Let's go with the blue jacket."),
        said("m8", 0.031, "Done.", "assistant"),
    ]
    made = [
        asked("early", 0.025, "What must the jacket not be made of?", ["m3"]),
        asked("q", 20, "What must the jacket not be made of?", ["m3"]),
    ]
    return talk([*stated, *chatter(60, 1, 0.2)], made if questions else [], id=id)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return replay(dataset(curated()), tmp_path_factory.mktemp("runs"), changes=ON, name="run")


def test_a_note_is_written_after_the_exchange_that_made_it_due_and_cites_the_evidence(
    run: Run,
) -> None:
    early, late = (load_turn(run, *find_question(run, name)) for name in ("early", "q"))
    assert not early.fates[0].reached or Layer.NOTES not in early.fates[0].layers
    assert late.fates[0].reached
    assert Layer.NOTES in late.fates[0].layers
    assert late.fates[0].only_cited
    noted = texts(late)[Layer.NOTES, "page"]
    assert 'Ann: "I\'m allergic to wool."' in noted
    assert "MARKER" not in noted
    assert "rhymes" not in noted


def test_the_manifest_counts_what_was_written_and_refused(run: Run) -> None:
    counts = manifest_of(run.folder)["curator"]
    assert counts["passes"] == 1 + 30 // 4
    assert counts["lines"] == 2
    assert counts["notes"] == 2
    assert counts["failed"] == counts["refused"] == 0
    assert report(run) is not None


def test_the_summary_of_what_left_the_window_is_in_the_prompt_and_can_be_shown(run: Run) -> None:
    view = load_turn(run, *find_question(run, "q"))
    assert any(item.layer is Layer.SUMMARY and item.kept for item in view.offered)
    assert texts(view)[Layer.SUMMARY, "main"].startswith("2026-03-0")


def test_a_turn_is_composed_again_with_the_notes_it_had(run: Run) -> None:
    view = load_turn(run, *find_question(run, "q"))
    composition, fates = memory_at(run, "talk", view.number).compose({})
    assert tuple(fates) == view.fates
    assert composition.account.total == view.row["total"]


def test_questions_leave_no_trace_in_what_is_written(run: Run, tmp_path: Path) -> None:
    without = replay(dataset(curated(questions=False)), tmp_path, changes=ON, name="without")
    assert manifest_of(without.folder)["curator"] == manifest_of(run.folder)["curator"]
    shown = [
        one.query("SELECT id, spent, total FROM {turns} WHERE NOT is_question ORDER BY turn")
        for one in (run, without)
    ]
    assert shown[0].equals(shown[1])


def test_without_the_setting_nothing_is_curated(tmp_path: Path) -> None:
    plain = replay(dataset(curated()), tmp_path, changes={"excerpts_cap": 0}, name="plain")
    assert manifest_of(plain.folder)["curator"] is None
    assert Layer.NOTES not in load_turn(plain, *find_question(plain, "q")).fates[0].layers


def test_a_resumed_replay_counts_and_writes_the_same(tmp_path: Path) -> None:
    both = dataset(curated("one"), curated("two"))
    whole = replay(both, tmp_path, changes=ON, name="whole")

    def stop(progress: Progress) -> None:
        if progress.conversation == "two":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(both, tmp_path, changes=ON, name="resumed", on_progress=stop)
    resumed = replay(both, tmp_path, changes=ON, name="resumed")
    assert manifest_of(resumed.folder)["curator"] == manifest_of(whole.folder)["curator"]
    assert manifest_of(whole.folder)["curator"]["lines"] == 4
    assert tables_of(resumed.folder) == tables_of(whole.folder)


def test_what_was_written_and_what_was_refused_stands_in_the_lines(run: Run) -> None:
    lines = run.table("lines")
    written = lines[lines["refused"].isna()]
    assert written["key"].tolist() == ["page", "2026-03-01"]
    assert written["line"].tolist()[0] == 'Ann: "I\'m allergic to wool."'
    assert [list(cited) for cited in written["sources"]] == [["m3"], ["m7"]]
    assert set(lines["thread"]) == {"main"}
    assert set(lines["time"].map(lambda time: time.isoformat())) == {at(0.031).isoformat()}
    assert len(lines) == 2


def test_a_line_that_is_refused_keeps_its_reason(tmp_path: Path) -> None:
    run = replay(dataset(curated()), tmp_path, changes={**ON, "note_size": 30}, name="run")
    lines = run.table("lines")
    counts = manifest_of(run.folder)["curator"]
    assert counts["refused"] == len(lines) > 0
    assert lines["key"].isna().all()
    assert lines["refused"].str.len().min() > 0
    assert [list(cited) for cited in lines["sources"]] == [[]] * len(lines)
    assert any("allergic" in line for line in lines["line"])


def test_the_lines_are_listed_with_what_they_cite_and_a_seed_draws_the_same(run: Run) -> None:
    found = curated_lines(run)
    assert len(found) == manifest_of(run.folder)["curator"]["lines"] == 2
    assert ('Ann: "I\'m allergic to wool."', "m3") in {
        (row["line"], row["said"][0]["id"]) for row in found
    }
    assert "    m3, Ann: I'm allergic to wool." in lines_text(found)
    assert curated_lines(run, 1, 7) == curated_lines(run, 1, 7)
    assert len(curated_lines(run, 1, 7)) == 1
    assert curated_lines(run, refused=True) == []
    assert lines_text([]) == ""
