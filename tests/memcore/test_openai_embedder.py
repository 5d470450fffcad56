"""The OpenAI-compatible provider against a server that misbehaves on purpose."""

from __future__ import annotations

import json
import socket
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memcore.embedders import OpenAIEmbedder, embedder_named
from memcore.errors import (
    InvalidInput,
    ProviderAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from tests.misbehaving_server import (
    Answer,
    Request,
    Server,
    failing,
    listed,
    misbehaving_server,
    vector,
    vectors,
)

KEY = "sk-test-verysecretkey1234567890"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with misbehaving_server() as running:
        yield running


def embedder(server: Server, **changes: Any) -> OpenAIEmbedder:
    settings: dict[str, Any] = {"pause": 0.0, "seconds": 20.0} | changes
    return OpenAIEmbedder("m", server.url, **settings)


def failure(server: Server, texts: list[str], **changes: Any) -> ProviderError:
    """The error of an embedding that must fail, checked to hold no secret."""
    with pytest.raises(ProviderError) as caught:
        embedder(server, **changes).embed(texts, "passage")
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(caught.value) + repr(vars(caught.value))
    return caught.value


def test_texts_come_back_as_unit_vectors_in_their_order(server: Server) -> None:
    found = embedder(server).embed(["one", "two", "three"], "query")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [vector(t) for t in ("one", "two", "three")], atol=1e-6)
    assert len(server.requests) == 1
    request = server.requests[0]
    assert request.path == "/v1/embeddings"
    assert request.asked["encoding_format"] == "float"
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_server_without_a_key_is_asked_with_a_placeholder(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    embedder(server).embed(["one"], "query")
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_many_texts_go_in_batches_by_number_and_by_characters(server: Server) -> None:
    found = embedder(server, batch=4).embed([str(n) for n in range(10)], "passage")
    assert [len(request.texts) for request in server.requests] == [4, 4, 2]
    assert len(found) == 10
    server.requests.clear()
    embedder(server, batch_characters=25).embed(["x" * 10] * 5, "passage")
    assert [len(request.texts) for request in server.requests] == [2, 2, 1]


def test_no_texts_are_no_vectors(server: Server) -> None:
    assert embedder(server, dimensions=4).embed([], "query").shape == (0, 4)
    assert server.requests == []


def test_a_blank_text_is_refused_before_any_call(server: Server) -> None:
    with pytest.raises(InvalidInput, match="text 1"):
        embedder(server).embed(["a", " \n"], "passage")
    assert server.requests == []


def test_an_endless_text_is_sent_in_part(server: Server) -> None:
    embedder(server).embed(["x" * 100_000], "passage")
    assert len(server.requests[0].texts[0]) == 8_000


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_a_busy_or_failing_server_is_asked_again(server: Server, status: int) -> None:
    server.script = [failing(status, Retry_After="0")]
    assert len(embedder(server, pause=5.0).embed(["a"], "query")) == 1
    assert len(server.requests) == 2


def test_a_server_that_always_fails_is_given_up_after_some_attempts(server: Server) -> None:
    server.behaviour = lambda _: failing(500)
    error = failure(server, ["a"], attempts=3)
    assert isinstance(error, ProviderUnavailable)
    assert "500" in str(error)
    assert len(server.requests) == 3


def test_a_wait_longer_than_the_limit_is_told_at_once(server: Server) -> None:
    server.behaviour = lambda _: failing(429, Retry_After="120")
    error = failure(server, ["a"])
    assert isinstance(error, ProviderUnavailable)
    assert error.after == 120
    assert len(server.requests) == 1


def test_an_account_without_money_is_not_asked_again(server: Server) -> None:
    server.behaviour = lambda _: failing(429, code="insufficient_quota")
    assert isinstance(failure(server, ["a"]), ProviderRefused)
    assert len(server.requests) == 1


def test_a_server_that_never_answers_costs_the_limit_and_no_more(server: Server) -> None:
    server.behaviour = lambda _: Answer(never=True)
    error = failure(server, ["a"], seconds=0.3)
    assert isinstance(error, ProviderUnavailable)
    assert "0.3 seconds" in str(error)


def test_a_server_that_dribbles_its_answer_costs_the_limit_and_no_more(server: Server) -> None:
    whole = vectors(["a"]).body
    server.behaviour = lambda _: Answer(body=whole, pieces=len(whole), beat=0.05)
    error = failure(server, ["a"], seconds=0.3)
    assert isinstance(error, ProviderUnavailable)


def test_an_answer_that_breaks_off_is_asked_for_again(server: Server) -> None:
    server.script = [Answer(body=b'{"data": [', cut=100)]
    assert len(embedder(server).embed(["a"], "query")) == 1
    assert len(server.requests) == 2


def test_nobody_at_the_address_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ProviderUnavailable, match="cannot be reached"):
            OpenAIEmbedder("m", url, pause=0.0).embed(["a"], "query")


@pytest.mark.parametrize(
    ("status", "code", "advice"),
    [
        (401, "invalid_api_key", "OPENAI_API_KEY"),
        (403, "", "OPENAI_API_KEY"),
        (404, "model_not_found", "model"),
        (405, "", "URL"),
    ],
)
def test_a_refusal_says_what_to_correct_and_not_the_key(
    server: Server, status: int, code: str, advice: str
) -> None:
    told = f"Incorrect API key provided: {KEY}"
    server.behaviour = lambda _: failing(status, told, code)
    error = failure(server, ["a"])
    assert isinstance(error, ProviderRefused)
    assert advice in str(error)
    assert code in str(error)
    assert len(server.requests) == 1


def test_a_key_that_a_server_repeats_as_its_code_is_not_told(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "lowercase_key")
    server.behaviour = lambda _: failing(401, "no", "lowercase_key")
    assert "lowercase_key" not in str(failure(server, ["a"]))


