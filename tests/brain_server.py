"""A server on loopback that speaks chat completions and messages, and misbehaves as it is told.

It is as strict as the real ones: a request that they would refuse is answered with 400 and why, and
is in `refused`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from tests.misbehaving_server import Answer

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_-]+")
OPENAI, ANTHROPIC = "/v1/chat/completions", "/v1/messages"


@dataclass
class Request:
    path: str
    asked: dict[str, Any]
    headers: dict[str, str]


Behaviour = Callable[[Request], Answer]


class BrainServer:
    """Answers each request by the next of `script`, and by `behaviour` when that is used up."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.requests: list[Request] = []
        self.refused: list[str] = []
        self.script: list[Answer | Behaviour] = []
        self.behaviour: Behaviour = says("Hello.")
        self.stopping = Event()

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        check = openai_fault if request.path == OPENAI else anthropic_fault
        if fault := check(request.asked):
            self.refused.append(fault)
            return failing(request.path, 400, fault)
        step = self.script.pop(0) if self.script else self.behaviour
        return step if isinstance(step, Answer) else step(request)


def says(text: str, stop: str = "", **more: Any) -> Behaviour:
    """A reply in words; `stop` is as the API names it."""
    return replies(text, [], stop, **more)


def calls(*made: tuple[str, str, Any], text: str = "", stop: str = "") -> Behaviour:
    """A reply that calls tools: id, name, arguments each. Arguments that are text go out as they
    are to the API that has them as text, and as a broken object to the other."""
    return replies(text, list(made), stop)


def replies(text: str, made: list[tuple[str, str, Any]], stop: str, **more: Any) -> Behaviour:
    def answer(request: Request) -> Answer:
        if request.path == OPENAI:
            message: dict[str, Any] = {"role": "assistant", "content": text or None, **more}
            if made:
                message["tool_calls"] = [
                    {"id": id, "type": "function", "function": {"name": name, "arguments": (
                        given if isinstance(given, str) else json.dumps(given))}}
                    for id, name, given in made
                ]  # fmt: skip
            reason = stop or ("tool_calls" if made else "stop")
            choice = {"index": 0, "message": message, "finish_reason": reason}
            usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
            return sent({"object": "chat.completion", "choices": [choice], "usage": usage})
        blocks: list[dict[str, Any]] = list(more.get("blocks", []))
        blocks += [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "tool_use", "id": id, "name": name, "input": given} for id, name, given in made
        ]
        reason = stop or ("tool_use" if made else "end_turn")
        usage = {"input_tokens": 6, "cache_read_input_tokens": 5, "output_tokens": 3}
        return sent({"type": "message", "role": "assistant", "content": blocks,
                     "stop_reason": reason, "usage": usage})  # fmt: skip

    return answer


def sent(body: Any) -> Answer:
    return Answer(body=json.dumps(body).encode())


def failing(path: str, status: int, told: str = "no", **more: Any) -> Answer:
    """An error in the form of the API at that path; `retry_after` becomes a header."""
    headers = {"Retry-After": str(more.pop("retry_after"))} if "retry_after" in more else {}
    error: dict[str, Any] = {"message": told, "type": "invalid_request_error", **more}
    body: dict[str, Any] = {"error": error}
    if path == ANTHROPIC:
        body = {"type": "error", "error": error, "request_id": "req_1"}
    return Answer(status, json.dumps(body).encode(), headers)


def openai_fault(asked: dict[str, Any]) -> str:
    """Why OpenAI's server would not accept a request, empty where it would."""
    tools = asked.get("tools")
    if tools is not None and (not tools or not all(
        tool["type"] == "function" and NAME.fullmatch(tool["function"]["name"])
        and tool["function"]["parameters"]["type"] == "object" for tool in tools
    )):  # fmt: skip
        return "tools"
    due: set[str] = set()
    before = ""
    for place, message in enumerate(asked["messages"]):
        role, content = message["role"], message.get("content")
        if role == "tool":
            if message["tool_call_id"] not in due or not isinstance(content, str):
                return f"messages.{place}: a tool message answers a tool call before it"
            due.remove(message["tool_call_id"])
        elif due:
            return f"messages.{place}: tool_call_ids without a response: {sorted(due)}"
        if role == "system" and place:
            return f"messages.{place}: system"
        if role in ("user", "assistant") and before == role:
            return f"messages.{place}: roles must alternate"
        if role == "assistant" and before in ("", "system"):
            return f"messages.{place}: starts with a user"
        for call in message.get("tool_calls") or []:
            if not call["id"] or not NAME.fullmatch(call["function"]["name"]):
                return f"messages.{place}: tool call"
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                return f"messages.{place}: arguments"
            due.add(call["id"])
        if not isinstance(content, str) and not message.get("tool_calls"):
            return f"messages.{place}: content"
        before = role
    return "" if not due and before in ("user", "tool") else "the end"


def anthropic_fault(asked: dict[str, Any]) -> str:
    """Why Anthropic's server would not accept a request, empty where it would."""
    if known := {"temperature", "top_p", "top_k"} & set(asked):
        return f"{sorted(known)[0]}: Extra inputs are not permitted"
    if not isinstance(asked.get("max_tokens"), int) or asked.get("system", "x") == "":
        return "max_tokens or system"
    names = [tool["name"] for tool in asked.get("tools", [])]
    if not all(NAME.fullmatch(name) for name in names) or len(names) != len(set(names)):
        return "tools"
    if any(tool["input_schema"]["type"] != "object" for tool in asked.get("tools", [])):
        return "tools: input_schema"
    due: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(asked["messages"]):
        role, content = message["role"], message["content"]
        if role != ("user", "assistant")[place % 2]:
            return f"messages.{place}: roles must alternate, user first"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(due) or any(
            block["type"] != "tool_result" for block in blocks[: len(results)]
        ):
            return f"messages.{place}: `tool_use` ids without `tool_result` blocks after: {due}"
        used = [block for block in blocks if block["type"] == "tool_use"]
        due = [block["id"] for block in used]
        if (used or results) and not names:
            return "Requests which include tool_use or tool_result blocks must define tools."
        for block in used:
            if role != "assistant" or not ID.fullmatch(block["id"]) or block["id"] in seen:
                return f"messages.{place}: tool_use ids must be unique"
            if not NAME.fullmatch(block["name"]) or not isinstance(block["input"], dict):
                return f"messages.{place}: tool_use"
            seen.add(block["id"])
        if not blocks or any(b["type"] == "text" and not b["text"].strip() for b in blocks):
            return f"messages.{place}: text content blocks must be non-empty"
    return "" if asked["messages"] and asked["messages"][-1]["role"] == "user" else "the end"


@contextmanager
def brain_server() -> Iterator[BrainServer]:
    """A running server, stopped at the end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = server.answer(Request(self.path, asked, headers))
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
    server = BrainServer(httpd.server_address[1])
    thread = Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join()
