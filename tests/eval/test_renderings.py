"""A turn's prompt in the form of each API, and whether that API takes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from eval.renderings import Api, rendering
from eval.runs import Run
from eval.turns import load_turn
from memcore import validate_anthropic, validate_openai
from tests.small_run import make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("turn", [0, 1, 6, 20, 22, 27])
def test_every_turn_is_valid_for_both_and_says_why(run: Run, turn: int) -> None:
    view = load_turn(run, "nina", turn)
    chat, messages = rendering(view, "openai"), rendering(view, "anthropic")
    validate_openai(chat.sent)
    validate_anthropic(messages.sent)
    assert (chat.fault, messages.fault) == ("", "")
    assert chat.words.startswith("the system text is the first message; ")
    assert messages.words.startswith("the system text stands apart from the messages; ")
    many = len(view.turns)
    order = f"alternate in {many} messages" if many > 1 else "the one message is the user's"
    assert order in chat.words
    assert order in messages.words


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_what_an_api_would_refuse_is_named_with_its_place(run: Run, api: Api) -> None:
    view = load_turn(run, "nina", 0)
    made = rendering(replace(view, row={**view.row, "text": "  \n"}), api)
    assert "(user): it has no text" in made.fault
    assert made.words == ""
    assert made.sent


def test_without_a_system_text_it_says_so(tmp_path: Path) -> None:
    view = load_turn(make_run(tmp_path), "nina", 0)
    bare = replace(view, layers=view.layers.assign(text=""))
    assert rendering(bare, "openai").words.startswith("there is no system text")
    assert rendering(bare, "anthropic").words.startswith("there is no system text")
