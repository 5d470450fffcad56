"""Lines that are proposed for notes or a summary: read from a model's output, and refused for a
reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memcore.errors import InvalidInput
from memcore.extraction import attributed, is_instruction
from memcore.extraction.quotation import is_russian
from memcore.ports import Check
from memcore.screening import secrets
from memcore.types import Message, Proposal

LARGEST_OUTPUT = 40_000
"""Characters of a proposer's output; twenty notes of the largest size."""

UNUSABLE = frozenset({"it is empty", "it cites no message", "it is longer than a note may be"})
"""Faults of form."""

_UNKNOWN = "which is not in this part of the conversation"


MOST_CITED = 10
"""Messages that a line of a summary may cite. All of them are read again at the next refresh."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    sources: list[str]
    lasting: bool = False
    updates: str = ""


class _Output(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    lines: list[_Line] = Field(max_length=100)


def parse(output: str, whose: str = "proposer") -> list[Proposal]:
    """The lines of a model's output, as `Proposer.propose` and `Summarizer.summarize` have them.

    Raises `InvalidInput`, naming `whose` it is, where any of it is not so: it is refused whole.
    """
    if not isinstance(output, str) or not output.strip():
        raise InvalidInput(f"the {whose}'s output is empty")
    if len(output) > LARGEST_OUTPUT:
        raise InvalidInput(
            f"the {whose}'s output has {len(output)} characters, at most {LARGEST_OUTPUT} are read"
        )
    try:
        found = _Output.model_validate_json(output)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise InvalidInput(f"the {whose}'s output is not valid: {where}: {first['msg']}") from None
    return [
        Proposal(one.text.strip(), tuple(dict.fromkeys(one.sources)),
                 one.lasting, one.updates.strip())
        for one in found.lines
    ]  # fmt: skip


def is_unusable(why: str | None) -> bool:
    """Whether a line is refused for its form, or cites what is not there. A proposer whose every
    line is so did not do its work, and is asked again."""
    return why in UNUSABLE or (why is not None and why.endswith(_UNKNOWN))


def fault(
    proposal: Proposal, batch: Mapping[str, Message], check: Check, note_size: int
) -> str | None:
    """Why a line is not written to a note, None where it may be. `batch` is what was said, by id.

    The person's own words have to bear it out: what the assistant said may come from notes,
    excerpts or persona, and memory would feed on itself.
    """
    if reason := _fault_of_form(proposal, note_size) or _fault_of_citing(proposal, batch):
        return reason
    own = [batch[id] for id in proposal.sources if batch[id].role == "user"]
    return _unsupported(proposal, own, check) if own else "it cites no word of the person's own"


def fault_in_summary(
    proposal: Proposal, said: Mapping[str, Message], check: Check, size: int
) -> str | None:
    """Why a line is left out of a summary of at most `size` characters, None where it may stand.
    `said` is what is summed up, by id; anybody's words may bear the line out."""
    if reason := _fault_of_form(proposal, size) or _fault_of_citing(proposal, said):
        return reason
    if len(proposal.sources) > MOST_CITED:
        return f"it cites {len(proposal.sources)} messages, at most {MOST_CITED} may be"
    return _unsupported(proposal, [said[id] for id in proposal.sources], check)


def _fault_of_citing(proposal: Proposal, said: Mapping[str, Message]) -> str | None:
    unknown = [id for id in proposal.sources if id not in said]
    if not unknown:
        return None
    return f"it cites {', '.join(unknown[:3])}, {_UNKNOWN}"


def _unsupported(proposal: Proposal, sources: Sequence[Message], check: Check) -> str | None:
    line = proposal.text
    whole = " ".join(one.text for one in sources)
    languages = {is_russian(whole), *(is_russian(one.text) for one in sources)}
    if is_russian(line) not in languages and not _quotes(line, sources):
        return "it is in another language than what it cites"
    verdict = check(line, sources)
    return None if verdict.ok else f"what it cites does not support it: {verdict.reason}"


def _quotes(line: str, sources: Sequence[Message]) -> bool:
    """Whether a line quotes a message word for word: one message may be in two languages."""
    found = attributed(line)
    return found is not None and any(found.words in " ".join(one.text.split()) for one in sources)


def _fault_of_form(proposal: Proposal, size: int) -> str | None:
    line = proposal.text
    if not any(map(str.isalnum, line)):
        return "it is empty"
    if not proposal.sources:
        return "it cites no message"
    if len(line) > size:
        return "it is longer than a note may be"
    if len(line.splitlines()) > 1:
        return "it is more than one line"
    if found := next(secrets(line), None):
        return f"it holds a secret ({found.kind})"
    if is_instruction(line):
        return "it is an instruction, and those are content, not rules"
    return None
