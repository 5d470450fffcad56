"""The rules of both APIs, checked before anything is sent. An error names place and rule."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from memcore.errors import InvalidRequest

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


def valid_id(id: object) -> bool:
    """Whether both APIs take this as the id of a call."""
    return isinstance(id, str) and _ID.fullmatch(id) is not None


def validate_openai(messages: Sequence[Mapping[str, Any]]) -> None:
    """Raises `InvalidRequest` unless these may be the `messages` of a chat request.

    A system message stands first or nowhere; then user and assistant alternate, user first. Calls
    of an assistant are followed by one tool message for each, and these by an assistant. The last
    is of the user or a tool.
    """
    before, due, seen = "", set[str](), set[str]()
    for place, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        calls = message.get("tool_calls")
        if role not in ("system", "user", "assistant", "tool"):
            _refuse(place, role, "the role is one of system, user, assistant, tool")
        if role == "system" and place:
            _refuse(place, role, "system text stands first and only there")
        if role == "tool":
            id = message.get("tool_call_id")
            if id not in due:
                _refuse(place, role, f"it answers {id!r}, which no call before it has or which is "
                        "answered already")  # fmt: skip
            due.discard(id)
        elif due:
            _refuse(place, role, f"no tool message answers the calls {', '.join(sorted(due))}")
        _openai_order(place, role, before)
        if not (role == "assistant" and calls and content is None):
            _text(place, role, content, empty=role == "tool" or bool(calls))
        if calls is not None:
            if role != "assistant" or not calls:
                _refuse(place, role, "tool_calls are those of an assistant, and at least one")
            for call in calls:
                due.add(_openai_call(place, role, call, seen))
        before = str(role)
    if due:
        raise InvalidRequest(f"the calls {', '.join(sorted(due))} have no results at the end")
    if before not in ("user", "tool"):
        raise InvalidRequest(
            "the last message is of the user or a tool: there is nothing to answer otherwise"
        )


def _openai_order(place: int, role: Any, before: str) -> None:
    if role == "user" and before not in ("", "system", "assistant"):
        _refuse(place, role, f"it follows a message of role {before}: roles alternate")
    if role == "assistant" and before not in ("user", "tool"):
        _refuse(place, role, "it follows no message of user or tool: the user speaks first and "
                "roles alternate")  # fmt: skip


def _openai_call(place: int, role: Any, call: Any, seen: set[str]) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or call.get("type") != "function":
        _refuse(place, role, "a call has type 'function' and a function")
    try:
        arguments = json.loads(function["arguments"])
    except (KeyError, TypeError, ValueError, RecursionError):
        arguments = None
    return _call(place, role, call.get("id"), function.get("name"), arguments, seen)


def validate_anthropic(request: Mapping[str, Any]) -> None:
    """Raises `InvalidRequest` unless this may be the `system` and `messages` of a request.

    The system text stands apart. User and assistant alternate strictly, user first and last. Calls
    stand in an assistant's message; the user's after it begins with one result for each.
    """
    system, messages = request.get("system", ""), request.get("messages")
    if not isinstance(system, str):
        raise InvalidRequest("system is text")
    _encodable("system", system)
    if not isinstance(messages, Sequence) or not messages:
        raise InvalidRequest("there are no messages")
    due, seen = set[str](), set[str]()
    for place, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant"):
            _refuse(place, role, "the role is user or assistant; system text stands apart")
        if role != ("user", "assistant")[place % 2]:
            _refuse(place, role, "roles alternate, and the user speaks first")
        if isinstance(content, str):
            _text(place, role, content)
            results, calls = list[str](), set[str]()
        else:
            results, calls = _blocks(place, role, content, seen)
        if len(results) != len(set(results)) or set(results) != due:
            _refuse(place, role, "it begins with one result for each call of the message before "
                    f"it: calls {sorted(due)}, results {sorted(results)}")  # fmt: skip
        due = calls
    if messages[-1].get("role") != "user":
        raise InvalidRequest("the last message is the user's: there is nothing to answer otherwise")


def _blocks(place: int, role: Any, content: Any, seen: set[str]) -> tuple[list[str], set[str]]:
    """The ids of the results and of the calls that stand in a message."""
    if not isinstance(content, Sequence) or not content:
        _refuse(place, role, "its content is text or a list of blocks, and not empty")
    results, calls, spoke = list[str](), set[str](), False
    for block in content:
        kind = block.get("type") if isinstance(block, Mapping) else None
        if kind == "text":
            _text(place, role, block.get("text"))
        elif kind == "tool_use" and role == "assistant":
            calls.add(_call(place, role, block.get("id"), block.get("name"), block.get("input"),
                            seen))  # fmt: skip
        elif kind == "tool_result" and role == "user" and not spoke:
            _text(place, role, block.get("content"), empty=True)
            results.append(str(block.get("tool_use_id")))
        elif not (kind in ("thinking", "redacted_thinking") and role == "assistant"):
            _refuse(place, role, f"a block of type {kind!r} may not stand there")
        spoke = spoke or kind == "text"
    return results, calls


def _call(place: int, role: Any, id: Any, name: Any, arguments: Any, seen: set[str]) -> str:
    """The id of a call, which is from now on among those `seen`."""
    if not isinstance(id, str) or not valid_id(id) or id in seen:
        _refuse(place, role, f"the call id {id!r} is none, or stands twice")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        _refuse(place, role, f"{name!r} is no name of a tool")
    if not isinstance(arguments, Mapping):
        _refuse(place, role, f"the arguments of {name} are no JSON object")
    seen.add(id)
    return id


def _text(place: int, role: Any, content: Any, empty: bool = False) -> None:
    if not isinstance(content, str):
        _refuse(place, role, "its content is no text")
    if not empty and not content.strip():
        _refuse(place, role, "it has no text")
    _encodable(f"message {place + 1} ({role})", content)


def _encodable(where: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest(
            f"{where}: half a character (a lone surrogate) stands at {error.start}"
        ) from None


def _refuse(place: int, role: object, rule: str) -> NoReturn:
    raise InvalidRequest(f"message {place + 1} ({role}): {rule}")
