"""An embeddings server on loopback that does whatever a test tells it, and counts its requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WIDTH = 4


@dataclass
class Answer:
    """What the server sends. With `never` it sends nothing until the server is stopped; with
    `pieces` the body comes in that many, `beat` seconds apart; with `cut` it says that as many more
    bytes come, and closes the connection."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    never: bool = False
    pieces: int = 1
    beat: float = 0.0
    cut: int = 0


@dataclass
class Request:
    texts: list[str]
    asked: dict[str, Any]
    headers: dict[str, str]
    path: str


Behaviour = Callable[[Request], Answer]


class Server:
    """Answers each request by the next of `script`, and by `behaviour` when that is used up."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.requests: list[Request] = []
        self.script: list[Answer | Behaviour] = []
        self.behaviour: Behaviour = lambda request: vectors(request.texts)
        self.stopping = threading.Event()

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        step = self.script.pop(0) if self.script else self.behaviour
        return step if isinstance(step, Answer) else step(request)


def vector(text: str, width: int = WIDTH) -> list[float]:
    """A vector of length 1 that depends on the text alone."""
    raw = [1.0 + (sum(map(ord, text)) * (place + 1)) % 97 for place in range(width)]
    length = sum(number * number for number in raw) ** 0.5
    return [number / length for number in raw]


def vectors(texts: list[str], width: int = WIDTH) -> Answer:
    """A proper answer."""
    return listed([{"index": n, "embedding": vector(t, width)} for n, t in enumerate(texts)])


def listed(data: list[dict[str, Any]]) -> Answer:
    return Answer(body=json.dumps({"object": "list", "data": data}).encode())


def failing(status: int, told: str = "no", code: str = "", **headers: str) -> Answer:
    body = json.dumps({"error": {"message": told, "code": code or None}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, body, named)


@contextmanager
def misbehaving_server() -> Iterator[Server]:
    """A running server, stopped at the end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            asked = json.loads(self.rfile.read(size))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = server.answer(Request(asked["input"], asked, headers, self.path))
            if answer.never:
                server.stopping.wait(60)
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.body) + answer.cut))
            self.end_headers()
            step = -(-len(answer.body) // answer.pieces) or 1
            for start in range(0, len(answer.body), step):
                try:
                    self.wfile.write(answer.body[start : start + step])
                except OSError:
                    return
                server.stopping.wait(answer.beat)
            self.close_connection = bool(answer.cut)

        def log_message(self, *_: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = Server(httpd.server_address[1])
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join()
