"""Anthropic's messages, through Anthropic's own client.

The key comes from `ANTHROPIC_API_KEY` alone. There is no temperature: the API, from its version of
2026-10-21 on, refuses any.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from memcore.brains.rendering import anthropic_request, anthropic_tools, named_before
from memcore.brains.replies import arguments_of, count, parsed, settled
from memcore.brains.validation import validate_anthropic
from memcore.dialogue import Reply, Spoken, Stop, ToolCall, ToolSpec
from memcore.errors import InvalidInput, ProviderAnswer, ProviderError, ProviderRefused
from memcore.remote import Remote, address

KEY = "ANTHROPIC_API_KEY"
URL = "https://api.anthropic.com"

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


class AnthropicBrain:
    """A model of Anthropic's, or at a server that speaks as theirs do.

    A request with its retries takes at most `seconds`.
    """

    def __init__(
        self,
        model: str,
        url: str = URL,
        *,
        max_output: int = 2_000,
        seconds: float = 60.0,
        attempts: int = 4,
        pause: float = 0.5,
    ) -> None:
        """`url` is the base URL, without `/v1`; `max_output` is in tokens.

        Raises `InvalidInput` for a URL that is none or holds a name, a password or a query.
        """
        parts = address(url, KEY)
        if parts.query or parts.fragment:
            raise InvalidInput("the URL of a brain's server ends with its path")
        self._model = model
        self._url = parts.geturl().removesuffix("/v1")  # the client adds it
        self._max_output = max_output
        self._remote = Remote(
            self.name, "anthropic", KEY, partial(_client, self._url), _not_accepted,
            seconds=seconds, attempts=attempts, pause=pause,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"AnthropicBrain({self._model!r}, {self._url!r})"

    @property
    def name(self) -> str:
        return f"anthropic:{self._model}" + ("" if self._url == URL else f"@{self._url}")

    def complete(
        self,
        system: str,
        messages: Sequence[Spoken],
        tools: Sequence[ToolSpec] = (),
        *,
        seconds: float | None = None,
    ) -> Reply:
        """The model's reply. Raises `InvalidRequest`, `MissingPackage`, `ProviderUnavailable`,
        `ProviderRefused`, and `ProviderAnswer` where what came is no reply."""
        request = anthropic_request(system, messages)
        validate_anthropic(request)
        if not system:
            del request["system"]
        if tools:
            request["tools"] = anthropic_tools(tools)
        elif before := named_before(messages):
            request["tools"] = anthropic_tools(before)
            request["tool_choice"] = {"type": "none"}

        def send(client: Any, left: float) -> AbstractContextManager[Any]:
            create = client.messages.with_streaming_response.create
            opened: AbstractContextManager[Any] = create(
                model=self._model, max_tokens=self._max_output, timeout=left, **request
            )
            return opened

        return self._read(parsed(self._remote.ask(send, seconds), self.name), messages)

    def _read(self, answer: dict[str, Any], messages: Sequence[Spoken]) -> Reply:
        texts, calls, kept = list[str](), list[ToolCall](), list[dict[str, Any]]()
        try:
            for block in answer["content"]:
                if block["type"] == "text":
                    texts.append(str(block["text"]))
                elif block["type"] == "tool_use":
                    arguments, broken = arguments_of(block.get("input"))
                    calls.append(ToolCall(str(block["id"]), str(block["name"]), arguments, broken))
                elif block["type"] in ("thinking", "redacted_thinking"):
                    kept.append(block)
        except (KeyError, TypeError, AttributeError):
            raise ProviderAnswer(f"{self.name} returned no reply of a model") from None
        stop = _STOPS.get(str(answer.get("stop_reason")), "other")
        usage = answer.get("usage")
        cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
        return Reply(
            "".join(texts),
            settled(calls, messages, stop == "length"),
            stop,
            count(usage, "input_tokens", *cached),
            count(usage, "output_tokens"),
            tuple(kept),
        )


def _client(url: str, sdk: Any, **common: Any) -> Any:
    return sdk.Anthropic(base_url=url, **common)


def _not_accepted(said: str, error: Any) -> ProviderError:  # noqa: ARG001 (said is enough)
    return ProviderRefused(
        f"{said}: it does not accept the request; check the model's name, the account's balance, "
        "and whether the prompt fits into the model"
    )
