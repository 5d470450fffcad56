"""A brain whose replies are known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memcore.brains.rendering import anthropic_request, openai_messages
from memcore.brains.validation import validate_anthropic, validate_openai
from memcore.dialogue import Reply, Spoken, ToolSpec
from memcore.errors import ProviderAnswer


@dataclass(frozen=True, slots=True)
class Asked:
    """What a brain was asked."""

    system: str
    messages: tuple[Spoken, ...]
    tools: tuple[ToolSpec, ...]
    seconds: float | None


Script = Callable[[Asked], Reply | str]


class ScriptedBrain:
    """Replies from a list, one after the other, or by a function of what it is asked.

    An exception in the list is raised. `asked` is all that it was asked. It takes what both real
    kinds would take, and refuses the rest with `InvalidRequest`.
    """

    def __init__(
        self, replies: Iterable[Reply | str | Exception] | Script, name: str = "scripted"
    ) -> None:
        self._script = replies if callable(replies) else None
        self._replies = iter(() if callable(replies) else replies)
        self._name = name
        self.asked: list[Asked] = []

    def __repr__(self) -> str:
        return f"ScriptedBrain(name={self._name!r})"

    @property
    def name(self) -> str:
        return self._name

    def complete(
        self,
        system: str,
        messages: Sequence[Spoken],
        tools: Sequence[ToolSpec] = (),
        *,
        seconds: float | None = None,
    ) -> Reply:
        """The next reply. Raises `InvalidRequest`, what stands in the list, and `ProviderAnswer`
        where the list has ended."""
        validate_openai(openai_messages(system, messages))
        validate_anthropic(anthropic_request(system, messages))
        asked = Asked(system, tuple(messages), tuple(tools), seconds)
        self.asked.append(asked)
        reply = self._script(asked) if self._script else next(self._replies, None)
        if reply is None:
            raise ProviderAnswer(f"{self._name} has no reply left")
        if isinstance(reply, Exception):
            raise reply
        return Reply(reply) if isinstance(reply, str) else reply
