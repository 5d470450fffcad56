"""A saved cutoff carries all that it comes from; one that does not is not calibrated. A later
column is held against what was recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.calibration import Calibration, calibrate
from eval.calibration_records import (
    Record,
    cutoffs_as_text,
    load_cutoffs,
    load_records,
    record_of,
    save_record,
)
from eval.calibration_text import drift_text
from eval.drift import MOVED, drift, record_for
from eval.errors import DatasetError, RunError
from eval.score_column import ScoreColumn
from memcore import InvalidInput, ProviderIdentity, Settings
from tests.eval.columns import IDENTITY, column, normal


def scores(shift: float = 0.0, seed: int = 0, **more: Any) -> ScoreColumn:
    yes = [one + shift for one in normal(0.8, 0.05, 300, seed)]
    no = [one + shift for one in normal(0.4, 0.1, 3_000, seed + 1)]
    return column(yes, no, 10, **more)


@pytest.fixture(scope="module")
def made() -> Calibration:
    return calibrate(scores())


@pytest.fixture
def record(made: Calibration) -> Record:
    return record_of(made, "2026-11-30")


@pytest.fixture
def file(record: Record, tmp_path: Path) -> Path:
    path = tmp_path / "cutoffs.json"
    save_record(record, path)
    return path


def changed(file: Path, **changes: Any) -> Path:
    """The file with fields of its record changed; None removes one."""
    value = json.loads(file.read_text(encoding="utf-8"))
    for name, one in changes.items():
        if one is None:
            del value["cutoffs"][0][name]
        else:
            value["cutoffs"][0][name] = one
    file.write_text(json.dumps(value), encoding="utf-8")
    return file


def test_a_saved_cutoff_is_found_by_the_settings(made: Calibration, file: Path) -> None:
    settings = Settings(cutoffs=load_cutoffs(file))
    found = settings.cutoff(IDENTITY, "note")
    assert found is not None
    assert (found.cutoff, found.low, found.high) == (made.recommended, made.low, made.high)
    assert (found.objective, found.data, found.date) == ("recall>=0.9", "0" * 64, "2026-11-30")
    assert settings.cutoff(IDENTITY, "message") is None
    assert settings.cutoff(replace(IDENTITY, revision="2"), "note") is None


def test_cutoffs_go_through_text_as_on_a_command_line(file: Path) -> None:
    cutoffs = load_cutoffs(file)
    assert Settings().vary(cutoffs=cutoffs_as_text(cutoffs)).cutoffs == cutoffs


def test_the_record_carries_held_out_figures_and_both_distributions(file: Path) -> None:
    (one,) = load_records(file)
    assert one.recall.low <= one.recall.value <= one.recall.high
    assert one.precision is not None
    assert len(one.relevant) == len(one.irrelevant) == 101
    assert (one.relevant_pairs, one.irrelevant_pairs, one.groups) == (300, 3_000, 10)
    assert one.relevant == sorted(one.relevant)


def test_a_newer_cutoff_replaces_the_older_and_others_stay(record: Record, file: Path) -> None:
    other = record.model_copy(update={"kind": "message"})
    newer = record.model_copy(update={"cutoff": record.low, "date": "2026-12-01"})
    assert not save_record(other, file)
    assert save_record(newer, file)
    assert [(one.kind, one.date) for one in load_records(file)] == [
        ("message", "2026-11-30"),
        ("note", "2026-12-01"),
    ]


def test_the_file_is_the_same_whatever_was_saved_first(record: Record, tmp_path: Path) -> None:
    other = record.model_copy(update={"kind": "message"})
    for name, order in (("a", (record, other)), ("b", (other, record))):
        for one in order:
            save_record(one, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_what_is_not_recommended_is_not_saved() -> None:
    with pytest.raises(InvalidInput, match="no cutoff separates"):
        record_of(calibrate(column(normal(0.67, 0.1, 100), normal(0.672, 0.1, 100, 1))))


@pytest.mark.parametrize("missing", [{"identity": None}, {"kind": None}])
def test_a_cutoff_of_an_unknown_provider_or_kind_is_not_saved(missing: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="not calibrated"):
        record_of(calibrate(replace(scores(), **missing)))


# ---- without provenance (field 33)


@pytest.mark.parametrize("field", ["identity", "kind", "data", "date", "objective", "low", "high"])
def test_a_cutoff_without_provenance_is_not_calibrated(file: Path, field: str) -> None:
    with pytest.raises(DatasetError, match=rf"cutoffs\[0\]\.{field}: is missing: not calibrated"):
        load_cutoffs(changed(file, **{field: None}))


@pytest.mark.parametrize(
    "change",
    [
        {"data": "abc"}, {"date": "yesterday"}, {"kind": "page"}, {"cutoff": "0.8"},
        {"cutoff": 5.0}, {"relevant": [0.1]}, {"surprise": 1}, {"identity": {"provider": "x"}},
    ],
)  # fmt: skip
def test_a_broken_record_is_refused_with_its_field(file: Path, change: dict[str, Any]) -> None:
    with pytest.raises(DatasetError) as error:
        load_cutoffs(changed(file, **change))
    assert error.value.faults[0].field.startswith(f"cutoffs[0].{next(iter(change))}")


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_a_cutoff_that_is_not_finite_is_refused(file: Path, number: str) -> None:
    text = file.read_text(encoding="utf-8")
    before = json.loads(text)["cutoffs"][0]["cutoff"]
    file.write_text(text.replace(f'"cutoff": {before}', f'"cutoff": {number}'), encoding="utf-8")
    with pytest.raises(DatasetError, match="cutoff"):
        load_cutoffs(file)


def test_two_records_for_one_provider_and_kind_are_refused(file: Path) -> None:
    value = json.loads(file.read_text(encoding="utf-8"))
    value["cutoffs"] *= 2
    file.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(DatasetError, match="another for the same provider"):
        load_cutoffs(file)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"format": 2, "cutoffs": [], "more": 1}', "written by a newer version"),
        ('{"format": 0, "cutoffs": []}', "written by an older version"),
        ('{"cutoffs": []}', "format: is missing"),
        ("[]", "valid dictionary"),
        ("{", "not JSON"),
        ("", "not JSON"),
    ],
)
def test_a_file_that_is_newer_broken_or_none_of_ours_is_refused_and_kept(
    record: Record, tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "cutoffs.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=reason):
        load_cutoffs(path)
    with pytest.raises(DatasetError, match=reason):
        save_record(record, path)
    assert path.read_text(encoding="utf-8") == text


def test_a_missing_file_is_an_error_and_an_empty_list_is_not(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        load_cutoffs(tmp_path / "none.json")
    (tmp_path / "empty.json").write_text('{"format": 1, "cutoffs": []}', encoding="utf-8")
    assert load_cutoffs(tmp_path / "empty.json") == ()


def test_a_broken_file_is_called_the_cutoffs_file(tmp_path: Path) -> None:
    path = tmp_path / "cutoffs.json"
    for text in ("{", '{"format": 2}', '{"format": 1}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DatasetError, match="the cutoffs file has 1 fault"):
            load_records(path)


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero", "/dev/null"])
def test_a_device_is_no_file_of_cutoffs(record: Record, device: str) -> None:
    with pytest.raises(DatasetError, match="is a device"):
        load_records(Path(device))
    with pytest.raises(RunError, match="it is no regular file"):
        save_record(record, Path(device))


def test_a_folder_that_is_not_there_is_one_clear_error(record: Record, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be written"):
        save_record(record, tmp_path / "none" / "cutoffs.json")


# ---- drift


def test_the_same_column_has_not_moved_and_is_called_identical(record: Record) -> None:
    found = drift(record, scores())
    assert [one.scores for one in found] == ["relevant", "irrelevant"]
    assert [one.distance for one in found] == [0.0, 0.0]
    assert "are identical" in str(found[0])
    assert drift_text(record, found).startswith("nothing has moved since 2026-11-30")


def test_the_column_of_the_cutoff_has_the_very_shares_that_were_kept(record: Record) -> None:
    found = drift(record, scores())
    assert [one.kept_then for one in found] == [one.kept_now for one in found]
    assert [one.kept_then for one in found] == [record.kept_relevant, record.kept_irrelevant]
    gaps = column([0.9, 0.8, 0.7] * 20, [0.1, 0.2, 0.3] * 99 + [0.75] * 7, 10)
    for one in drift(record_of(calibrate(gaps)), gaps):
        assert one.kept_then == one.kept_now


def test_a_record_without_these_shares_is_read_and_they_are_interpolated(file: Path) -> None:
    (old,) = load_records(changed(file, kept_relevant=None, kept_irrelevant=None))
    assert (old.kept_relevant, old.kept_irrelevant) == (None, None)
    assert drift(old, scores())[0].kept_then == pytest.approx(0.9, abs=0.01)
    assert not save_record(old.model_copy(update={"kind": "message"}), file)
    assert len(load_records(file)) == 2


def test_other_data_of_the_same_kind_has_not_moved(record: Record) -> None:
    assert not any(one.moved for one in drift(record, scores(seed=20)))


def test_a_shift_is_flagged_with_what_moved_and_by_how_much(record: Record) -> None:
    yes, no = drift(record, scores(shift=-0.1))
    assert yes.moved
    assert no.moved
    assert yes.median_now - yes.median_then == pytest.approx(-0.1, abs=0.01)
    assert yes.kept_then == pytest.approx(0.9, abs=0.01)
    assert yes.kept_now < 0.4
    said = drift_text(record, [yes, no])
    assert said.startswith("the relevant and irrelevant scores have moved since 2026-11-30")
    assert "moved by -0.1" in said


def test_unlabelled_scores_are_compared_as_one_distribution(record: Record) -> None:
    def plain(shift: float) -> ScoreColumn:
        given = scores(shift)
        return replace(given, frame=given.frame.drop(columns="relevant"))

    (same,) = drift(record, plain(0))
    assert not same.moved
    assert same.distance < 0.02
    assert same.kept_now == pytest.approx(same.kept_then, abs=0.005)
    (other,) = drift(record, plain(0.1))
    assert other.moved


def test_a_few_pairs_that_differ_by_chance_have_not_moved(record: Record) -> None:
    few = column(normal(0.8, 0.05, 12, 5), normal(0.4, 0.1, 12, 6), 3)
    found = drift(record, few)
    assert all(one.threshold > 2 * MOVED for one in found)
    assert not any(one.moved for one in found)


@pytest.mark.parametrize(
    "change",
    [
        {"identity": replace(IDENTITY, model="other")},
        {"identity": replace(IDENTITY, width=65)},
        {"kind": "message"},
        {"identity": None},
        {"kind": None},
    ],
)
def test_a_column_of_another_provider_or_kind_cannot_be_compared(
    record: Record, change: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match="cannot be compared"):
        drift(record, replace(scores(), **change))


def test_one_record_of_several_is_found_by_identity_and_kind(record: Record) -> None:
    other = record.model_copy(update={"kind": "message"})
    assert record_for((other, record), scores()) is record
    stranger = replace(scores(), identity=ProviderIdentity("x", "y", "", 3))
    with pytest.raises(InvalidInput, match="there is no record of notes by x:y, 3 wide"):
        record_for((other, record), stranger)
