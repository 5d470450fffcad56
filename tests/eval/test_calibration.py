"""A cutoff is where the objective puts it, is reported on other groups, and is recommended only
where it separates."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eval.calibration import SEPARATES, Calibration, calibrate
from eval.calibration_text import calibration_text, headline, report
from eval.errors import DatasetError
from eval.held_out import held_out
from eval.objective import Objective, parse_objective
from eval.score_column import ScoreColumn, categorical
from eval.score_counts import counted, grid
from memcore import InvalidInput, relevant
from tests.eval.columns import column, normal

TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


@pytest.fixture(scope="module")
def clear() -> Calibration:
    """Two distributions that hardly overlap, over ten groups."""
    return calibrate(column(normal(0.8, 0.05, 400), normal(0.4, 0.1, 4_000, 1), 10))


# ---- the objective


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("recall>=0.9", Objective("recall", 0.9)),
        (" Recall >= .95 ", Objective("recall", 0.95)),
        ("precision>=0.8", Objective("precision", 0.8)),
        ("f1", Objective("f", 1)),
        ("F0.5", Objective("f", 0.5)),
    ],
)
def test_an_objective_is_read_and_written_alike(text: str, objective: Objective) -> None:
    assert parse_objective(text) == objective
    assert parse_objective(str(objective)) == objective


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("recall", "there is no objective"),
        ("recall>0.9", "there is no objective"),
        ("recall>=0", "above 0 and at most 1"),
        ("precision>=1.5", "above 0 and at most 1"),
        ("f0", "beta is above 0"),
        ("f99", "beta is above 0"),
        ("accuracy>=0.9", "there is no objective"),
        ("recall>=nan", "there is no objective"),
        ("", "there is no objective"),
    ],
)
def test_what_is_no_objective_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_objective(text)


def test_recall_takes_the_highest_cutoff_that_keeps_enough() -> None:
    made = calibrate(column(TENTHS, [0.05] * 20, 2), "recall>=0.8")
    assert made.cutoff == 0.3
    assert made.verdict(0.3).recall == 0.8


def test_precision_takes_the_lowest_cutoff_that_is_precise_enough() -> None:
    made = calibrate(column(TENTHS, [0.15, 0.25, 0.35, 0.45], 2), "precision>=1")
    assert made.cutoff is not None
    assert 0.45 < made.cutoff <= 0.4502  # the first step above the last irrelevant score
    assert made.verdict(made.cutoff).precision == 1


def test_the_best_f_of_a_gap_is_its_middle() -> None:
    made = calibrate(column([0.8, 0.9] * 5, [0.1, 0.2] * 50, 5), "f1")
    assert made.cutoff == pytest.approx(0.5, abs=0.001)
    assert made.verdict(made.cutoff or 0)[1:] == (made.cutoff, 10, 0, 0, 100, 1.0, 1.0, 0.0)
    assert made.recommended == made.cutoff


def test_where_no_cutoff_meets_the_objective_none_is_recommended() -> None:
    """The best scores are irrelevant ones, though most others are lower than the relevant."""
    made = calibrate(column([0.8] * 20, [0.9] * 10 + [0.1] * 500, 5), "precision>=0.95")
    assert (made.cutoff, made.recommended, made.reason) == (None, None, "objective")
    assert headline(made).startswith("no cutoff meets precision>=0.95 reliably: none does")
    assert made.held_out.recall.value is None
    assert made.held_out.undecided == 5


# ---- one comparison (field 34)


@pytest.mark.parametrize("score", [0.1 + 0.2, 0.3, 0.7, 0.8208, 1 / 3])
def test_a_score_equal_to_the_cutoff_gets_one_verdict_everywhere(score: float) -> None:
    made = calibrate(column([score, 0.9], [score, 0.0], 2))
    assert relevant(score, score)
    said = made.verdict(score)
    assert (said.kept, said.let_through) == (2, 1)
    assert made.verdict(math.nextafter(score, 1)).kept == 1
    cases = made.examples(score).set_index("case")["score"]
    assert score in [cases["relevant kept"].min(), cases["irrelevant let through"]]


def test_every_cutoff_of_the_grid_counts_as_the_core_compares() -> None:
    scores = np.array([0.1 + 0.2, 0.3, 0.30000001, 0.29, 0.7, 0.1, 0.6999999])
    counts = counted(scores, scores > 0, np.arange(len(scores)) % 2)
    kept, _ = counts.totals()
    for cutoff, count in zip(counts.cutoffs, kept[0], strict=True):
        assert count == sum(relevant(float(score), float(cutoff)) for score in scores)


def test_cutoffs_are_round_and_the_lowest_keeps_all() -> None:
    cutoffs, step = grid(np.array([0.68243, 0.95252]))
    assert step == 0.0001
    assert 1_000 <= len(cutoffs) <= 10_001
    assert cutoffs[0] <= 0.68243 < cutoffs[1]
    assert cutoffs[-1] <= 0.95252
    assert all(float(f"{one:.4f}") == one for one in cutoffs)


@pytest.mark.parametrize("scale", [1e-7, 1.0, 37.0, 1e6])
def test_scores_of_any_scale_have_a_grid(scale: float) -> None:
    cutoffs, step = grid(np.array([-0.3, 0.4, 0.9]) * scale)
    assert 1_000 <= len(cutoffs) <= 10_001
    assert cutoffs[0] <= -0.3 * scale
    assert np.diff(cutoffs) == pytest.approx(step)


# ---- what separates (field 32)


def test_two_distributions_about_one_score_are_not_separated() -> None:
    made = calibrate(column(normal(0.670, 0.05, 200), normal(0.672, 0.05, 2_000, 1), 8))
    assert made.recommended is None
    assert made.reason == "overlap"
    assert made.overlap > 0.9
    said = headline(made)
    assert said.startswith("no cutoff separates these: the two overlap by ")
    assert "no cutoff is recommended" in said


def test_relevant_scores_below_irrelevant_ones_are_not_separated() -> None:
    made = calibrate(column([0.670] * 20, [0.672] * 200, 4))
    assert (made.recommended, made.reason, made.overlap) == (None, "overlap", 1.0)


def test_scores_the_wrong_way_round_are_not_said_to_overlap() -> None:
    made = calibrate(column([0.2, 0.3] * 10, [0.6, 0.7] * 100, 4))
    assert made.reason == "overlap"
    assert "all irrelevant scores are above the relevant" in headline(made)


def of_groups(*rows: tuple[float, bool, str]) -> ScoreColumn:
    frame = pd.DataFrame(rows, columns=["score", "relevant", "group"])
    return ScoreColumn("few", categorical(frame), "0" * 64, "group")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (ScoreColumn("two", pd.DataFrame({"score": [0.5, 0.3], "relevant": [True, False]}), "",
                     "pair"), "nothing could be tried on pairs"),
        (of_groups((0.9, True, "a"), (0.8, True, "a"), (0.1, False, "a"), (0.2, False, "b"),
                   (0.3, False, "c")), "nothing could be tried on groups"),
        (of_groups((0.9, True, "a"), (0.45, False, "a"), (0.5, True, "b"), (0.3, False, "b")),
         "the two do not overlap here, but on other groups it may be by"),
    ],
)  # fmt: skip
def test_too_little_data_is_said_and_no_overlap_of_what_does_not(
    given: ScoreColumn, says: str
) -> None:
    made = calibrate(given)
    assert (made.auc, made.recommended, made.reason) == (1.0, None, "uncertain")
    assert made.overlap < 0.01
    said = headline(made)
    assert said.startswith(f"too little data to say that a cutoff separates these: {says}")
    assert "overlap by 100%" not in said


def test_identical_scores_are_called_so_and_nothing_is_nan() -> None:
    made = calibrate(column([0.5] * 10, [0.5] * 50, 5))
    assert (made.recommended, made.reason) == (None, "identical")
    assert "all scores are identical (0.5)" in headline(made)
    assert "nan" not in calibration_text(made)
    assert len(made.histogram) == 60
    assert made.curve["recall"].notna().all()


def test_a_wide_gap_is_separated_and_reported_on_other_groups(clear: Calibration) -> None:
    assert clear.reason == ""
    assert clear.recommended is not None
    apart = clear.separation.separation
    assert apart.low is not None
    assert apart.low >= SEPARATES
    assert clear.low is not None
    assert clear.high is not None
    assert clear.low <= clear.recommended <= clear.high
    assert clear.held_out.recall.value == pytest.approx(0.9, abs=0.03)
    assert clear.held_out.folds == 10


def test_what_only_a_few_pairs_separate_is_uncertain() -> None:
    yes = [0.9, 0.9, 0.2, 0.9, 0.9, 0.2]
    made = calibrate(column(yes, [0.1] * 30 + [0.3] * 3, 3))
    assert made.reason == "uncertain"
    assert headline(made).startswith("too little data to say")
    assert any("only 3 conversations" in one for one in made.warnings)


def test_the_criterion_is_half_of_the_two_distributions_shared() -> None:
    """Shifted normals overlap by 2Φ(−d/2): half where they are 1.35 apart (Cohen's d)."""
    apart = calibrate(column(normal(1.6, 1, 4_000), normal(0, 1, 4_000, 1), 40), by_language=False)
    close = calibrate(column(normal(1.1, 1, 4_000), normal(0, 1, 4_000, 1), 40), by_language=False)
    assert apart.overlap == pytest.approx(0.424, abs=0.02)
    assert close.overlap == pytest.approx(0.582, abs=0.02)
    assert (apart.reason, close.reason) == ("", "overlap")


# ---- held out, and intervals


def test_held_out_figures_differ_from_those_of_the_choice_where_a_group_does() -> None:
    """One conversation scores lower throughout: a cutoff of the others loses what is in it."""
    frame = pd.concat(
        [
            column(normal(0.8, 0.02, 80), normal(0.3, 0.1, 800, 1), 4).frame.astype({"group": str}),
            column(normal(0.5, 0.02, 20, 2), normal(0.1, 0.1, 200, 3), 1)
            .frame.astype({"group": str})
            .assign(group="low"),
        ],
        ignore_index=True,
    )
    made = calibrate(replace(column([1], [0], 1), frame=categorical(frame)), "recall>=0.9")
    assert made.cutoff is not None
    assert made.verdict(made.cutoff).recall >= 0.9
    assert made.held_out.recall.value is not None
    assert made.held_out.recall.value == pytest.approx(0.8)  # none of the low ones is kept
    assert made.held_out.recall.low is not None
    assert made.held_out.recall.low < 0.6


def test_the_cutoffs_interval_covers_the_true_cutoff_about_as_often_as_it_says() -> None:
    """The tenth percentile of a normal distribution, from thirty groups with a level of their own
    each; 40 times. The 95% interval of a percentile bootstrap over so many groups covers a bit less
    than 95%."""
    true = 1 - 1.2816 * math.hypot(0.1, 0.1)
    covered = 0
    for seed in range(40):
        chance = np.random.default_rng(seed)
        level = chance.normal(1, 0.1, 30)
        yes = (level[:, None] + chance.normal(0, 0.1, (30, 20))).T.ravel()
        no = chance.normal(0, 0.1, 300)
        frame = column(list(yes), list(no), 30).frame
        groups = frame["group"].cat.codes.to_numpy().astype(np.intp)
        counts = counted(frame["score"].to_numpy(), frame["relevant"].to_numpy(), groups)
        again = counts.cutoffs[counts.resampled(parse_objective("recall>=0.9"))]
        low, high = np.percentile(again, [2.5, 97.5])
        covered += low <= true <= high
    assert 33 <= covered <= 40


def test_more_than_ten_groups_are_held_out_in_ten_folds() -> None:
    counts = counted(
        np.linspace(0, 1, 300), np.linspace(0, 1, 300) > 0.5, np.arange(300, dtype=np.intp) % 30
    )
    assert held_out(counts, parse_objective("f1")).folds == 10


def test_pairs_without_groups_are_resampled_one_by_one() -> None:
    given = column(normal(0.8, 0.05, 500), normal(0.4, 0.1, 50_000, 1))
    frame = given.frame[["score", "relevant"]]
    made = calibrate(ScoreColumn("plain", frame, "0" * 64, "pair"))
    assert made.counts.groups == 50_500
    assert made.recommended is not None
    assert made.held_out.recall.value == pytest.approx(0.9, abs=0.02)
    assert made.shown(0.5) is None
    assert made.risk_coverage["coverage"].iloc[-1] == 1
    assert list(made.examples(0.75, 1)["case"]) == [
        "relevant kept", "relevant lost", "irrelevant let through", "irrelevant held back"
    ]  # fmt: skip


def test_a_few_distinct_scores_without_groups_are_held_out_too() -> None:
    frame = pd.DataFrame(
        {"score": [1.0] * 45 + [0.0] * 455, "relevant": [True] * 40 + [False] * 460}
    )
    made = calibrate(ScoreColumn("plain", frame, "0" * 64, "pair"))
    assert (made.held_out.folds, made.held_out.undecided) == (10, 0)
    assert made.recommended is not None
    assert made.held_out.recall.value == 1


# ---- order (field 36)


def test_permuting_the_rows_changes_nothing() -> None:
    given = column(normal(0.7, 0.1, 60), [round(one, 2) for one in normal(0.5, 0.1, 600, 1)], 12)
    assert given.frame["score"].duplicated().any()
    shuffled = given.frame.sample(frac=1, random_state=7).reset_index(drop=True)
    one, other = calibrate(given), calibrate(replace(given, frame=shuffled))
    assert report(one) == report(other)
    assert calibration_text(one) == calibration_text(other)
    at = one.cutoff or 0.5
    for table in ("curve", "histogram", "percentiles", "risk_coverage"):
        pd.testing.assert_frame_equal(getattr(one, table), getattr(other, table))
    names = ["case", "group", "passage", "score"]
    left, right = one.examples(at)[names], other.examples(at)[names]
    pd.testing.assert_frame_equal(left.astype(str), right.astype(str))


def test_permuting_rows_without_groups_changes_nothing() -> None:
    frame = column(normal(0.7, 0.1, 60), normal(0.5, 0.1, 600, 1)).frame[["score", "relevant"]]
    given = ScoreColumn("plain", frame, "0" * 64, "pair")
    shuffled = replace(given, frame=frame.sample(frac=1, random_state=3).reset_index(drop=True))
    assert report(calibrate(given)) == report(calibrate(shuffled))


# ---- languages


def two_languages(ru: float, en: float) -> ScoreColumn:
    parts = [
        column(
            normal(mean, 0.03, 200, n), normal(mean - 0.4, 0.05, 1_000, n + 5), 10, language=code
        )
        for n, (code, mean) in enumerate((("ru", ru), ("en", en)))
    ]
    names = dict.fromkeys(parts[0].frame.select_dtypes("category").columns, str)
    frame = pd.concat([one.frame.astype(names) for one in parts], ignore_index=True)
    frame["query"] = frame["language"] + frame["query"]
    return replace(parts[0], frame=categorical(frame))


def test_each_language_has_a_result_of_its_own() -> None:
    made = calibrate(two_languages(0.8, 0.8))
    assert sorted(made.languages) == ["en", "ru"]
    assert made.warnings == ()
    assert "\nru: 0.7" in calibration_text(made)


def test_cutoffs_that_differ_by_more_than_their_intervals_are_warned_of() -> None:
    made = calibrate(two_languages(0.9, 0.7))
    assert any("one for both suits neither" in one for one in made.warnings)
    cutoffs = [one.cutoff or 0.0 for one in made.languages.values()]
    assert abs(cutoffs[0] - cutoffs[1]) > 0.1


def test_a_language_that_nothing_separates_is_named() -> None:
    given = two_languages(0.8, 0.8)
    frame = given.frame
    ru = frame["language"] == "ru"
    frame.loc[ru, "score"] = normal(0.5, 0.1, int(ru.sum()))
    made = calibrate(replace(given, frame=frame))
    assert made.languages["ru"].recommended is None
    assert any(one.startswith("ru: no cutoff separates") for one in made.warnings)


# ---- what a page shows


def test_the_headline_says_in_words_what_is_kept_and_what_passes(clear: Calibration) -> None:
    assert clear.cutoff is not None
    said = headline(clear)
    assert said.startswith(f"{clear.written(clear.cutoff)} keeps 90% of relevant notes and lets")
    assert "of irrelevant ones; on other conversations 90% ± " in said


def test_any_cutoff_of_a_slider_has_a_verdict(clear: Calibration) -> None:
    for cutoff in (-5.0, 0.0, 0.61234, 0.8, 99.0):
        said = clear.verdict(cutoff)
        assert said.kept + said.lost == 400
        assert said.let_through + said.held_back == 4_000
    assert clear.verdict(-5.0).recall == 1
    assert clear.verdict(99.0).precision is None


def test_examples_are_the_nearest_on_either_side_of_the_line(clear: Calibration) -> None:
    shown = clear.examples(0.7, 2)
    assert shown["case"].value_counts().to_dict() == {
        "relevant kept": 2, "relevant lost": 2, "irrelevant let through": 2,
        "irrelevant held back": 2,
    }  # fmt: skip
    kept = shown[shown["case"] == "relevant kept"]["score"]
    scores = clear.column.frame.query("relevant and score >= 0.7")["score"].nsmallest(2)
    assert sorted(kept) == sorted(scores)
    assert {"query_text", "passage_text"} <= set(shown.columns)


def test_a_case_without_a_pair_has_no_example() -> None:
    made = calibrate(column([0.9] * 4, [0.1] * 4, 2))
    assert set(made.examples(0.5)["case"]) == {"relevant kept", "irrelevant held back"}


def test_what_each_query_would_be_shown_is_measured_with_and_without_the_cutoff() -> None:
    made = calibrate(column([0.9, 0.9], [0.8, 0.3] * 4, 2))
    shown = made.shown(0.85)
    assert shown == (1.0, 1.0, 0.25, 1.0)


def test_ties_of_a_relevant_and_an_irrelevant_passage_do_not_flatter() -> None:
    made = calibrate(column([0.9, 0.9], [0.9, 0.9, 0.1, 0.1], 2))
    assert made.risk_coverage["risk"].iloc[0] == 1


def test_the_tables_end_where_they_must(clear: Calibration) -> None:
    assert clear.histogram["relevant"].sum() == 400
    assert clear.histogram["irrelevant_share"].sum() == pytest.approx(1)
    assert len(clear.percentiles) == 101
    assert clear.curve["recall"].iloc[0] == 1
    assert clear.curve["recall"].is_monotonic_decreasing
    assert clear.risk_coverage["coverage"].is_monotonic_increasing


@pytest.mark.parametrize(
    ("yes", "no", "groups", "reason"),
    [
        ([], [0.1, 0.2], 2, "all 2 pairs are irrelevant"),
        ([0.1, 0.2], [], 2, "all 2 pairs are relevant"),
        ([0.9, 0.8], [0.1], 1, "a single conversation"),
        ([], [], 1, "there is no pair"),
    ],
)
def test_what_nothing_can_be_calibrated_on_is_refused(
    yes: list[float], no: list[float], groups: int, reason: str
) -> None:
    with pytest.raises(DatasetError, match=reason):
        calibrate(column(yes, no, groups))
