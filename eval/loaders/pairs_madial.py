"""MADial-Bench: which of a person's memories an assistant should recall in a dialogue.

A query is what was said before the first turn that should recall something. Later such turns come
after an answer that has recalled already, and are left out. Candidates are the memories that name
the person of the dialogue. A group is a dialogue. Memories are shared between dialogues: what is
held out is other talk with the same two people about the same memories.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from eval.dataset import parse_json, read_text, validate
from eval.errors import DatasetError, Fault
from eval.loaders.native import SourceRecord
from eval.pairs import Group, Material, Passage, Query, make_material
from memcore import PassageKind

LOOKS = "a folder with a …memory….jsonl and a …dialogue….jsonl"
_TURN = re.compile(r'\s*(?:<([^<>]{1,60})>\s*:?\s*)?"?(.*?)"?\s*(?:<eod)?\s*', re.DOTALL)
_ASSISTANT = "Assistant"


class _Memory(SourceRecord):
    time: str
    event: Annotated[str, Field(min_length=1)]


class _Dialogue(SourceRecord):
    dialogue: Annotated[list[str], Field(min_length=1)]
    test_turn: Annotated[list[int], Field(alias="test-turn", min_length=1)]
    relevant_id: Annotated[list[int], Field(alias="relevant-id", min_length=1)]


_MEMORIES = TypeAdapter(dict[str, _Memory])
_DIALOGUES = TypeAdapter(_Dialogue)


def recognises(path: Path, _content: Any = None) -> bool:
    """Whether it is a folder with both kinds of file."""
    return path.is_dir() and bool(_files(path, "memory")) and bool(_files(path, "dialogue"))


def load(path: Path, kind: PassageKind = "note") -> Material:
    """The dialogues of a folder with their memories. Raises `DatasetError` with every fault."""
    faults: list[Fault] = []
    memories: dict[str, str] = {}
    for file in _files(path, "memory"):
        for number, value in _lines(file, faults):
            try:
                found = validate(str(file), _MEMORIES, value, line=number)
            except DatasetError as error:
                faults += error.faults
                continue
            memories |= {id: memory.event for id, memory in found.items()}
    passages = tuple(Passage(id, (text,)) for id, text in memories.items())
    groups, later = [], 0
    for file in _files(path, "dialogue"):
        for number, value in _lines(file, faults):
            try:
                dialogue = validate(str(file), _DIALOGUES, value, line=number)
                query = _query(dialogue, memories, f"{file.stem}-{number:04d}")
            except DatasetError as error:
                faults += error.faults
                continue
            except ValueError as error:
                faults.append(Fault(str(file), number, str(error.args[0]), str(error.args[1])))
                continue
            later += len(dialogue.test_turn) - 1
            groups.append(Group(query.id, passages, (query,)))
    if faults:
        raise DatasetError(faults)
    remarks = [
        "held out are other dialogues of the same people, over the same memories",
        "candidates are the memories that name the person of the dialogue",
    ]
    if later:
        remarks.append(f"{later:,} later turns left out, an answer before them recalled already")
    return make_material(path.resolve().name, kind, "dialogue", groups, remarks, str(path))


def _query(dialogue: _Dialogue, memories: dict[str, str], id: str) -> Query:
    """The dialogue's first turn that should recall. Raises `ValueError(field, reason)`."""
    first = min(dialogue.test_turn)
    said = [_TURN.fullmatch(one) for one in dialogue.dialogue[:first]]
    turns = [(one[1] or "", one[2].strip()) for one in said if one]
    turns = [(speaker, text) for speaker, text in turns if text and speaker not in ("BOD", "EOD")]
    if not 0 < first < len(dialogue.dialogue) or not turns:
        raise ValueError("test-turn", f"nothing is said before turn {first}")
    person = next((speaker for speaker, _ in turns if speaker not in ("", _ASSISTANT)), "")
    places = {memory: place for place, memory in enumerate(memories)}
    relevant = set()
    for memory in map(str, dialogue.relevant_id):
        if memory not in places:
            raise ValueError("relevant-id", f"{memory} names no memory")
        relevant.add(places[memory])
    own = re.compile(rf"\b{re.escape(person)}\b") if person else re.compile("")
    candidates = {place for place, text in enumerate(memories.values()) if own.search(text)}
    text = "\n".join(text for _, text in turns)
    return Query(id, text, "en", sorted(candidates | relevant), frozenset(relevant))


def _files(path: Path, part: str) -> list[Path]:
    return sorted(file for file in path.glob("*.json*") if part in file.name.lower())


def _lines(file: Path, faults: list[Fault]) -> list[tuple[int, Any]]:
    found = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            try:
                found.append((number, parse_json(line)))
            except (ValueError, RecursionError) as error:
                faults.append(Fault(str(file), number, "", f"not JSON: {str(error)[:100]}"))
    return found