def test_the_text_that_a_server_does_not_accept_is_found(server: Server) -> None:
    def picky(request: Request) -> Answer:
        long = any("long" in text for text in request.texts)
        return failing(400, "maximum context length") if long else vectors(request.texts)

    server.behaviour = picky
    texts = [f"text {n}" for n in range(9)]
    texts[4] = texts[7] = "too long"
    error = failure(server, texts, batch=5)
    assert isinstance(error, ProviderAnswer)
    assert error.refused == (4, 7)


def test_a_server_that_accepts_no_text_at_all_refuses_as_it_is_set_up(server: Server) -> None:
    server.behaviour = lambda _: failing(400, "no such parameter: dimensions")
    assert isinstance(failure(server, ["a", "b", "c", "d"]), ProviderRefused)
    assert len(server.requests) <= 6


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"data": null}',
        b'{"data": [1]}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [[1.0]]}]}',
        b'{"data": [{"index": 0, "embedding": [{}]}]}',
        b'{"data": [{"index": "0", "embedding": [1.0]}]}',
        b'{"data": [{"index": [], "embedding": [1.0]}]}',
        b"<html>gateway</html>",
        b"\xff\xfe\xff",
        b"[" * 100_000,
    ],
)
def test_an_answer_that_holds_no_vectors_is_named_so(server: Server, body: bytes) -> None:
    server.behaviour = lambda _: Answer(body=body)
    error = failure(server, ["a"])
    assert isinstance(error, ProviderAnswer)
    assert error.refused == ()
    assert len(server.requests) == 1


def test_a_short_or_long_or_repeated_list_is_refused(server: Server) -> None:
    for data in (
        [{"index": 0, "embedding": [1.0]}],
        [{"index": n, "embedding": [1.0]} for n in range(3)],
        [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}],
    ):
        server.behaviour = lambda _, data=data: listed(data)
        assert isinstance(failure(server, ["a", "b"]), ProviderAnswer)


def test_a_shuffled_list_is_put_in_order_by_its_index(server: Server) -> None:
    def shuffled(request: Request) -> Answer:
        data = json.loads(vectors(request.texts).body)["data"]
        return listed(data[::-1])

    server.behaviour = shuffled
    texts = ["one", "two", "three"]
    found = embedder(server).embed(texts, "query")
    np.testing.assert_allclose(found, [vector(text) for text in texts], atol=1e-6)


def test_unnormalised_vectors_work(server: Server) -> None:
    server.behaviour = lambda _: listed(
        [{"index": n, "embedding": [3e30 * (n + 1), 4e30 * (n + 1)]} for n in range(2)]
    )
    found = embedder(server).embed(["a", "b"], "query")
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "null", "1e999", "0.0"])
def test_a_vector_without_direction_is_refused_with_its_position(
    server: Server, number: str
) -> None:
    def answered(request: Request) -> Answer:
        bad = [text == "bad" for text in request.texts]
        rows = [f"[{number}, 0.0]" if wrong else "[1.0, 0.0]" for wrong in bad]
        data = [f'{{"index": {n}, "embedding": {row}}}' for n, row in enumerate(rows)]
        return Answer(body=f'{{"data": [{", ".join(data)}]}}'.encode())

    server.behaviour = answered
    error = failure(server, ["a", "b", "c", "bad", "e"], batch=2)
    assert isinstance(error, ProviderAnswer)
    assert error.refused == (3,)


def test_another_width_than_asked_for_is_refused(server: Server) -> None:
    error = failure(server, ["a"], dimensions=8)
    assert isinstance(error, ProviderAnswer)
    assert "4 wide, not 8" in str(error)
    assert server.requests[0].asked["dimensions"] == 8


def test_a_width_that_changes_between_calls_is_refused(server: Server) -> None:
    one = embedder(server)
    one.embed(["a"], "query")
    server.behaviour = lambda request: vectors(request.texts, width=5)
    with pytest.raises(ProviderAnswer, match="5 wide, not 4"):
        one.embed(["a"], "query")


def test_the_width_comes_from_the_url_or_from_one_probe(server: Server) -> None:
    named = embedder_named(f"openai:m@{server.url}?dimensions=4")
    assert named.identity.width == 4
    assert server.requests == []
    one = embedder(server)
    assert one.identity == one.identity == named.identity
    assert len(server.requests) == 1


def test_servers_and_paths_are_part_of_the_identity_and_secrets_are_not() -> None:
    names = {
        OpenAIEmbedder("m", url, dimensions=4).identity.model
        for url in ("http://a/v1", "http://b/v1", "http://a:81/v1", "http://a/v2")
    }
    assert names == {"m@a/v1", "m@b/v1", "m@a:81/v1", "m@a/v2"}
    same = {
        OpenAIEmbedder("m", url, dimensions=4).identity for url in ("http://a/v1", "https://A/v1/")
    }
    assert len(same) == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hunter2@host/v1",
        "https://hunter2@host/v1",
        "https://host/v1?key=hunter2",
        "https://host/v1?dimensions=hunter2",
        "https://host:hunter2/v1",
        "https:///v1?hunter2",
        "ftp://host/hunter2",
        "https://[hunter2/v1",
        "https://host/v1?dimensions=0",
    ],
)
def test_a_url_with_a_password_or_nonsense_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        embedder_named(f"openai:m@{url}")
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_a_model_name_may_hold_an_at_sign() -> None:
    made = embedder_named("openai:@cf/baai/bge-m3@https://host/v1?dimensions=4")
    assert made.identity.model == "@cf/baai/bge-m3@host/v1"
    assert KEY not in repr(made)
