"""The Turn page, driven without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from memcore import ProviderError
from pages.shared import wording_turn as wording
from tests.small_run import HOSTILE, make_run

Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def small_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder)
    return folder


@pytest.fixture
def open_turn(small_runs: Path, open_page: Open) -> Open:
    """Opens the page at an address, over the small run or another folder."""

    def opened(folder: Path = small_runs, **address: str) -> AppTest:
        return open_page("turn", folder, **address)

    return opened


def text(page: AppTest) -> str:
    """All markup of the page's own."""
    return "\n".join(str(one.proto.body) for one in page.get("html"))


def at_question(open_turn: Open, question: int, **address: str) -> AppTest:
    return open_turn(run="small", conversation="nina", turn=str(question), **address)


def named(page: AppTest, name: str) -> str:
    """What a parameter of the address says."""
    value = page.query_params[name]
    return value[0] if isinstance(value, list) else str(value)


def turn_of(page: AppTest) -> str:
    return named(page, "turn")


LOW, UNFOUND, QUOTED, NOTE, WINDOW, PART, SHORT, NONE = range(20, 28)


def test_an_empty_folder_says_what_to_do(open_turn: Open, tmp_path: Path) -> None:
    page = open_turn(tmp_path)
    assert not page.exception
    assert "replay" in page.info[0].value


def test_a_broken_run_is_named_and_no_other_takes_its_place_unasked(
    open_turn: Open, tmp_path: Path
) -> None:
    make_run(tmp_path)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text("{")
    page = open_turn(tmp_path, run="broken")
    assert not page.exception
    assert page.warning
    assert any("broken" in code.value for code in page.code)
    assert named(page, "run") == "broken"
    assert page.selectbox[0].value is None
    page.selectbox[0].set_value("small").run()
    assert not page.exception
    assert named(page, "run") == "small"


def test_a_table_that_cannot_be_read_says_what_to_do(open_turn: Open, tmp_path: Path) -> None:
    make_run(tmp_path)
    (tmp_path / "small" / "items.parquet").write_bytes(b"nothing of the kind")
    page = open_turn(tmp_path)
    assert not page.exception
    assert page.error[0].value == wording.DAMAGED
    assert wording.REPLAY_AGAIN in [one.value for one in page.info]


def test_a_run_of_an_older_format_says_so(open_turn: Open, tmp_path: Path) -> None:
    run = make_run(tmp_path)
    manifest = json.loads((run.folder / "manifest.json").read_text())
    (run.folder / "manifest.json").write_text(json.dumps({**manifest, "format": 0}))
    page = open_turn(tmp_path)
    assert not page.exception
    assert any("older" in code.value for code in page.code)


def test_without_an_address_the_first_lost_answer_is_shown(open_turn: Open) -> None:
    page = open_turn()
    assert not page.exception
    assert turn_of(page) == str(LOW)
    assert named(page, "conversation") == "nina"
    shown = text(page)
    assert "It is NOT in this prompt" in shown
    assert "ranked 17th, 2 are allowed" in shown
    assert "Asked 10 Apr 2026, 12:00 (Europe/Moscow) by Нина" in shown


def test_an_address_opens_its_turn(open_turn: Open) -> None:
    page = at_question(open_turn, QUOTED)
    assert not page.exception
    assert "It IS in this prompt" in text(page)
    assert "Что натворила кошка Муська?" in text(page)


@pytest.mark.parametrize("wanted", ["no such", "**bold**", ""])
def test_an_unknown_conversation_gives_another_and_says_so(open_turn: Open, wanted: str) -> None:
    page = open_turn(run="small", conversation=wanted, turn="3")
    assert not page.exception
    assert named(page, "conversation") == "nina"
    assert turn_of(page) == str(LOW)
    assert [one.value for one in page.warning] == ([wording.UNKNOWN_CONVERSATION] if wanted else [])
    assert all(wanted not in one.value for one in page.warning if wanted)


@pytest.mark.parametrize("wanted", ["999", "-1", "two", "²"])
def test_an_unknown_turn_gives_another_and_says_so(open_turn: Open, wanted: str) -> None:
    page = open_turn(run="small", conversation="nina", turn=wanted)
    assert not page.exception
    assert turn_of(page) == str(LOW)
    assert page.warning[0].value == wording.UNKNOWN_TURN.format(last=NONE)


