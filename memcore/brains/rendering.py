"""A composition in the form that each kind of provider takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memcore.types import Turn


def openai_messages(system: str, turns: Sequence[Turn]) -> list[dict[str, str]]:
    """The `messages` of an OpenAI-compatible chat request: the system text is the first."""
    head = [{"role": "system", "content": system}] if system else []
    return head + [{"role": turn.role, "content": turn.content} for turn in turns]


def anthropic_request(system: str, turns: Sequence[Turn]) -> dict[str, Any]:
    """The `system` and `messages` of an Anthropic request: the system text stands apart."""
    return {
        "system": system,
        "messages": [{"role": turn.role, "content": turn.content} for turn in turns],
    }
