"""Any server with OpenAI's embeddings endpoint, through OpenAI's own client.

The key comes from `OPENAI_API_KEY` alone. It is in no error, no name and no cache; nor is anything
that a server says, since it may repeat the key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from urllib.parse import SplitResult, parse_qsl

import numpy as np
from numpy.typing import NDArray

from memcore.embedders.checked import checked, prepared
from memcore.errors import InvalidInput, ProviderAnswer, ProviderError, ProviderRefused
from memcore.remote import Remote, address
from memcore.types import EmbedRole, Matrix, ProviderIdentity

_PROBE = "probe"


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
        parts, asked = _address(url)
        self._model = model
        self._url = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self._place = f"{parts.netloc}{parts.path}"
        self._provider = f"openai:{model}@{self._url}"
        self._dimensions = dimensions or asked
        self._width = self._dimensions or 0
        self._batch = batch
        self._batch_characters = batch_characters
        self._remote = Remote(
            self._provider,
            "openai",
            "OPENAI_API_KEY",
            partial(_client, self._url),
            _not_accepted,
            seconds=seconds,
            attempts=attempts,
            pause=pause,
        )

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
        asked: dict[str, Any] = {"dimensions": self._dimensions} if self._dimensions else {}

        def send(client: Any, left: float) -> AbstractContextManager[Any]:
            create = client.embeddings.with_streaming_response.create
            opened: AbstractContextManager[Any] = create(
                model=self._model, input=texts, encoding_format="float", timeout=left, **asked
            )
            return opened

        return _rows(self._remote.ask(send), len(texts), self._provider)


def _client(url: str, sdk: Any, **common: Any) -> Any:
    return sdk.OpenAI(base_url=url, **common)


def _not_accepted(said: str, error: Any) -> ProviderError:  # noqa: ARG001 (said is enough)
    return _TextRefused(f"{said}: it does not accept the text, the model or the dimensions")


def _address(url: str) -> tuple[SplitResult, int | None]:
    """A base URL and the dimensions asked for in it. No message repeats the URL, which may hold a
    password."""
    parts = address(url, "OPENAI_API_KEY")
    dimensions: int | None = None
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name != "dimensions" or not value.isdecimal() or not 0 < int(value[:9]) <= 65_536:
            raise InvalidInput("behind the ? of a server's URL only dimensions=NUMBER may stand")
        dimensions = int(value)
    return parts, dimensions


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
