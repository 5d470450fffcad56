"""Asking a server through its maker's client: how long, how often, and what its errors mean.

Nothing that a server says is in an error, since it may repeat the key; nor is the client's own
error, which has the request in it.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import SplitResult, urlsplit

from memcore.errors import (
    InvalidInput,
    MissingPackage,
    ProviderAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from memcore.settings import api_key

LARGEST_ANSWER = 256 << 20
"""Bytes of one answer."""

PLACEHOLDER = "none"
"""What stands for a key where there is none: clients insist on one, a local server does not."""

_HIDDEN = b"[key]"
_TELLING = 7
"""Characters of a key from which its text in an answer is taken for it: a shorter one, such as
`none`, is no secret."""

_CODE = re.compile(r"[a-z][a-z_]{2,39}")

Refusal = Callable[[str, Any], ProviderError]
"""What it means that a server does not accept a request (400, 413, 422): given the beginning of
what to say, and the client's error."""


class _TooLarge(Exception):
    """An answer that nobody wants to hold."""


class Remote:
    """A server that is asked through the client of the package `package`.

    `name` is what errors call it, `key` the environment variable of its key. All tries of one
    request take at most `seconds`. It is tried again when the server is busy (429), fails (5xx) or
    does not answer, after what it asks to wait, or `pause` seconds, doubling.
    """

    def __init__(
        self,
        name: str,
        package: str,
        key: str,
        open_client: Callable[..., Any],
        refusal: Refusal,
        *,
        seconds: float,
        attempts: int,
        pause: float,
    ) -> None:
        """`open_client` makes the client: it is given its package as imported, and by name what
        every client takes (`api_key`, `max_retries`, `http_client`)."""
        self.name = name
        self.seconds = seconds
        self._package = package
        self._key = key
        self._open_client = open_client
        self._refusal = refusal
        self._attempts = attempts
        self._pause = pause
        self._lock = Lock()
        self._client: Any = None

    def ask(
        self,
        send: Callable[[Any, float], AbstractContextManager[Any]],
        seconds: float | None = None,
    ) -> bytes:
        """The body of the server's answer, tried again as long as there is time.

        Where it repeats the key, that is left out: answers are kept and shown. `send` is given the
        client and the seconds left, and returns its streamed answer. Raises `ProviderError`.
        """
        from tenacity import RetryCallState, Retrying, retry_if_exception_type
        from tenacity.stop import stop_after_attempt, stop_before_delay

        limit = self.seconds if seconds is None else min(seconds, self.seconds)
        until = monotonic() + limit

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.after if isinstance(error, ProviderUnavailable) else None
            return self._pause * 2 ** (state.attempt_number - 1) if asked is None else asked

        tries = Retrying(
            retry=retry_if_exception_type(ProviderUnavailable),
            wait=wait,
            stop=stop_after_attempt(self._attempts) | stop_before_delay(limit),
            reraise=True,
        )
        body = tries(self._answer, send, until, limit)
        key = api_key(self._key) or ""
        return body.replace(key.encode(), _HIDDEN) if len(key) >= _TELLING else body

    def _answer(
        self,
        send: Callable[[Any, float], AbstractContextManager[Any]],
        until: float,
        limit: float,
    ) -> bytes:
        client = self._opened()
        sdk = import_module(self._package)
        failed: ProviderError
        try:
            return _read(send, client, until)
        except sdk.APIStatusError as error:
            failed = self._told(error)
        except _TooLarge:
            failed = ProviderAnswer(f"{self.name} answered with over {LARGEST_ANSWER >> 20} MiB")
        except (sdk.APITimeoutError, TimeoutError):
            failed = ProviderUnavailable(
                f"{self.name} did not answer within {round(limit, 2):g} seconds"
            )
        except sdk.APIConnectionError as error:
            cause = type(error.__cause__).__name__
            failed = ProviderUnavailable(f"{self.name} cannot be reached ({cause})")
        except Exception as error:
            whose = type(error).__module__.partition(".")[0]
            # Once the answer has begun, errors of the transport come as they are, and the package
            # that does the transport differs between versions of the client.
            if whose != self._package and not whose.startswith("http"):
                raise
            said = "was not understood" if whose == self._package else "broke off its answer"
            kind = ProviderAnswer if whose == self._package else ProviderUnavailable
            failed = kind(f"{self.name} {said} ({type(error).__name__})")
        raise failed

    def _told(self, error: Any) -> ProviderError:
        """What a status means to whoever asked."""
        status: int = error.status_code
        code = _code(error, api_key(self._key))
        said = f"{self.name} answered {status}{code and f' ({code})'}"
        if status in (408, 409, 425, 429) or status >= 500:
            if code == "insufficient_quota":
                return ProviderRefused(f"{said}: the account has nothing left to pay with")
            return ProviderUnavailable(said, _seconds_to_wait(error.response.headers))
        if status in (401, 403):
            return ProviderRefused(f"{said}: set {self._key} to a key that it accepts")
        if status == 402:
            return ProviderRefused(f"{said}: the account has nothing left to pay with")
        if status == 404:
            return ProviderRefused(f"{said}: check the model's name and the URL")
        if status in (400, 413, 422):
            return self._refusal(said, error)
        return ProviderRefused(f"{said}: check the URL")

    def _opened(self) -> Any:
        with self._lock:
            if self._client is None:
                if find_spec(self._package) is None:
                    raise MissingPackage(self._package, self.name)
                sdk = import_module(self._package)
                # Not followed elsewhere: a redirection would take texts and key with it.
                http = sdk.DefaultHttpxClient(follow_redirects=False)
                weakref.finalize(self, http.close)
                key = api_key(self._key) or PLACEHOLDER
                if not (key.isascii() and key.isprintable() and " " not in key):
                    raise ProviderRefused(
                        f"{self.name} was not asked: {self._key} is no key, it holds a space, a "
                        "line break or a letter that no header takes; copy it again"
                    )
                self._client = self._open_client(sdk, api_key=key, max_retries=0, http_client=http)
            return self._client


