"""Reading a reply of either kind of provider. What a model wrote is checked, never trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memcore.brains.rendering import ids_in
from memcore.brains.validation import valid_id
from memcore.dialogue import Spoken, ToolCall
from memcore.errors import ProviderAnswer

CUT_OFF = "the reply was cut off at its most output, so the call is not whole: make it shorter"


def parsed(body: bytes, name: str) -> dict[str, Any]:
    """The JSON object of an answer. Raises `ProviderAnswer`."""
    try:
        answer = json.loads(whole(body.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ProviderAnswer(f"{name} returned no JSON object")
    return answer


def arguments_of(given: Any) -> tuple[dict[str, Any], str]:
    """The arguments of a call, given as a JSON text or an object, and why they cannot be used."""
    try:
        # None at all is how some servers put a call without arguments.
        found = json.loads(given or "{}") if isinstance(given, str) else given
        found = {} if found is None else found
        if isinstance(found, Mapping):
            return json.loads(whole(json.dumps(found))), ""
    except (ValueError, TypeError, RecursionError):
        return {}, "the arguments are not valid JSON: give one JSON object"
    return {}, "the arguments are not a JSON object: give one, with names and values"


def whole(json_text: str) -> str:
    """JSON without halves of characters (lone surrogates), which no provider takes back: each
    becomes U+FFFD. Raises `ValueError` where it is no JSON."""
    if "\\ud" not in json_text and "\\uD" not in json_text:
        return json_text
    text = json.dumps(json.loads(json_text), ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def settled(
    calls: Sequence[ToolCall], messages: Sequence[Spoken], cut: bool
) -> tuple[ToolCall, ...]:
    """Calls with an id that can be sent back and stands nowhere else in the conversation.

    Local servers give none, or the same in each round. Those of a reply that was `cut` off are
    broken, so that half a note is never written.
    """
    taken = ids_in(messages)
    found = []
    for place, call in enumerate(calls):
        if not valid_id(call.id) or call.id in taken:
            call = replace(call, id=f"call_{len(messages)}_{place}")
        if cut:
            call = replace(call, arguments={}, broken=CUT_OFF)
        taken.add(call.id)
        found.append(call)
    return tuple(found)


def count(usage: Any, *names: str) -> int | None:
    """The sum of these numbers of a reply's usage, None where none of them is there."""
    if not isinstance(usage, Mapping):
        return None
    found = [usage[n] for n in names if isinstance(usage.get(n), int) and usage[n] >= 0]
    return sum(found) if found else None
