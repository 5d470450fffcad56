"""Any server with OpenAI's embeddings endpoint, through OpenAI's own client.

The key comes from `OPENAI_API_KEY` alone. It is in no error, no name and no cache; nor is anything
that a server says, since it may repeat the key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray

from memcore.embedders.checked import checked, prepared
from memcore.errors import (
    InvalidInput,
    MissingPackage,
    ProviderAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from memcore.settings import api_key
from memcore.types import EmbedRole, Matrix, ProviderIdentity

LARGEST_ANSWER = 256 << 20
"""Bytes of one answer."""

_PLACEHOLDER = "none"  # the client insists on a key, a local server does not
_PROBE = "probe"
_CODE = re.compile(r"[a-z][a-z_]{2,39}")


class _TextRefused(ProviderRefused):
    """The server accepts the request but not what is in it."""


class OpenAIEmbedder:
    """A model at a server. The protocol has no roles: query and passage are embedded alike.

    Texts go in batches; each batch with its retries takes at most `seconds`. It is tried again when
    the server is busy (429), fails (5xx) or does not answer, after what it asks to wait, or `pause`
    seconds, doubling.
    """

    def __init__(
        self,
        model: str,
        url: str,
        *,
        dimensions: int | None = None,
        seconds: float = 30.0,
        attempts: int = 4,
        pause: float = 0.5,
        batch: int = 64,
        batch_characters: int = 100_000,
    ) -> None:
        """`url` is the base URL, such as `http://127.0.0.1:8000/v1`; it may end with
        `?dimensions=256`, which a server that can shorten its vectors is asked for.

        Raises `InvalidInput` for a URL that is none or holds a name, a password or anything else.
        """
        address, asked = _address(url)
        self._model = model
        self._url = f"{address.scheme}://{address.netloc}{address.path}"
        self._place = f"{address.netloc}{address.path}"
        self._provider = f"openai:{model}@{self._url}"
        self._dimensions = dimensions or asked
        self._width = self._dimensions or 0
        self._seconds = seconds
        self._attempts = attempts
        self._pause = pause
        self._batch = batch
        self._batch_characters = batch_characters
        self._lock = Lock()
        self._client: Any = None

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._model!r}, {self._url!r})"

    @property
    def known_as(self) -> tuple[str, str, str]:
        """Provider, model with the server's host and path, and no revision: a server tells none."""
        return ("openai", f"{self._model}@{self._place}", "")

    @property
    def identity(self) -> ProviderIdentity:
        """Asks the server once, where its vectors' width is not known. Raises `ProviderError`."""
        if not self._width:
            self._width = self._request([_PROBE]).shape[1]
        return ProviderIdentity(*self.known_as, self._width)

    def expect(self, width: int) -> None:
        """Takes a width for the model's, so that `identity` needs not ask."""
        self._width = width

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:  # noqa: ARG002 (no roles)
        """The vectors of the texts, `[n, width]`.

        Raises `InvalidInput` for a blank text, `MissingPackage`, `ProviderUnavailable`,
        `ProviderRefused`, and `ProviderAnswer`; where it is about some of the texts, as one that is
        too long for the model, their positions are in `refused`.
        """
        ready = prepared(texts)
        if not ready:
            return np.empty((0, self.identity.width), np.float32)
        return self._gathered(_batches(ready, self._batch, self._batch_characters))

    def _gathered(self, runs: Iterable[tuple[int, list[str]]]) -> Matrix:
        """The vectors of all runs, each given with where it starts. Raises `ProviderAnswer` with
        the positions of all texts that were refused."""
        rows: list[Matrix] = []
        refused: list[int] = []
        why = ""
        for start, texts in runs:
            try:
                rows.append(self._embedded(texts))
            except ProviderAnswer as error:
                if not error.refused:
                    raise
                why = why or str(error)
                refused += [start + position for position in error.refused]
        if refused:
            raise ProviderAnswer(why, refused)
        return np.concatenate(rows)

    def _embedded(self, texts: list[str]) -> Matrix:
        """The vectors of one run. Where the server refuses it for a text in it, that text is
        looked for by halves. Raises `ProviderAnswer` with the positions in this run."""
        try:
            vectors = self._request(texts)
        except _TextRefused as error:
            if len(texts) == 1:
                if texts != [_PROBE]:
                    self._request([_PROBE])  # raises where the server refuses whatever it gets
                raise ProviderAnswer(str(error), [0]) from None
            middle = len(texts) // 2
            return self._gathered([(0, texts[:middle]), (middle, texts[middle:])])
        if not self._width:
            self._width = vectors.shape[1]
        return checked(vectors, len(texts), self._width, self._provider)

    def _request(self, texts: list[str]) -> NDArray[np.float64]:
        """One batch, tried again as long as there is time. Raises `ProviderError`."""
        from tenacity import RetryCallState, Retrying, retry_if_exception_type
        from tenacity.stop import stop_after_attempt, stop_before_delay

        until = monotonic() + self._seconds

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.after if isinstance(error, ProviderUnavailable) else None
            return self._pause * 2 ** (state.attempt_number - 1) if asked is None else asked

        tries = Retrying(
            retry=retry_if_exception_type(ProviderUnavailable),
            wait=wait,
            stop=stop_after_attempt(self._attempts) | stop_before_delay(self._seconds),
            reraise=True,
        )
        return _rows(tries(self._answer, texts, until), len(texts), self._provider)

    def _answer(self, texts: list[str], until: float) -> bytes:
        """The body of the server's answer. Raises `ProviderError`, holding nothing of the client's
        own error: that one has the request, the key and what the server said in it."""
        client = self._opened()
        import openai

        failed: ProviderError
        try:
            return self._read(client, texts, until)
        except openai.APIStatusError as error:
            failed = self._told(error)
        except (openai.APITimeoutError, TimeoutError):
            failed = ProviderUnavailable(
                f"{self._provider} did not answer within {self._seconds:g} seconds"
            )
        except openai.APIConnectionError as error:
            cause = type(error.__cause__).__name__
            failed = ProviderUnavailable(f"{self._provider} cannot be reached ({cause})")
        except openai.OpenAIError as error:
            failed = ProviderAnswer(f"{self._provider} was not understood ({type(error).__name__})")
        except Exception as error:
            # Once the answer has begun, errors of the transport come as they are, and the package
            # that does the transport differs between versions of the client.
            if not type(error).__module__.startswith("http"):
                raise
            failed = ProviderUnavailable(
                f"{self._provider} broke off its answer ({type(error).__name__})"
            )
        raise failed

    def _read(self, client: Any, texts: list[str], until: float) -> bytes:
        left = max(until - monotonic(), 0.001)
        asked: dict[str, Any] = {"dimensions": self._dimensions} if self._dimensions else {}
        body = bytearray()
        with client.embeddings.with_streaming_response.create(
            model=self._model, input=texts, encoding_format="float", timeout=left, **asked
        ) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > LARGEST_ANSWER:
                    raise ProviderAnswer(
                        f"{self._provider} answered with over {LARGEST_ANSWER >> 20} MiB"
                    )
                if monotonic() > until:
                    # The client's own limit is on each piece, and not on the whole.
                    raise TimeoutError
        return bytes(body)

    def _told(self, error: Any) -> ProviderError:
        """What a status means to whoever asked."""
        status: int = error.status_code
        said = f"{self._provider} answered {status}{_code(error)}"
        if status in (408, 409, 425, 429) or status >= 500:
            if _code(error).strip(" ()") == "insufficient_quota":
                return ProviderRefused(f"{said}: the account has nothing left to pay with")
            return ProviderUnavailable(said, _seconds_to_wait(error.response.headers))
        if status in (401, 403):
            return ProviderRefused(f"{said}: set OPENAI_API_KEY to a key that it accepts")
        if status == 404:
            return ProviderRefused(f"{said}: check the model's name and the URL")
        if status in (400, 413, 422):
            return _TextRefused(f"{said}: it does not accept the text, the model or the dimensions")
        return ProviderRefused(f"{said}: check the URL")

    def _opened(self) -> Any:
        with self._lock:
            if self._client is None:
                if find_spec("openai") is None:
                    raise MissingPackage("openai", self._provider)
                from openai import OpenAI

                self._client = OpenAI(
                    api_key=api_key() or _PLACEHOLDER, base_url=self._url, max_retries=0
                )
            return self._client


