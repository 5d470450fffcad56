"""Brains: models behind one small interface, each chosen by one string."""

from __future__ import annotations

import re

from memcore.brains.agent import Limits, answer
from memcore.brains.anthropic import URL, AnthropicBrain
from memcore.brains.openai import OpenAIBrain
from memcore.brains.rendering import (
    anthropic_request,
    anthropic_tools,
    openai_messages,
    openai_tools,
)
from memcore.brains.scripted import Asked, ScriptedBrain
from memcore.brains.validation import validate_anthropic, validate_openai
from memcore.errors import InvalidInput
from memcore.ports import Brain
from memcore.settings import Settings, load_settings

__all__ = [
    "FORMS",
    "AnthropicBrain",
    "Asked",
    "Limits",
    "OpenAIBrain",
    "ScriptedBrain",
    "answer",
    "anthropic_request",
    "anthropic_tools",
    "brain_named",
    "openai_messages",
    "openai_tools",
    "validate_anthropic",
    "validate_openai",
]

FORMS = ("openai:MODEL@BASE URL", "anthropic:MODEL", "anthropic:MODEL@BASE URL")

_OPENAI = re.compile(r"openai:(?P<model>.+)@(?P<url>https?://.*)", re.DOTALL)
_ANTHROPIC = re.compile(r"anthropic:(?P<model>[^@]+)(?:@(?P<url>https?://.*))?", re.DOTALL)


def brain_named(name: str, settings: Settings | None = None) -> Brain:
    """The brain of that name, with temperature, most output and time limit of the settings.

    Nothing is loaded or asked until it is first used. Raises `InvalidInput`, listing the forms, for
    another name.
    """
    settings = settings or load_settings()
    most, seconds = settings.brain_max_output, settings.brain_seconds
    if found := _OPENAI.fullmatch(name):
        return OpenAIBrain(
            found["model"],
            found["url"],
            temperature=settings.brain_temperature,
            max_output=most,
            seconds=seconds,
        )
    if found := _ANTHROPIC.fullmatch(name):
        return AnthropicBrain(
            found["model"].strip(), found["url"] or URL, max_output=most, seconds=seconds
        )
    # What stands behind the kind may be a URL with a password: it is not repeated.
    kind = name.partition(":")[0]
    if kind in ("openai", "anthropic"):
        raise InvalidInput(f"a brain of the kind {kind} is named so: {', '.join(FORMS)}")
    raise InvalidInput(f"no brain is named {kind[:40]!r} so; known: {', '.join(FORMS)}")