def address(url: str, key: str) -> SplitResult:
    """A server's base URL in parts, without a slash at its end; `key` is where its key belongs.

    Raises `InvalidInput` for a URL that is none or holds a name or a password. No message repeats
    the URL.
    """
    try:
        parts = urlsplit(url.strip())
        named = parts.hostname is not None and (parts.port is None or parts.port > 0)
    except ValueError:
        raise InvalidInput("this is no URL that a server could have") from None
    if parts.scheme not in ("http", "https") or not named:
        raise InvalidInput("the URL of a server begins with http:// or https:// and its name")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(f"the URL of a server holds a name or password: give the key in {key}")
    return parts._replace(path=parts.path.rstrip("/"), netloc=parts.netloc.lower())


def _read(
    send: Callable[[Any, float], AbstractContextManager[Any]], client: Any, until: float
) -> bytes:
    body = bytearray()
    with send(client, max(until - monotonic(), 0.001)) as response:
        for piece in response.iter_bytes():
            body += piece
            if len(body) > LARGEST_ANSWER:
                raise _TooLarge
            if monotonic() > until:
                # The client's own limit is on each piece, and not on the whole.
                raise TimeoutError
    return bytes(body)


def _code(error: Any, key: str | None) -> str:
    """The server's short word for what is wrong, such as `model_not_found`; empty without one."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")  # one client hands on the whole body, the other what is in it
    body = inner if isinstance(inner, dict) else body
    word = body.get("code") or body.get("type")
    if not isinstance(word, str) or not _CODE.fullmatch(word):
        return ""
    return "" if key and (word in key or key in word) else word


def _seconds_to_wait(headers: Any) -> float | None:
    """What `Retry-After` says, as a number of seconds; a date is left to the caller's own pause."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
