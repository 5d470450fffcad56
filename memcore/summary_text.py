"""The text of a summary: lines under their days, a model's or the most central sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from zoneinfo import ZoneInfo

from memcore.centrality import central
from memcore.composer import render
from memcore.errors import InvalidInput
from memcore.extraction import is_instruction, speaker_of
from memcore.ports import Check
from memcore.proposals import fault_in_summary, parse
from memcore.screening import mask, secrets
from memcore.text import local_day, sentences
from memcore.types import Message

_SENTENCE = 300
"""Characters; a longer sentence is no summary of anything."""


@dataclass(frozen=True, slots=True)
class Made:
    """The text of a summary, empty where there is none, and ids of the messages that it cites, in
    their order. `refused` are lines that were left out, with the reason, secrets masked."""

    text: str
    sources: tuple[str, ...]
    refused: tuple[tuple[str, str], ...] = ()


def read(output: str, said: Sequence[Message], limit: int, zone: ZoneInfo, check: Check) -> Made:
    """The summary that a model's output is: the lines that `said` (oldest first) bears out.

    Raises `InvalidInput` where the output is not as `Summarizer.summarize` has it, where no line is
    left, and where those left take more than `limit` characters in the prompt: which of them matter
    least is not for this to guess.
    """
    by_id = {one.id: one for one in said}
    at = {one.id: number for number, one in enumerate(said)}
    good: list[tuple[int, str]] = []
    cited: set[str] = set()
    refused: list[tuple[str, str]] = []
    for line in parse(output, "summarizer"):
        if fault := fault_in_summary(line, by_id, check, limit):
            refused.append((mask(line.text), mask(fault)))
        else:
            good.append((max(at[id] for id in line.sources), line.text))
            cited |= set(line.sources)
    if not good:
        why = refused[0][1] if refused else "there is none"
        raise InvalidInput(f"no line of the summary may stand: {why}")
    good.sort(key=lambda one: one[0])
    text = _laid_out([(_day(said[newest], zone), line) for newest, line in good])
    if (size := len(render.summary(text))) > limit:
        raise InvalidInput(f"the summary takes {size} characters in the prompt, at most {limit}")
    return Made(text, tuple(id for id in at if id in cited), tuple(refused))


def extract(said: Sequence[Message], limit: int, zone: ZoneInfo) -> Made:
    """The most central sentences, with their speakers, in at most `limit` characters."""
    found = [(one, sentence) for one in said for sentence in _telling(one.text)]
    lines = [(_day(one, zone), f"{speaker_of(one)}: {sentence}") for one, sentence in found]

    def text_of(numbers: list[int]) -> str:
        return _laid_out([lines[number] for number in numbers])

    def fits(numbers: list[int]) -> bool:
        return len(render.summary(text_of(numbers))) <= limit

    numbers = central([sentence for _, sentence in found], fits)
    sources = dict.fromkeys(found[number][0].id for number in numbers)
    return Made(text_of(numbers), tuple(sources))


def _telling(text: str) -> list[str]:
    """Sentences that may stand in a summary: neither too long, nor an instruction, nor a secret."""
    if next(secrets(text), None):
        return []
    found = (" ".join(text[start:end].split()) for start, end in sentences(text))
    return [one for one in found if len(one) <= _SENTENCE and not is_instruction(one)]


def _laid_out(lines: Sequence[tuple[str, str]]) -> str:
    """Lines, each given with its day, under the days."""
    return "\n".join(
        f"{day}\n" + "\n".join(f"- {text}" for _, text in of_day)
        for day, of_day in groupby(lines, key=lambda line: line[0])
    )


def _day(message: Message, zone: ZoneInfo) -> str:
    return local_day(message.time, zone).isoformat()
