"""Untrusted text: secrets found and masked, memory quoted so that it stays data.

Everything from memory stands in the prompt between a fence's two lines, which begin at the margin,
and is itself indented. So no line of it can be taken for a fence or for a speaker's turn, and
whatever in it looks like a fence or like a chat format's control mark is defused besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memcore.errors import SecretFound
from memcore.types import Layer

INDENT = "  "

_START = "(?<![A-Za-z0-9])"
_SECRETS = {
    "private key": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]{0,20000}?-----END [A-Z ]*PRIVATE KEY-----)?"
    ),
    "Anthropic key": re.compile(_START + r"sk-ant-[A-Za-z0-9_-]{16,}"),
    "OpenAI key": re.compile(_START + r"sk-(?!ant-)(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20,}"),
    "AWS access key": re.compile(_START + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    "GitHub token": re.compile(
        _START + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"
    ),
    "Slack token": re.compile(_START + r"xox[abeprs]-(?=[A-Za-z-]{0,200}[0-9])[A-Za-z0-9-]{10,}"),
    "bearer token": re.compile(r"\bbearer\s+(?=\S{0,200}\d)[\w.~+/-]{16,}=*", re.IGNORECASE),
    "api key": re.compile(
        r"\b(?:api|secret|access|auth)[_-]?(?:key|token)\b[\"']?\s*[:=]\s*"
        r"[\"']?(?=[^\s\"']{0,200}\d)[^\s\"',;]{12,}",
        re.IGNORECASE,
    ),
}

_HINTS = (
    "-----begin", "sk-", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat",
    "xox", "bearer", "key", "token",
)  # fmt: skip
"""One of them stands in every text that holds a secret; most texts have none and are done with."""

_SPECIAL = re.compile(
    "[^\t\n -;=-Z\\\\-~\u00a0-\u00ac\u00ae-\u1fff\u2010-\u2027\u2030-\u205f"
    "\u2070-\ufdff\ufe10-\ufe63\ufe65-\ufefe\uff00-\uff1b\uff1d-\U000dffff]"
)
"""Any character that quoting may have to treat; a text without one is quoted at once."""

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)
_JOINER = "\u00ad\u034f\u061c\u180e\u200c\u200d\ufe00-\ufe0f"
_JOINERS = f"[{_JOINER}]*"
_GAP = rf"[\s{_JOINER}]*+"
_FENCES = (*Layer, "system", "assistant", "user", "human", "tool", "memory", "instructions")
_TAG = re.compile(
    rf"[<＜﹤](?={_GAP}(?:[|｜]|(?:[/／]{_GAP})?(?:"
    + "|".join(_JOINERS.join(map(re.escape, name)) for name in _FENCES)
    + r")\b))",
    re.IGNORECASE,
)
_BRACKET = re.compile(
    rf"\[(?={_GAP}(?:/{_GAP})?(?:{_JOINERS.join('INST')}|{_JOINERS.join('SYS')})\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text: its kind and where it stands; never its value."""

    kind: str
    start: int
    end: int


def secrets(text: str) -> Iterator[Secret]:
    """The secrets of a text: provider keys, bearer tokens, private keys, assignments of a key."""
    folded = text.lower()
    if not any(hint in folded for hint in _HINTS):
        return
    for kind, pattern in _SECRETS.items():
        for match in pattern.finditer(text):
            yield Secret(kind, match.start(), match.end())


def refuse_secrets(text: str, field: str = "text") -> None:
    """Raises `SecretFound` for the first secret of a text, without repeating it."""
    if first := min(secrets(text), key=lambda secret: secret.start, default=None):
        raise SecretFound(first.kind, first.start, field)


def mask(text: str) -> str:
    """The text with each secret replaced by `[secret: kind]`."""
    reached, parts = 0, []
    for secret in sorted(secrets(text), key=lambda secret: (secret.start, -secret.end)):
        if secret.start >= reached:
            parts += [text[reached : secret.start], f"[secret: {secret.kind}]"]
            reached = secret.end
    return "".join([*parts, text[reached:]])


def mask_within(value: Any) -> Any:
    """A JSON value with the secrets of its texts and names masked, those included that only the
    name before them gives away (`{"api_key": "…"}`)."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {mask(str(name)): _mask_named(str(name), one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [mask_within(one) for one in value]
    return value


def _mask_named(name: str, value: Any) -> Any:
    masked = mask_within(value)
    if isinstance(value, str) and masked == value:
        found = next(secrets(f"{name}={value}"), None)
        return f"[secret: {found.kind}]" if found else value
    return masked


def quote(text: str, indent: str = INDENT) -> str:
    """The form in which memory's text stands in a fenced layer, all lines but the first indented.

    Secrets are masked, invisible control characters are left out, line ends are unified, fence-like
    and control marks are defused (`<` as `‹`, `[` as `⟦`).
    """
    if not _SPECIAL.search(text):
        defused = mask(text).strip()
        return f"\n{indent}".join(defused.split("\n"))
    unified = re.sub(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]", "\n", text)
    visible = mask(_INVISIBLE.sub("", unified)).strip()
    defused = _BRACKET.sub("⟦", _TAG.sub("‹", visible))
    return f"\n{indent}".join(defused.split("\n"))


def fence(layer: Layer | Literal["tool"], heading: str, body: str) -> str:
    """A layer's text, or a tool's: an opening line, a heading that says what it is, the body, a
    closing line."""
    return f"<{layer}>\n{heading}\n{body}\n</{layer}>"
