"""The Calibrate page on nothing, on what can be calibrated, and on what cannot."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from eval.calibration_job import CalibrationJob
from eval.calibration_records import load_records
from eval.loaders.pairs import load_source
from eval.pairs import Material
from eval.replay import replay
from pages.shared import calibrate_jobs
from pages.shared import wording_calibrate as wording
from tests.small_run import dataset

Open = Callable[..., AppTest]
Texts = Callable[[AppTest], str]
HOSTILE = "<script>alert(1)</script> $x$ **bold**"
THINGS = ("куртка", "чайник", "рама", "теплица", "паспорт", "kettle", "fence", "blinds")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that was calibrated elsewhere, and no scoring of another test."""
    monkeypatch.setenv("MNEMOSCOPE_CACHE", str(tmp_path_factory.mktemp("cache")))
    calibrate_jobs._slot.clear()


def write_csv(path: Path, header: str, rows: list[tuple[Any, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split())
        writer.writerows(rows)
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Pairs that words alone tell apart, in two languages; one text looks like markup."""
    rows: list[tuple[Any, ...]] = []
    for number, thing in enumerate(THINGS):
        language = "ru" if number < 5 else "en"
        for turn in range(4):
            query = f"{thing} {number}{turn}, {thing}?"
            rows.append((f"g{turn}{language}", query, f"{thing} {number}{turn}", 1, language))
            others = [f"zzz {other} {turn}" for other in range(2)] + [HOSTILE]
            rows += [(f"g{turn}{language}", query, other, 0, language) for other in others]
    return write_csv(tmp_path / "pairs.csv", "group query passage relevant language", rows)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """A ready score column: ten conversations, well apart."""
    rows = [(f"c{n % 10}", 0.9 - n / 1000, 1) for n in range(40)]
    rows += [(f"c{n % 10}", 0.4 - n / 1000, 0) for n in range(200)]
    return write_csv(tmp_path / "scores.csv", "group score relevant", rows)


@pytest.fixture
def open_calibrate(open_page: Open, empty_runs: Path) -> Open:
    """Opens the page at an address; what is scored in a thread is waited for."""

    def opened(folder: Path = empty_runs, **address: Any) -> AppTest:
        return settled(open_page("calibrate", folder, **address))

    return opened


def settled(app: AppTest) -> AppTest:
    """Waits for the scoring that goes on, and runs the page again."""
    job = calibrate_jobs.running()
    if isinstance(job, CalibrationJob):
        job.wait(60)
        assert not job.active
    if isinstance(job, CalibrationJob) or "Being calibrated" in first_line(app):
        app.run()  # it may have ended since the page was made
    assert not app.exception, app.exception[0].message
    return app


def address(source: Path, **more: str) -> dict[str, str]:
    return {"source": str(source), "provider": "tfidf", "kind": "any", **more}


def first_line(app: AppTest) -> str:
    line = next(one.value for one in app.markdown if one.value.startswith("### "))
    return line.replace("\\", "")


def html(app: AppTest) -> str:
    return "\n".join(str(one.proto.body) for one in app.get("html"))


def keys(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.button}


def test_quick_data_are_calibrated_without_a_click(open_calibrate: Open, pairs: Path) -> None:
    app = open_calibrate(**address(pairs))
    assert "keeps 100% of relevant notes and lets through 0% of irrelevant ones" in first_line(app)
    assert "on other groups 100%" in first_line(app)
    assert "calibrate_save" in keys(app)


def test_what_takes_long_waits_for_a_click(open_calibrate: Open) -> None:
    app = open_calibrate(source="shop", provider="packaged", kind="message")
    assert first_line(app).startswith("### Not calibrated yet: shop, messages, with packaged.")
    assert any("1,796 texts to embed, about 63 s" in one.value for one in app.caption)
    assert calibrate_jobs.running() is None


def test_a_link_never_calls_a_provider_over_the_network(open_calibrate: Open, pairs: Path) -> None:
    app = open_calibrate(**address(pairs, provider="openai:m@http://127.0.0.1:9/v1"))
    assert first_line(app).startswith("### Not calibrated yet")
    assert calibrate_jobs.running() is None


def test_the_address_reopens_the_view_without_embedding(
    open_calibrate: Open, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_calibrate(**address(pairs))
    calibrate_jobs._slot.clear()  # as after a restart
    monkeypatch.setattr(CalibrationJob, "start", lambda _: pytest.fail("it embeds again"))
    app = open_calibrate(**address(pairs, objective="f1", language="ru", cutoff="0.3"))
    assert first_line(app).startswith("### 0.")
    assert app.slider[0].value == pytest.approx(0.3)
    names = ("source", "provider", "kind", "objective", "language", "cutoff")
    kept = {name: app.query_params[name] for name in names}
    told = {name: one[0] if isinstance(one, list) else one for name, one in kept.items()}
    assert told == {
        "source": str(pairs), "provider": "tfidf", "kind": "any", "objective": "f1",
        "language": "ru", "cutoff": "0.3",
    }  # fmt: skip


def test_save_writes_the_record_and_says_how_it_is_used(
    open_calibrate: Open, pairs: Path, empty_runs: Path, texts: Texts
) -> None:
    app = open_calibrate(**address(pairs))
    app.button(key="calibrate_save").click().run()
    (record,) = load_records(empty_runs / "cutoffs.json")
    assert (record.kind, record.identity.provider) == ("note", "tfidf")
    said = texts(app)
    assert "Saved in" in said
    assert f"--cutoffs {empty_runs / 'cutoffs.json'}" in said
    assert "have not moved since" in said
    table = next(one.value for one in app.dataframe if "provider" in one.value)
    assert table["cutoff"].iloc[0] == f"{record.cutoff:g}"


def test_a_cutoff_moved_by_hand_is_called_so_and_never_saved(
    open_calibrate: Open, pairs: Path, empty_runs: Path
) -> None:
    app = open_calibrate(**address(pairs))
    chosen = app.slider[0].value
    app.slider[0].set_value(app.slider[0].max).run()
    assert any("not calibrated" in one.value for one in app.caption)
    assert "cutoff" in app.query_params
    app.button(key="calibrate_save").click().run()
    (record,) = load_records(empty_runs / "cutoffs.json")
    assert record.cutoff == pytest.approx(chosen)
    app.button(key="calibrate_back").click().run()
    assert app.slider[0].value == pytest.approx(chosen)
    assert "cutoff" not in app.query_params


@pytest.mark.parametrize("cutoff", ["nan", "inf", "-inf", "much", "99", ""])
def test_a_cutoff_in_the_address_that_is_none_breaks_nothing(
    open_calibrate: Open, scores: Path, cutoff: str
) -> None:
    assert open_calibrate(**address(scores, cutoff=cutoff)).slider


def test_texts_are_shown_as_they_are(open_calibrate: Open, pairs: Path) -> None:
    app = open_calibrate(**address(pairs))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; $x$ **bold**" in html(app)
    assert "<script>alert" not in html(app)


def test_every_language_has_its_line(open_calibrate: Open, pairs: Path) -> None:
    app = open_calibrate(**address(pairs))
    assert '<td class="m-to-left">en</td>' in html(app)
    app.selectbox(key="calibrate_language").select("ru")
    app.run()
    assert app.query_params["language"] in ("ru", ["ru"])
    assert "with 20 relevant" in app.markdown[1].value


def test_where_no_cutoff_separates_nothing_can_be_saved(
    open_calibrate: Open, tmp_path: Path, texts: Texts
) -> None:
    rows = [(f"c{n % 10}", n % 97 / 97, int(n % 3 == 0)) for n in range(300)]
    app = open_calibrate(**address(write_csv(tmp_path / "x.csv", "group score relevant", rows)))
    assert first_line(app).startswith("### No cutoff separates these: the two overlap by")
    assert "calibrate_save" not in keys(app)
    assert "Nothing to save: no cutoff separates." in texts(app)
    assert any("not recommended" in one.value for one in app.caption)


def test_identical_scores_say_so(open_calibrate: Open, tmp_path: Path, texts: Texts) -> None:
    rows = [(f"c{n % 3}", 0.5, n % 2) for n in range(30)]
    app = open_calibrate(**address(write_csv(tmp_path / "x.csv", "group score relevant", rows)))
    assert "all scores are identical (0.5)" in first_line(app)
    assert not app.slider
    assert "check the provider" in texts(app)


def test_a_ready_column_asks_no_provider_and_says_why_it_is_not_saved(
    open_calibrate: Open, scores: Path, texts: Texts
) -> None:
    app = open_calibrate(**address(scores, provider="openai:no@http://127.0.0.1:9"))
    assert "keeps" in first_line(app)
    said = texts(app)
    assert wording.READY_COLUMN in said
    assert "the column names no provider" in said
    assert "calibrate_start" not in keys(app)


def test_text_without_labels_has_a_floor_and_no_cutoff(
    open_calibrate: Open, tmp_path: Path, texts: Texts
) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(f"{thing} {n}" for thing in THINGS for n in range(5)))
    app = open_calibrate(**address(path))
    assert first_line(app).startswith("### 95% of random pairs score below 0.")
    assert "This is a floor and not a cutoff" in texts(app)
    assert "calibrate_save" not in keys(app)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([("g", 0.1, 1), ("g", 0.2, 0)], "there is a single group"),
        ([("g", 0.1, 1), ("h", 0.2, 1)], "both kinds are needed"),
        ([("g", "x", 1), ("h", 0.2, 0)], "is no number"),
        ([], "there is no row in it"),
    ],
)
def test_what_cannot_be_calibrated_on_says_why_and_what_to_do(
    open_calibrate: Open, tmp_path: Path, texts: Texts, rows: list[Any], says: str
) -> None:
    app = open_calibrate(**address(write_csv(tmp_path / "x.csv", "group score relevant", rows)))
    assert "This cannot be calibrated on." in first_line(app)
    assert says in texts(app)
    assert wording.BAD_SOURCE in texts(app)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"source": "/nowhere/at.all"}, "is no file or folder"),
        ({"source": "/dev/null"}, "none recognises it"),
        ({"kind": "dreams"}, wording.BAD_KIND),
        ({"objective": "beauty"}, "there is no objective 'beauty'"),
        ({"language": "tlh"}, "there is no pair in language 'tlh'"),
    ],
)
def test_an_address_that_names_what_is_not_there_says_so(
    open_calibrate: Open, pairs: Path, texts: Texts, more: dict[str, str], says: str
) -> None:
    assert says in texts(open_calibrate(**{**address(pairs), **more}))


@pytest.mark.parametrize(
    ("provider", "says"),
    [
        ("no-such", "no provider is named 'no-such'"),
        ("openai:m@http://127.0.0.1:9/v1", "127.0.0.1:9"),
        ("sentence-transformers:/no/such/folder", "sentence-transformers"),
    ],
)
def test_a_provider_that_gives_nothing_says_what_to_do(
    open_calibrate: Open, pairs: Path, texts: Texts, provider: str, says: str
) -> None:
    app = open_calibrate(**address(pairs, provider=provider))
    app.button(key="calibrate_start").click().run()
    settled(app)
    assert "The provider did not give vectors." in first_line(app)
    assert wording.BAD_PROVIDER in texts(app)
    assert says in texts(app)
    assert "calibrate_start" in keys(app)


def test_a_stopped_scoring_can_be_gone_on_with(open_calibrate: Open, pairs: Path) -> None:
    found = load_source(pairs)
    assert isinstance(found, Material)
    job = CalibrationJob(found, "tfidf")
    job.stop()
    job.start().wait(60)
    calibrate_jobs._slot().job = job
    app = open_calibrate(**address(pairs))
    assert first_line(app) == f"### {wording.STOPPED_LINE}"
    app.button(key="calibrate_start").click().run()
    assert "keeps 100%" in first_line(settled(app))


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 9, "cutoffs": []}'])
def test_a_broken_file_of_cutoffs_is_said_and_not_overwritten(
    open_calibrate: Open, pairs: Path, tmp_path: Path, texts: Texts, content: str
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "cutoffs.json").write_text(content)
    app = open_calibrate(folder, **address(pairs))
    assert wording.SAVED_BROKEN in texts(app)
    app.button(key="calibrate_save").click().run()
    assert not app.exception
    assert wording.SAVE_FAILED in texts(app)
    assert (folder / "cutoffs.json").read_text() == content


def test_scores_that_have_moved_since_the_saved_cutoff_are_flagged(
    open_calibrate: Open, pairs: Path, empty_runs: Path, texts: Texts
) -> None:
    open_calibrate(**address(pairs)).button(key="calibrate_save").click().run()
    path = empty_runs / "cutoffs.json"
    kept = json.loads(path.read_text())
    for name in ("relevant", "irrelevant"):
        kept["cutoffs"][0][name] = [one / 2 for one in kept["cutoffs"][0][name]]
    path.write_text(json.dumps(kept))
    app = open_calibrate(**address(pairs))
    assert any("have moved since the cutoff" in one.value for one in app.warning)


# ---- a turn of a run


@pytest.fixture(scope="module")
def meant_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hybrid run of tfidf, and one by words alone."""
    folder = tmp_path_factory.mktemp("meant")
    replay(dataset(), folder, name="words")
    changes = {"search_mode": "hybrid", "provider": "tfidf"}
    replay(dataset(), folder, name="meant", changes=changes)
    return folder


def test_without_a_run_by_meaning_it_says_how_to_make_one(
    open_calibrate: Open, texts: Texts, normal_runs: Path, pairs: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("pages.shared.calibrate_turn.LEARNS", ())
    app = open_calibrate(normal_runs, **address(pairs))
    assert "No run here has searched by meaning yet" in texts(app)


def test_tfidf_has_no_cutoff_that_carries_over(
    open_calibrate: Open, texts: Texts, meant_runs: Path, pairs: Path
) -> None:
    assert wording.TURN_LEARNS in texts(open_calibrate(meant_runs, **address(pairs)))


def test_a_run_of_another_provider_is_refused(
    open_calibrate: Open, texts: Texts, meant_runs: Path, pairs: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("pages.shared.calibrate_turn.LEARNS", ())
    monkeypatch.setattr("pages.shared.calibrate_turn.made_by", lambda *_: False)
    app = open_calibrate(meant_runs, **address(pairs))
    assert "scores of different providers never mix" in texts(app)


@pytest.mark.parametrize("kind", ["message", "note"])
def test_a_turn_is_composed_with_the_cutoff_and_without(
    open_calibrate: Open, texts: Texts, meant_runs: Path, pairs: Path, monkeypatch: Any, kind: str
) -> None:
    """tfidf stands for a provider that does not learn."""
    from eval import cutoff_turn

    monkeypatch.setattr("pages.shared.calibrate_turn.LEARNS", ())
    real = cutoff_turn.tried

    def of_the_memory(view: Any, at: Any, identity: Any, kind: Any, cutoff: float) -> Any:
        own = at.compose({"cutoffs": ()})[0].account.vectors.identity
        return real(view, at, own, kind, cutoff)

    monkeypatch.setattr("pages.shared.calibrate_turn.tried", of_the_memory)
    app = open_calibrate(
        meant_runs, **address(pairs, kind=kind, cutoff="0.6", run="meant", question="nina/23")
    )
    said = texts(app)
    assert "of this turn score below" in said
    (link,) = [one for one in app.page_link if one.proto.label == wording.TURN_OPEN]
    assert link.proto.query_string == "run=meant&conversation=nina&turn=23"


def test_old_and_broken_runs_do_not_stop_the_page(
    open_calibrate: Open, odd_runs: Path, pairs: Path
) -> None:
    assert "keeps 100%" in first_line(open_calibrate(odd_runs, **address(pairs)))
