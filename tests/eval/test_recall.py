"""Recall of a run: ages and their edges, intervals, the funnel, the ranking; nothing depends on
the order of rows."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pytest

from eval import recall
from eval.dataset import ThreadRecord
from eval.evidence import Stage
from eval.overview import overview
from eval.recall import (
    DAYS,
    age_bands,
    age_curve,
    by_age,
    by_group,
    by_layer,
    coverage,
    funnel,
    headline,
    irrelevant,
    losers,
    lost,
    measured,
    older_than,
    only_cited,
    overall,
    questions,
    ranking,
    report,
)
from eval.replay import replay
from eval.run_writer import RunWriter
from eval.runs import Run, list_runs
from eval.stats import Share, share
from eval.tables import SCHEMAS
from eval.text_report import recall_text
from memcore import MnemoscopeError
from tests.small_run import make_run
from tests.talks import START, asked, at, dataset, said, talk

# ---- runs made by hand


class Asked(NamedTuple):
    """A question of a run made by hand; `ranked` are the messages its search found, best first."""

    id: str
    evidence: Sequence[str] = ("m",)
    reached: Sequence[str] = ()
    age: float | None = 20
    stage: Stage = Stage.NOT_FOUND
    kind: str = "single"
    language: str = "en"
    paraphrased: bool = False
    answerable: bool = True
    layers: Sequence[str] = ()
    ranked: Sequence[str] = ()
    scores: Sequence[float] = ()
    talk: str = "talk"
    cut: int = 0
    excerpt_characters: int = 0
    characters: int = 1_000


def rows_of(given: Sequence[Asked]) -> dict[str, list[dict[str, Any]]]:
    """The rows of a run's tables, one turn a question."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
    for turn, one in enumerate(given):
        key = {"conversation": one.talk, "turn": turn}
        all_of_it = bool(one.evidence) and set(one.reached) == set(one.evidence)
        stage = None if not one.evidence else str(Stage.REACHED if all_of_it else one.stage)
        sizes = {"total": one.characters, "tool_characters": 0}
        rows["turns"].append({**key, **sizes, "failed_layers": 0})
        rows["questions"].append(
            {
                **key, "question": one.id, "text": "?", "kind": one.kind,
                "language": one.language, "paraphrased": one.paraphrased,
                "answerable": one.answerable, "asked_at": START, "age_days": one.age,
                "evidence": list(one.evidence), "reached": len(one.reached), "cut": one.cut,
                "some": bool(one.reached), "all": all_of_it, "layers": list(one.layers),
                "stage": stage, "lost_by": None if all_of_it else "excerpts", "detail": "",
                "characters": one.characters, "excerpt_characters": one.excerpt_characters,
                "tool_characters": 0,
            }
        )  # fmt: skip
        for rank, message in enumerate(one.ranked, start=1):
            score = one.scores[rank - 1] if one.scores else 1 / rank
            rows["scores"].append(
                {
                    **key, "question": one.id, "message": message, "rank": rank, "score": score,
                    "relevant": message in one.evidence,
                }
            )  # fmt: skip
    return rows


def written(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> Run:
    """A run of these rows; columns that are not given are null."""
    tables = {
        name: pa.Table.from_pylist(rows[name], schema=schema) for name, schema in SCHEMAS.items()
    }
    manifest = {
        "dataset": {}, "counts": {}, "arm": "first-search", "settings": {},
        "changed_settings": {}, "started": "2026-01-01",
    }  # fmt: skip
    with RunWriter(folder, manifest) as writer:
        writer.write_part(0, [tables], [])
        writer.join()
        writer.finish({"results": {}, "refused": []})
    return Run(folder)


def run_of(folder: Path, *given: Asked) -> Run:
    return written(folder, rows_of(given))


def frame(*given: Asked) -> pd.DataFrame:
    """The questions as a table, without a run."""
    return pa.Table.from_pylist(
        rows_of(given)["questions"], schema=SCHEMAS["questions"]
    ).to_pandas()


def counts(table: pd.DataFrame, name: str) -> dict[Any, int]:
    return dict(zip(table[name], table["count"], strict=True))


def test_answers_there_only_by_a_citing_note_or_summary_are_counted_apart() -> None:
    table = frame(
        Asked("quoted", age=20, reached=("m",), layers=("excerpts", "notes")),
        Asked("noted", age=20, reached=("m",), layers=("notes",)),
        Asked("summed", age=20, reached=("m",), layers=("notes", "summary")),
        Asked("lost", age=20),
    )
    assert only_cited(table) == 2


# ---- intervals


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611),
     (1, 29, 0.0061, 0.1718)],
)  # fmt: skip
def test_intervals_are_wilsons_as_published(hits: int, count: int, low: float, high: float) -> None:
    """Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, 3."""
    found = share(hits, count)
    assert found.value == hits / count
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_an_interval_stays_within_0_and_1_and_mirrors() -> None:
    for count in (1, 2, 7, 100):
        for hits in range(count + 1):
            one, other = share(hits, count), share(count - hits, count)
            assert one.low is not None
            assert one.high is not None
            assert 0 <= one.low <= hits / count <= one.high <= 1
            assert other.high == pytest.approx(1 - one.low)


