"""Lines that are proposed for notes: read from a model's output, and refused for a reason."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memcore.errors import InvalidInput
from memcore.extraction import is_instruction
from memcore.extraction.quotation import is_russian
from memcore.ports import Check
from memcore.screening import secrets
from memcore.types import Message, Proposal

LARGEST_OUTPUT = 40_000
"""Characters of a proposer's output; twenty notes of the largest size."""

UNUSABLE = frozenset({"it is empty", "it cites no message", "it is longer than a note may be"})
"""Faults of form. A proposer whose every line has one did not do its work."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    sources: list[str]
    lasting: bool = False
    updates: str = ""


class _Output(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    lines: list[_Line] = Field(max_length=100)


def parse(output: str) -> list[Proposal]:
    """The lines of a proposer's output. Raises `InvalidInput` where any of it is not as
    `Proposer.propose` has it: it is refused whole."""
    if not isinstance(output, str) or not output.strip():
        raise InvalidInput("the proposer's output is empty")
    if len(output) > LARGEST_OUTPUT:
        raise InvalidInput(
            f"the proposer's output has {len(output)} characters, at most {LARGEST_OUTPUT} are read"
        )
    try:
        found = _Output.model_validate_json(output)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise InvalidInput(f"the proposer's output is not valid: {where}: {first['msg']}") from None
    return [
        Proposal(one.text.strip(), tuple(dict.fromkeys(one.sources)),
                 one.lasting, one.updates.strip())
        for one in found.lines
    ]  # fmt: skip


def fault(
    proposal: Proposal, batch: Mapping[str, Message], check: Check, note_size: int
) -> str | None:
    """Why a line is not written, None where it may be. `batch` is what was said, by id."""
    line = proposal.text
    if reason := _fault_of_form(proposal, note_size):
        return reason
    if unknown := [id for id in proposal.sources if id not in batch]:
        return f"it cites {', '.join(unknown[:3])}, which is not in this part of the conversation"
    sources = [batch[id] for id in proposal.sources]
    if all(one.role != "user" for one in sources):
        return "it cites no word of the person's own"
    if is_russian(line) != is_russian(" ".join(one.text for one in sources)) and not any(
        is_russian(line) == is_russian(one.text) for one in sources
    ):
        return "it is in another language than what it cites"
    verdict = check(line, sources)
    return None if verdict.ok else f"what it cites does not support it: {verdict.reason}"


def _fault_of_form(proposal: Proposal, note_size: int) -> str | None:
    line = proposal.text
    if not any(map(str.isalnum, line)):
        return "it is empty"
    if not proposal.sources:
        return "it cites no message"
    if len(line) > note_size:
        return "it is longer than a note may be"
    if len(line.splitlines()) > 1:
        return "it is more than one line"
    if found := next(secrets(line), None):
        return f"it holds a secret ({found.kind})"
    if is_instruction(line):
        return "it is an instruction, and those are content, not rules"
    return None
