"""A turn's prompt in the form of each API, and whether that API takes it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from eval.turns import TurnView
from memcore import (
    InvalidInput,
    anthropic_request,
    openai_messages,
    validate_anthropic,
    validate_openai,
)

Api = Literal["openai", "anthropic"]

_ORDER = "user and assistant alternate in {count} messages, the user first and last"
_NO_SYSTEM = "there is no system text"
_ALONE = "the one message is the user's"


class Rendering(NamedTuple):
    """What is sent, the rule of the API that it breaks (empty where it keeps all), and in words why
    it is taken."""

    sent: Any
    fault: str
    words: str


def rendering(view: TurnView, api: Api) -> Rendering:
    """The prompt as that API gets it, checked against its rules."""
    system, turns = view.system, view.turns
    order = _ORDER.format(count=len(turns)) if len(turns) > 1 else _ALONE
    try:
        if api == "openai":
            sent: Any = openai_messages(system, turns)
            where = "the system text is the first message" if system else _NO_SYSTEM
            validate_openai(sent)
        else:
            sent = anthropic_request(system, turns)
            where = "the system text stands apart from the messages" if system else _NO_SYSTEM
            validate_anthropic(sent)
    except InvalidInput as error:
        return Rendering(sent, str(error), "")
    return Rendering(sent, "", f"{where}; {order}")