def test_a_share_of_nothing_has_no_value() -> None:
    assert share(0, 0) == Share(0, 0, None, None, None)
    assert str(share(0, 0)) == "– (0 of 0)"


# ---- ages


def test_an_answer_of_exactly_the_age_is_old_and_one_a_hair_younger_is_not() -> None:
    asked_then = frame(
        Asked("exact", age=12.0, reached=["m"]),
        Asked("younger", age=math.nextafter(12, 0)),
        Asked("older", age=math.nextafter(12, 13)),
    )
    assert set(older_than(asked_then)["question"]) == {"exact", "older"}
    assert counts(by_age(asked_then), "age") == {"0–1": 0, "2–6": 0, "7–11": 1, "≥ 12": 2}
    assert counts(age_curve(asked_then), "age") == {"0–1": 0, "2–6": 0, "7–11": 1, "≥ 12": 2}
    assert overall(older_than(asked_then))["count"] == 2


@pytest.fixture(scope="module")
def at_the_edge(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A question asked 12 days to the microsecond after its evidence, and one a microsecond less;
    the same at the lower edges."""
    edges = (2, 7, 12)
    messages = [said("m", 0, "The parcel number is 4711.")]
    moments = [(f"{edge}-exact", at(edge)) for edge in edges] + [
        (f"{edge}-less", at(edge) - timedelta(microseconds=1)) for edge in edges
    ]
    one = talk(messages, [asked(id, time, "Which parcel number?", ["m"]) for id, time in moments])
    return replay(dataset(one), tmp_path_factory.mktemp("edge"), name="edge")


def test_twelve_days_to_the_microsecond_are_old_wherever_it_is_reported(at_the_edge: Run) -> None:
    found = questions(at_the_edge).set_index("question")["age_days"]
    assert found["12-exact"] == 12
    assert found["12-less"] < 12
    asked_then = questions(at_the_edge)
    assert list(older_than(asked_then)["question"]) == ["12-exact"]
    bands = {"0–1": 1, "2–6": 2, "7–11": 2, "≥ 12": 1}
    assert counts(by_age(asked_then), "age") == bands
    assert counts(age_curve(asked_then), "age") == bands

    told = report(at_the_edge)
    assert told["old"]["count"] == 1
    assert {row["age"]: row["count"] for row in told["by_age"]} == bands
    assert at_the_edge.manifest["results"]["old_answers_some"]["count"] == 1
    assert overview(list_runs(at_the_edge.folder.parent))["count"].tolist() == [1]
    text = recall_text(told)
    assert "100.0% [20.7%, 100.0%] (1 of 1) of answers 12 days or older had some" in text
    assert "  ≥ 12                       some 100.0% [20.7%, 100.0%] (1 of 1)" in text


@pytest.mark.parametrize(
    ("days", "names"),
    [
        (1, ["0", "≥ 1"]),
        (2, ["0–1", "≥ 2"]),
        (3, ["0–1", "2", "≥ 3"]),
        (12, ["0–1", "2–6", "7–11", "≥ 12"]),
        (13, ["0–1", "2–6", "7–11", "12", "≥ 13"]),
        (40, ["0–1", "2–6", "7–11", "12–29", "30–39", "≥ 40"]),
    ],
)
def test_the_days_are_the_edge_of_the_last_band(days: int, names: list[str]) -> None:
    bands = age_bands(days)
    assert [name for name, _, _ in bands] == names
    assert bands[0][1] == 0
    assert bands[-1][1:] == (days, math.inf)
    assert all(one[2] == other[1] for one, other in pairwise(bands))


@pytest.mark.parametrize("days", [1, 5, 12, 30, 400])
def test_whatever_the_days_every_question_is_in_one_band(days: int) -> None:
    asked_then = frame(*(Asked(f"q{n}", age=n / 3) for n in range(400)))
    old = older_than(asked_then, days)
    assert old["age_days"].min() >= days or old.empty
    for table in (by_age(asked_then, days), age_curve(asked_then, days)):
        assert table["count"].sum() == 400
        assert table.loc[table["from"] >= days, "count"].sum() == len(old)
    last = age_curve(asked_then, days)["count"].iloc[-1]
    assert last > 0 or days == 400


@pytest.mark.parametrize("days", [0, -1])
def test_days_below_one_are_refused(days: int, at_the_edge: Run) -> None:
    with pytest.raises(MnemoscopeError, match=f"at least 1, not {days}"):
        report(at_the_edge, days)


def test_the_days_asked_for_are_reported(at_the_edge: Run) -> None:
    told = report(at_the_edge, 7)
    assert (told["days"], told["old"]["count"]) == (7, 3)
    assert "of answers 7 days or older had some" in recall_text(told)
    assert report(at_the_edge)["days"] == DAYS == 12


# ---- what is counted


UNCOUNTED = (
    Asked("unanswerable", evidence=[], answerable=False, age=None, excerpt_characters=300),
    Asked("tempting", answerable=False, excerpt_characters=100),
    Asked("no evidence", evidence=[], age=None),
)


def test_unanswerable_and_evidenceless_questions_are_not_in_the_denominator(
    tmp_path: Path,
) -> None:
    counted = (
        Asked("a", reached=["m"], layers=["notes"]),
        Asked("b", evidence=["m", "n"], reached=["m"], cut=1, layers=["window", "notes"]),
        Asked("c", age=3),
    )
    with_them = run_of(tmp_path / "with", *counted, *UNCOUNTED)
    asked_then = questions(with_them)
    assert len(measured(asked_then)) == 3
    assert coverage(asked_then) == {
        "all": 6, "measured": 3, "unanswerable": 2, "without_evidence": 1,
    }  # fmt: skip
    assert irrelevant(asked_then) == {"questions": 2, "excerpt_characters_mean": 200.0}
    told = report(with_them)
    for name in ("overall", "old"):
        row = told[name]
        assert (row["some_hits"], row["all_hits"], row["cut"]) == (2, 1, 1)
    assert (told["overall"]["count"], told["old"]["count"]) == (3, 2)
    without = report(run_of(tmp_path / "without", *counted))
    apart = {"run", "questions", "unanswerable"}
    assert {k: v for k, v in told.items() if k not in apart} == {
        k: v for k, v in without.items() if k not in apart
    }


def test_groups_add_up_to_the_whole() -> None:
    asked_then = frame(
        Asked("a", kind="update", reached=["m"], language="ru"),
        Asked("b", kind="single", paraphrased=True),
        Asked("c", kind="single", reached=["m"], paraphrased=True),
        *UNCOUNTED,
    )
    assert counts(by_group(asked_then, "kind"), "kind") == {"single": 2, "update": 1}
    assert counts(by_group(asked_then, "language"), "language") == {"en": 2, "ru": 1}
    assert counts(by_group(asked_then, "paraphrased"), "paraphrased") == {False: 1, True: 2}
    for column in ("kind", "language", "paraphrased"):
        table = by_group(asked_then, column)
        assert table["some_hits"].sum() == overall(asked_then)["some_hits"] == 2


def test_a_question_counts_for_every_layer_that_has_its_evidence() -> None:
    asked_then = frame(
        Asked("a", reached=["m"], layers=["notes", "window"]),
        Asked("b", reached=["m"], layers=["notes"]),
        Asked("c"),
        *UNCOUNTED,
    )
    table = by_layer(asked_then)
    assert list(table[["layer", "hits", "count"]].itertuples(index=False, name=None)) == [
        ("notes", 2, 3), ("window", 1, 3),
    ]  # fmt: skip


def test_the_funnel_loses_each_question_once_and_leaves_those_reached_in_full() -> None:
    stages = [stage for stage in Stage if stage is not Stage.REACHED]
    asked_then = frame(
        *(Asked(f"lost{n}", stage=stage) for n, stage in enumerate([*stages, Stage.CUT])),
        Asked("whole", reached=["m"]),
        Asked("half", evidence=["m", "n"], reached=["m"], stage=Stage.RANKED_LOW),
        *UNCOUNTED,
    )
    table = funnel(asked_then)
    assert list(table["stage"]) == [str(stage) for stage in stages]
    assert dict(zip(table["stage"], table["lost"], strict=True)) == {
        **dict.fromkeys(map(str, stages), 1), "cut": 2, "ranked too low": 2,
    }  # fmt: skip
    assert table["left"].iloc[-1] == overall(asked_then)["all_hits"] == 1
    listed = lost(asked_then)
    assert len(listed) == table["lost"].sum()
    assert list(listed["stage"].unique()) == [str(stage) for stage in stages]
    assert losers(asked_then) == dict.fromkeys(map(str, stages), "excerpts")


def test_nothing_asked_is_reported_without_a_fault(tmp_path: Path) -> None:
    for name, given in (("none", ()), ("uncounted", UNCOUNTED)):
        run = run_of(tmp_path / name, *given)
        told = report(run)
        assert told["overall"]["some_value"] is None
        assert told["overall"]["characters"] is None
        assert told["ranking"] == {}
        assert told["by_kind"] == told["by_layer"] == []
        assert [row["count"] for row in told["by_age"]] == [0, 0, 0, 0]
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        assert "– (0 of 0) of answers 12 days or older" in recall_text(told)
        assert len(age_curve(questions(run))) == 4
        assert lost(questions(run)).empty
        assert headline(run)["old_answers_some"]["value"] is None


def test_a_report_is_plain_json_and_text(tmp_path: Path) -> None:
    told = report(make_run(tmp_path))
    assert json.loads(json.dumps(told, allow_nan=False, ensure_ascii=False)) == told
    assert not re.search(r"\b(nan|none)\b", recall_text(told), re.IGNORECASE)


def test_the_headline_equals_the_report(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    told, head = report(run), headline(run)
    assert head == run.manifest["results"]
    for name in ("some", "all"):
        row = head[f"old_answers_{name}"]
        assert row["count"] == told["old"]["count"] > 0
        for part in ("hits", "value", "low", "high"):
            assert row[part] == told["old"][f"{name}_{part}"]
    turns = run.table("turns")
    assert head["turns"] == len(turns)
    assert head["characters_per_turn"] == round(turns["total"].mean(), 1)


# ---- the ranking


RANKED = (
    Asked("third", ranked=["x", "y", "m", "z"]),
    Asked("two", evidence=["m", "n"], ranked=["x", "m", "y", "z", "n"]),
    Asked("deep", ranked=[*(f"x{n}" for n in range(10)), "m"]),
    Asked("not found", ranked=["x", "y"]),
    Asked("not searched"),
)


def test_ranking_measures_equal_those_worked_out_by_hand(tmp_path: Path) -> None:
    found = ranking(run := run_of(tmp_path / "run", *RANKED), questions(run))

    def gain(rank: int) -> float:
        return 1 / math.log2(rank + 1)

    two = (gain(2) + gain(5)) / (gain(1) + gain(2))
    assert found == {
        "R@4": pytest.approx((1 + 0.5) / 5),
        "R@10": pytest.approx((1 + 1) / 5),
        "RR@10": pytest.approx((1 / 3 + 1 / 2) / 5, abs=1e-6),
        "nDCG@10": pytest.approx((gain(3) + two) / 5, abs=1e-6),
    }


def test_questions_that_are_not_measured_do_not_move_the_ranking(tmp_path: Path) -> None:
    alone = run_of(tmp_path / "alone", *RANKED)
    among = run_of(
        tmp_path / "among",
        *RANKED,
        Asked("unanswerable", answerable=False, ranked=["m", "n"]),
        Asked("none", evidence=[], age=None, ranked=["m"]),
    )
    assert ranking(alone, questions(alone)) == ranking(among, questions(among))
    old = older_than(questions(among), 100)
    assert ranking(among, old) == {}


def test_questions_of_two_conversations_may_share_an_id(tmp_path: Path) -> None:
    run = run_of(
        tmp_path / "run",
        Asked("q", ranked=["m"], talk="one"),
        Asked("q", ranked=["x", "m"], talk="two"),
    )
    assert ranking(run, questions(run))["RR@10"] == 0.75


def test_a_run_that_never_searched_ranks_at_zero(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", Asked("a"), Asked("b", reached=["m"]))
    assert set(ranking(run, questions(run)).values()) == {0.0}


def test_permuting_the_rows_changes_no_measure(tmp_path: Path) -> None:
    chance = random.Random(36)
    messages = [f"m{n}" for n in range(12)]
    given = [
        Asked(
            f"q{n}",
            evidence=(evidence := chance.sample(messages, chance.choice((1, 2, 3)))),
            reached=evidence[: chance.choice((0, 1, 3))],
            age=chance.choice((0.5, 2, 6.9, 7, 11.9, 12, 40)),
            stage=chance.choice([one for one in Stage if one is not Stage.REACHED]),
            kind=chance.choice(("single", "multi")),
            language=chance.choice(("ru", "en")),
            layers=chance.sample(["notes", "window", "excerpts"], 2),
            ranked=chance.sample(messages, 8),
            scores=[1.5, 1.5, 1.5, 1.5, 1.0, 1.0, 1.0, 0.0],
            characters=chance.randrange(20_000),
        )
        for n in range(40)
    ]
    rows = rows_of([*given, *UNCOUNTED])
    expected = report(written(tmp_path / "run", rows))
    assert expected["ranking"]["R@4"] > 0
    expected.pop("run")
    for number in range(4):
        for table in rows.values():
            chance.shuffle(table)
        run = written(tmp_path / f"shuffled{number}", rows)
        found = report(run)
        found.pop("run")
        assert found == expected
        shuffled = questions(run).sample(frac=1, random_state=number)
        assert ranking(run, shuffled) == expected["ranking"]
        assert by_age(shuffled).equals(by_age(questions(run)))
        assert funnel(shuffled).equals(funnel(questions(run)))
        assert by_group(shuffled, "kind").equals(by_group(questions(run), "kind"))


def test_permuting_the_conversations_of_a_dataset_changes_no_measure(tmp_path: Path) -> None:
    talks = [
        talk(
            [
                said("m", 0, f"The parcel number of {id} is 4711."),
                said("n", 0.5, "The parcel number is 4711.", "assistant"),
                said("o", 1, "The parcel number is 4711."),
            ],
            [
                asked("q", 13 + number, "Which parcel number was it, dear?", ["m"]),
                asked("p", 13 + number, "Which parcel was it, and whose?", ["o", "m"]),
            ],
            id=id,
        )
        for number, id in enumerate(("anna", "boris", "clara"))
    ]
    backwards = [
        one.model_copy(
            update={
                "threads": [ThreadRecord(id="main", messages=one.threads[0].messages[::-1])],
                "questions": one.questions[::-1],
            }
        )
        for one in talks
    ]
    orders = (talks, talks[::-1], [talks[1], talks[2], talks[0]], backwards)
    told = [
        report(replay(dataset(*order), tmp_path, name=f"run{n}")) for n, order in enumerate(orders)
    ]
    for one in told:
        one.pop("run")
    assert told == [told[0]] * len(orders)


def test_every_share_comes_with_its_count(at_the_edge: Run) -> None:
    told = report(at_the_edge)
    for name in ("by_age", "by_kind", "by_language", "old_by_kind", "by_paraphrased"):
        for row in told[name]:
            for part in ("some", "all"):
                assert {f"{part}_{one}" for one in ("hits", "value", "low", "high")} <= set(row)
            assert row["count"] >= row["some_hits"] >= row["all_hits"]
    assert recall.characters_per_question(questions(at_the_edge)) == told["characters_per_question"]