def test_next_and_previous_step_through_all_turns(open_turn: Open) -> None:
    page = at_question(open_turn, LOW)
    page.button(key="turn_next").click().run()
    assert turn_of(page) == str(UNFOUND)
    page.button(key="turn_previous").click().run()
    page.button(key="turn_previous").click().run()
    assert turn_of(page) == str(LOW - 1)


def test_next_steps_over_what_is_not_shown(open_turn: Open) -> None:
    page = at_question(open_turn, UNFOUND, show="lost")
    page.button(key="turn_next").click().run()
    assert turn_of(page) == str(PART)
    page = at_question(open_turn, 3, show="questions")
    page.button(key="turn_next").click().run()
    assert turn_of(page) == str(LOW)


def test_the_ends_cannot_be_stepped_over(open_turn: Open) -> None:
    assert at_question(open_turn, 0).button(key="turn_previous").disabled
    assert at_question(open_turn, NONE).button(key="turn_next").disabled


def test_the_list_jumps_to_a_turn(open_turn: Open) -> None:
    page = at_question(open_turn, LOW)
    page.selectbox(key="turn_jump_small_nina").select(NOTE).run()
    assert turn_of(page) == str(NOTE)
    assert "note 2026-03-05 cites it" in text(page)


def test_the_list_says_how_each_turn_fared(open_turn: Open) -> None:
    options = at_question(open_turn, LOW).selectbox(key="turn_jump_small_nina").options
    marks = {option.split(" · ")[2][0] for option in options}
    assert {"✓", "✗", "◐", "?"} <= marks


def test_the_way_of_a_missing_answer_ends_where_it_was_lost(open_turn: Open) -> None:
    shown = text(at_question(open_turn, LOW))
    assert "m-step m-lost-here m-lost" in shown
    assert "✗ within the number allowed" in shown
    assert "none of the 2 notes in the prompt cites it" in shown


def test_show_it_opens_the_conversation_there(open_turn: Open) -> None:
    page = at_question(open_turn, LOW)
    page.button(key="turn_show_jacket").click().run()
    assert named(page, "message") == "jacket"
    assert named(page, "timeline") == "all"
    assert "m-marked" in text(page)
    assert "Sun 1 Mar 2026" in text(page)


def test_nothing_later_than_the_turn_is_shown(open_turn: Open) -> None:
    page = at_question(open_turn, 3, timeline="all")
    assert "Муська" in text(page)
    assert "Which jacket size did" not in text(page)
    assert any("not yet said" in one.value for one in page.caption)


def test_a_page_of_the_timeline_can_be_turned(open_turn: Open) -> None:
    page = at_question(open_turn, LOW, timeline="all", message="jacket")
    assert page.button(key="turn_earlier").disabled
    page.button(key="turn_now").click().run()
    assert "message" not in page.query_params
    assert "Which jacket size for the boy?" in text(page)


def test_an_ordinary_turn_says_what_its_search_brought(open_turn: Open) -> None:
    shown = text(at_question(open_turn, 6))
    assert "The search found" in shown
    assert "Said 8 Mar 2026" in shown


def test_a_question_without_answer_says_that_nothing_could_be_lost(open_turn: Open) -> None:
    assert "nothing could be lost" in text(at_question(open_turn, NONE))


def test_a_question_too_short_says_why_nothing_was_searched(open_turn: Open) -> None:
    assert "1 real word, 2 are needed" in text(at_question(open_turn, SHORT))


@pytest.mark.parametrize("panel", ["layers", "prompt", "changes", "whatif", "ask"])
@pytest.mark.parametrize("turn", [0, 1, 4, LOW, PART, NONE])
def test_every_panel_opens_at_every_kind_of_turn(open_turn: Open, panel: str, turn: int) -> None:
    page = at_question(open_turn, turn, panel=panel)
    assert not page.exception
    assert not page.error


