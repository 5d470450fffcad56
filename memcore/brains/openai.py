"""Any server with OpenAI's chat completions, through OpenAI's own client.

The key comes from `OPENAI_API_KEY` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any

from memcore.brains.rendering import openai_messages, openai_tools
from memcore.brains.replies import arguments_of, count, parsed, settled
from memcore.brains.validation import validate_openai
from memcore.dialogue import Reply, Spoken, Stop, ToolCall, ToolSpec
from memcore.errors import InvalidInput, ProviderAnswer, ProviderError, ProviderRefused
from memcore.remote import Remote, address

KEY = "OPENAI_API_KEY"

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refused",
}


class _Unwanted(ProviderRefused):
    """The server does not take the parameter `name`."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class OpenAIBrain:
    """A model at a server. A request with its retries takes at most `seconds`.

    Some models take no temperature, and some call the most output `max_completion_tokens`: where
    the server says so, it is asked without, from then on.
    """

    def __init__(
        self,
        model: str,
        url: str,
        *,
        temperature: float | None = 0.0,
        max_output: int = 2_000,
        seconds: float = 60.0,
        attempts: int = 4,
        pause: float = 0.5,
    ) -> None:
        """`url` is the base URL, such as `http://127.0.0.1:8000/v1`; `max_output` is in tokens.

        Raises `InvalidInput` for a URL that is none or holds a name, a password or a query.
        """
        parts = address(url, KEY)
        if parts.query or parts.fragment:
            raise InvalidInput("the URL of a brain's server ends with its path")
        self._model = model
        self._url = parts.geturl()
        self._options: dict[str, Any] = {"max_tokens": max_output}
        if temperature is not None:
            self._options["temperature"] = temperature
        self._lock = Lock()
        self._remote = Remote(
            self.name, "openai", KEY, partial(_client, self._url), _not_accepted,
            seconds=seconds, attempts=attempts, pause=pause,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"OpenAIBrain({self._model!r}, {self._url!r})"

    @property
    def name(self) -> str:
        return f"openai:{self._model}@{self._url}"

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
        rendered = openai_messages(system, messages)
        validate_openai(rendered)
        request: dict[str, Any] = {"model": self._model, "messages": rendered}
        if tools:
            request["tools"] = openai_tools(tools)
        return self._read(parsed(self._ask(request, seconds), self.name), messages)

    def _ask(self, request: dict[str, Any], seconds: float | None) -> bytes:
        def send(client: Any, left: float) -> AbstractContextManager[Any]:
            create = client.chat.completions.with_streaming_response.create
            opened: AbstractContextManager[Any] = create(timeout=left, **request, **options)
            return opened

        until = monotonic() + (self._remote.seconds if seconds is None else seconds)
        while True:
            options = dict(self._options)
            try:
                return self._remote.ask(send, max(until - monotonic(), 0.001))
            except _Unwanted as error:
                if error.name not in options:
                    raise
                self._without(error.name)

    def _without(self, name: str) -> None:
        with self._lock:
            options = dict(self._options)
            value = options.pop(name, None)
            if name == "max_tokens" and value is not None:
                options["max_completion_tokens"] = value
            self._options = options

    def _read(self, answer: dict[str, Any], messages: Sequence[Spoken]) -> Reply:
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content"), message.get("refusal")
            given = [(c.get("id"), c["function"]) for c in message.get("tool_calls") or ()]
            calls = [_call(id, function) for id, function in given]
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ProviderAnswer(f"{self.name} returned no reply of a model") from None
        stop = _STOPS.get(str(choice.get("finish_reason")), "other")
        if isinstance(refusal, str) and refusal:
            text, stop = text or refusal, "refused"
        elif calls and stop in ("end", "other"):  # some servers end a call with `stop`
            stop = "tools"
        usage = answer.get("usage")
        return Reply(
            text if isinstance(text, str) else "",
            settled(calls, messages, stop == "length"),
            stop,
            count(usage, "prompt_tokens"),
            count(usage, "completion_tokens"),
        )


def _call(id: Any, function: dict[str, Any]) -> ToolCall:
    arguments, broken = arguments_of(function.get("arguments"))
    return ToolCall(str(id or ""), str(function.get("name") or ""), arguments, broken)


def _client(url: str, sdk: Any, **common: Any) -> Any:
    return sdk.OpenAI(base_url=url, **common)


def _not_accepted(said: str, error: Any) -> ProviderError:
    unwanted = getattr(error, "param", None)
    if unwanted in ("temperature", "max_tokens"):
        return _Unwanted(f"{said}: it does not take {unwanted}", unwanted)
    return ProviderRefused(
        f"{said}: it does not accept the request; check the model's name, whether it can call "
        "tools, and whether the prompt fits into it"
    )