def _address(url: str) -> tuple[SplitResult, int | None]:
    """A base URL and the dimensions asked for in it. No message repeats the URL, which may hold a
    password."""
    try:
        parts = urlsplit(url.strip())
        named = parts.hostname is not None and (parts.port is None or parts.port > 0)
    except ValueError:
        raise InvalidInput("this is no URL that a server could have") from None
    if parts.scheme not in ("http", "https") or not named:
        raise InvalidInput("the URL of a server begins with http:// or https:// and its name")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "the URL of a server holds a name or password: give the key in OPENAI_API_KEY"
        )
    dimensions: int | None = None
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name != "dimensions" or not value.isdecimal() or not 0 < int(value[:9]) <= 65_536:
            raise InvalidInput("behind the ? of a server's URL only dimensions=NUMBER may stand")
        dimensions = int(value)
    clean = parts._replace(path=parts.path.rstrip("/"), netloc=parts.netloc.lower())
    return clean, dimensions


def _batches(texts: list[str], most: int, characters: int) -> Iterator[tuple[int, list[str]]]:
    """Runs of at most so many texts and characters, each with where it starts."""
    start = size = 0
    for position, text in enumerate(texts):
        if position > start and (position - start == most or size + len(text) > characters):
            yield start, texts[start:position]
            start, size = position, 0
        size += len(text)
    if texts:
        yield start, texts[start:]


def _rows(body: bytes, count: int, provider: str) -> NDArray[np.float64]:
    """The vectors of an answer in the order of the texts, `[count, width]`, values as they came.

    Raises `ProviderAnswer`.
    """
    try:
        entries = json.loads(body)["data"]
        placed = {}
        for place, entry in enumerate(entries):
            index = entry.get("index")
            placed[place if index is None else index] = entry["embedding"]
        if set(placed) != set(range(count)) or len(entries) != count:
            raise ProviderAnswer(f"{provider} returned {len(placed)} vectors for {count} texts")
        rows = np.array([placed[place] for place in range(count)], np.float64)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ProviderAnswer(f"{provider} returned no list of vectors") from None
    if rows.ndim != 2 or not rows.shape[1]:
        raise ProviderAnswer(f"{provider} returned no list of vectors")
    return rows


def _code(error: Any) -> str:
    """The server's short word for what is wrong, such as `model_not_found`, in brackets."""
    body = error.body if isinstance(error.body, dict) else {}
    word = body.get("code") or body.get("type")
    key = api_key()
    if not isinstance(word, str) or not _CODE.fullmatch(word):
        return ""
    return "" if key and (word in key or key in word) else f" ({word})"


def _seconds_to_wait(headers: Any) -> float | None:
    """What `Retry-After` says, as a number of seconds; a date is left to the caller's own pause."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