def test_what_people_wrote_is_shown_as_it_is(open_turn: Open) -> None:
    for panel in ("layers", "prompt", "changes"):
        page = at_question(open_turn, 1, panel=panel)
        shown = text(page)
        assert escape(HOSTILE) in shown
        assert "<script>alert" not in shown
        assert "<b>tag</b>" not in shown
        for element in (*page.markdown, *page.caption, *page.info, *page.warning):
            assert "alert(1)" not in element.value


def test_the_prompt_is_shown_as_each_provider_gets_it(open_turn: Open) -> None:
    page = at_question(open_turn, QUOTED, panel="prompt", form="openai")
    sent = json.loads(page.code[-1].value)
    assert sent[0]["role"] == "system"
    assert sent[-1] == {"role": "user", "content": "Что натворила кошка Муська?"}
    assert "Valid for OpenAI-compatible: </b>the system text is the first message" in text(page)
    page = at_question(open_turn, QUOTED, panel="prompt", form="anthropic")
    assert "Valid for Anthropic: </b>the system text stands apart" in text(page)
    assert json.loads(page.code[-1].value)["system"] == sent[0]["content"]
    page = at_question(open_turn, QUOTED, panel="prompt", form="raw")
    assert page.code[-1].value.startswith(sent[0]["content"])


def test_the_coloured_prompt_names_its_layers_and_marks_the_answer(open_turn: Open) -> None:
    shown = text(at_question(open_turn, QUOTED, panel="prompt"))
    for layer in ("persona", "notes", "excerpts", "window"):
        assert f"m-layer m-{layer}" in shown
    assert '<mark class="m-found">Кошка Муська столкнула' in shown


def test_changes_say_what_entered_and_what_a_cache_can_serve(open_turn: Open) -> None:
    page = at_question(open_turn, 6, panel="changes")
    assert any("prefix cache" in one.value for one in page.text)
    assert "+ entered" in text(page)
    page = at_question(open_turn, 0, panel="changes")
    assert wording.NO_PREVIOUS_TURN in [one.value for one in page.info]


def test_a_slider_composes_the_turn_anew(open_turn: Open) -> None:
    page = at_question(open_turn, LOW, panel="whatif")
    assert wording.SAME_NUMBERS in [one.value for one in page.info]
    page.slider(key="excerpts_limit").set_value(20).run()
    page.slider(key="excerpts_cap").set_value(8_000).run()
    assert not page.exception
    assert "Answer reached: yes, by excerpts. In the run: no." in text(page)
    assert "+ entered" in text(page)


def test_a_ceiling_of_nothing_leaves_what_cannot_be_cut(open_turn: Open) -> None:
    page = at_question(open_turn, WINDOW, panel="whatif")
    page.slider(key="ceiling").set_value(0).run()
    assert not page.exception
    assert "Answer reached: no" in text(page)


def test_back_to_the_runs_numbers(open_turn: Open) -> None:
    page = at_question(open_turn, LOW, panel="whatif")
    page.slider(key="excerpts_limit").set_value(9).run()
    page.button(key="turn_reset").click().run()
    assert page.slider(key="excerpts_limit").value == 2
    assert wording.SAME_NUMBERS in [one.value for one in page.info]


def test_the_page_returns_to_what_it_showed_last(open_turn: Open) -> None:
    page = at_question(open_turn, NOTE)
    for name in ("run", "conversation", "turn"):
        del page.query_params[name]
    page.run()
    assert turn_of(page) == str(NOTE)


# ---- meaning


