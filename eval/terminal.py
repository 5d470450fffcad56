"""What the commands have in common: where they print, and how."""

from __future__ import annotations

import json
import sys
from typing import Any

_CONTROL = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)
}


def harmless(text: str) -> str:
    """The text with control characters spelt out: what people said must not steer a terminal."""
    return text.translate(_CONTROL)


def say(text: str) -> None:
    """Prints beside the result, to standard error."""
    print(harmless(text), file=sys.stderr)


def print_json(value: dict[str, Any]) -> None:
    """Prints one JSON object; characters that the terminal does not know are escaped."""
    escaped = "utf" not in (sys.stdout.encoding or "").lower()
    print(json.dumps(value, ensure_ascii=escaped, indent=1, default=str))


def show_progress(done: int, total: int, what: str) -> None:
    """One line that overwrites itself; nothing where nobody watches."""
    if sys.stderr.isatty():
        end = "\n" if done >= total else ""
        print(f"\r{done:,}/{total:,} {what}\033[K", end=end, file=sys.stderr, flush=True)
