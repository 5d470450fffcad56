"""A composition in the form that each kind of provider takes, with tool calls and their results."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from memcore.dialogue import CallsTurn, ResultsTurn, Spoken, ToolCall, ToolSpec
from memcore.types import Turn

_ODD = re.compile(r"[^A-Za-z0-9_-]")
LONGEST_NAME = 64
"""Characters of a tool's name that both kinds of provider take."""


def openai_messages(system: str, turns: Sequence[Spoken]) -> list[dict[str, Any]]:
    """The `messages` of an OpenAI-compatible chat request: the system text is the first."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for turn in turns:
        if isinstance(turn, Turn):
            messages.append({"role": turn.role, "content": turn.content})
        elif isinstance(turn, CallsTurn):
            calls = [_openai_call(call) for call in turn.calls]
            messages.append(
                {"role": "assistant", "content": turn.content or None, "tool_calls": calls}
            )
        else:
            messages += [
                {"role": "tool", "tool_call_id": result.id, "content": result.text}
                for result in turn.results
            ]
    return messages


def anthropic_request(system: str, turns: Sequence[Spoken]) -> dict[str, Any]:
    """The `system` and `messages` of an Anthropic request: the system text stands apart."""
    return {"system": system, "messages": [_anthropic_message(turn) for turn in turns]}


def openai_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """The `tools` of an OpenAI-compatible chat request."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ]


def anthropic_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """The `tools` of an Anthropic request."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": dict(tool.parameters),
        }
        for tool in tools
    ]


def named_before(turns: Sequence[Spoken]) -> list[ToolSpec]:
    """The tools that were called in these turns, without what they are for: an Anthropic request
    has to define the tools that its history calls, even when the model is to call none."""
    names = {_safe(call.name): None for t in turns if isinstance(t, CallsTurn) for call in t.calls}
    return [ToolSpec(name, "", {"type": "object", "properties": {}}) for name in names]


def ids_in(turns: Sequence[Spoken]) -> set[str]:
    """The ids of all calls of these turns."""
    return {call.id for turn in turns if isinstance(turn, CallsTurn) for call in turn.calls}


def _openai_call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    function = {"name": _safe(call.name), "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _anthropic_message(turn: Spoken) -> dict[str, Any]:
    if isinstance(turn, Turn):
        return {"role": turn.role, "content": turn.content}
    if isinstance(turn, ResultsTurn):
        results = [
            {
                "type": "tool_result",
                "tool_use_id": result.id,
                "content": result.text,
                "is_error": result.error,
            }
            for result in turn.results
        ]
        return {"role": "user", "content": results}
    blocks: list[dict[str, Any]] = list(turn.kept)
    if turn.content.strip():
        blocks.append({"type": "text", "text": turn.content})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": _safe(call.name), "input": call.arguments}
        for call in turn.calls
    ]
    return {"role": "assistant", "content": blocks}


def _safe(name: str) -> str:
    """A name that a model made up, such that a provider takes it back."""
    return _ODD.sub("_", name)[:LONGEST_NAME] or "unnamed"