@pytest.fixture(scope="module")
def meant_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small run, by words and meaning."""
    folder = tmp_path_factory.mktemp("meant")
    make_run(folder, search_mode="hybrid", provider="tfidf")
    return folder


def test_a_run_with_a_provider_says_what_meaning_could_do(
    open_turn: Open, meant_runs: Path
) -> None:
    shown = text(at_question(open_turn, LOW, folder=meant_runs))
    assert "tfidf:tfidf 1, 512 wide; cutoffs: messages not calibrated, notes" in shown
    assert "no item waiting" in shown


def test_a_run_without_a_provider_says_nothing_of_meaning(open_turn: Open) -> None:
    assert wording.MEANING not in text(at_question(open_turn, LOW))


def test_the_parts_of_a_score_stand_under_a_fitting_head(open_turn: Open, meant_runs: Path) -> None:
    page = at_question(open_turn, QUOTED, folder=meant_runs)
    items = next(one.value for one in page.dataframe if "in prompt" in one.value)
    parts = items[wording.ITEM_COLUMNS["detail"]]
    assert parts[items["in prompt"].str.contains("kept")].str.startswith("cosine ").all()


def test_what_the_provider_failed_with_is_said(open_turn: Open, tmp_path: Path) -> None:
    """A turn without vectors is composed by words, and says so in words."""
    run = make_run(tmp_path, search_mode="hybrid", provider="tfidf")
    for name, column, value, where in (
        ("turns", "provider_error", "ProviderUnavailable: <b>gone</b>", None),
        ("layers", "note", "degraded: hybrid was asked, <b>gone</b>", "excerpts"),
    ):
        path = run.folder / f"{name}.parquet"
        table = pq.read_table(path)
        values = [
            value if where in (None, layer) else old
            for old, layer in zip(
                table[column].to_pylist(),
                table["layer"].to_pylist() if where else [None] * len(table),
                strict=True,
            )
        ]
        place = table.column_names.index(column)
        table = table.set_column(place, table.schema.field(column), pa.array(values, pa.string()))
        pq.write_table(table, path)
    page = at_question(open_turn, LOW, folder=tmp_path)
    assert page.warning[0].value == wording.PROVIDER_FAILED
    assert "ProviderUnavailable: <b>gone</b>" in [one.value for one in page.code]
    path = run.folder / "turns.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("provider_error")
    empty = pa.array([""] * len(table), pa.string())
    pq.write_table(table.set_column(place, table.schema.field("provider_error"), empty), path)
    manifest = json.loads((run.folder / "manifest.json").read_text())
    (run.folder / "manifest.json").write_text(json.dumps({**manifest, "finished": "again"}))
    page = at_question(open_turn, LOW, folder=tmp_path)
    assert page.warning[0].value == wording.DEGRADED
    assert any("hybrid was asked" in one.value for one in page.code)


def test_a_turn_is_searched_by_meaning_with_a_provider_of_choice(open_turn: Open) -> None:
    page = at_question(open_turn, UNFOUND, panel="whatif")
    assert "turn_provider" not in {one.key for one in page.selectbox}
    page.segmented_control(key="mode").set_value("semantic").run()
    assert named(page, "mode") == "semantic"
    assert page.selectbox(key="turn_provider").value == "tfidf"
    assert not page.exception
    assert "What differs" in text(page)
    page.button(key="turn_reset").click().run()
    assert "mode" not in page.query_params
    assert wording.SAME_NUMBERS in [one.value for one in page.info]


def test_a_link_opens_the_other_search(open_turn: Open, meant_runs: Path) -> None:
    page = at_question(open_turn, LOW, folder=meant_runs, panel="whatif", mode="lexical")
    assert page.segmented_control(key="mode").value == "lexical"
    assert "turn_provider" not in {one.key for one in page.selectbox}
    assert "What differs" in text(page)
    page = at_question(open_turn, LOW, panel="whatif", mode="hybrid", provider="evil:x")
    assert page.selectbox(key="turn_provider").value == "tfidf"


def test_a_provider_that_is_not_there_is_said(
    open_turn: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ProviderError("the package is not installed: pip install it")

    monkeypatch.setattr("pages.shared.turn_whatif.embed_first", fails)
    page = at_question(open_turn, LOW, panel="whatif", mode="hybrid")
    assert not page.exception
    assert page.error[0].value == wording.NO_PROVIDER
    assert any("pip install" in one.value for one in page.code)


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_prompt_that_an_api_would_refuse_says_which_rule_it_breaks(
    open_turn: Open, tmp_path: Path, form: str
) -> None:
    run = make_run(tmp_path)
    path = run.folder / "turns.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("text")
    blank = pa.array([" "] * len(table), pa.string())
    pq.write_table(table.set_column(place, table.schema.field("text"), blank), path)
    page = at_question(open_turn, 0, folder=tmp_path, panel="prompt", form=form)
    assert f"✗ Not valid for {wording.FORMS[form]}" in text(page)
    assert "(user): it has no text" in text(page)
