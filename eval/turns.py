"""One turn of a run: what was composed, what was offered, and the same turn composed differently.

Reads a run; `recompose` builds the memory as it stood at that turn, in a store in memory, and
composes again with other settings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import pandas as pd

from eval.arms import Arm, arm_named, in_one_thread
from eval.curating import CuratedLine, Host, Passes, RecordedLines
from eval.dataset import ConversationRecord, QuestionRecord, from_line
from eval.evidence import Fate, Stage, source_named
from eval.happenings import Replayed, VirtualClock, happen, happenings, turn_message
from eval.providers import provided
from eval.runs import Run, records
from eval.searching import Asked
from eval.tables import Rows
from eval.taking import Taken, Taker, fates_of
from memcore import (
    Composition,
    Item,
    Layer,
    LearningEmbedder,
    Memory,
    Message,
    MnemoscopeError,
    NotFound,
    Reason,
    Settings,
    Turn,
    load_settings,
)
from memcore.testing import InMemoryStore

SYSTEM_LAYERS = (Layer.PERSONA, Layer.SUMMARY, Layer.NOTES, Layer.EXCERPTS)
HISTORY_LAYERS = (Layer.WINDOW, Layer.LAST_EXCHANGE)


@dataclass(frozen=True)
class TurnView:
    """A composed turn as the run keeps it.

    `row` is its row of `turns`, `layers`, `items` and `calls` those tables' rows, `question` its
    row of `questions` where it is one, `fates` what became of that question's evidence, `answer`
    its row of `answers` where a brain was asked.
    """

    run: Run
    talk: ConversationRecord
    row: dict[str, Any]
    layers: pd.DataFrame
    items: pd.DataFrame
    question: dict[str, Any] | None
    fates: tuple[Fate, ...]
    calls: pd.DataFrame
    answer: dict[str, Any] | None = None

    @property
    def number(self) -> int:
        return int(self.row["turn"])

    @cached_property
    def messages(self) -> dict[str, Message]:
        """The conversation's messages by id, in time order."""
        return {message.id: message for message in self.talk.messages()}

    @cached_property
    def offered(self) -> tuple[Item, ...]:
        """Everything that was offered to a layer, as the composer named it."""
        return tuple(
            Item(
                Layer(row["layer"]),
                str(row["id"]),
                str(row["kind"]),
                int(row["size"]),
                bool(row["kept"]),
                int(row["place"]),
                None if pd.isna(row["reason"]) else Reason(row["reason"]),
                str(row["detail"] or ""),
                None if pd.isna(row["score"]) else float(row["score"]),
                tuple(map(str, row["covers"])),
                bool(row["cut"]),
            )
            for row in records(self.items)
        )

    def layer(self, layer: Layer) -> dict[str, Any]:
        """A layer's row of the account."""
        return records(self.layers[self.layers["layer"] == layer])[0]

    def text(self, layer: Layer) -> str:
        """A layer's text as it stands in the prompt."""
        found = self.layers.loc[self.layers["layer"] == layer, "text"]
        return str(found.iloc[0]) if len(found) else ""

    @property
    def system(self) -> str:
        """The system prompt."""
        return "".join(self.text(layer) for layer in SYSTEM_LAYERS)

    @cached_property
    def history(self) -> list[tuple[Layer, Message]]:
        """The messages sent as history, oldest first, each with the layer that sent it."""
        kept = self.items[self.items["kept"] & self.items["layer"].isin(HISTORY_LAYERS)]
        layer_of = dict(zip(kept["id"], kept["layer"], strict=True))
        return [(Layer(layer_of[id]), m) for id, m in self.messages.items() if id in layer_of]

    @property
    def turns(self) -> list[Turn]:
        """History and the new message as sent: strictly alternating."""
        sent: list[Turn] = []
        said = [(message.role, message.text) for _, message in self.history]
        for role, text in [*said, ("user", str(self.row["text"]))]:
            kind: Literal["user", "assistant"] = "user" if role == "user" else "assistant"
            if sent and sent[-1].role == kind:
                sent[-1] = Turn(kind, f"{sent[-1].content}\n\n{text}")
            else:
                sent.append(Turn(kind, text))
        return sent


def conversations(run: Run) -> pd.DataFrame:
    """The run's conversations: id, title, language, turns, questions."""
    return run.query(
        "SELECT conversation, title, language, turns, questions FROM {conversations} ORDER BY 1"
    )


def turn_list(run: Run, conversation: str) -> pd.DataFrame:
    """A conversation's turns: number, id, time, text, whether a question, and how it fared
    (`some`, `stage`; missing where it is no question)."""
    return run.query(
        "SELECT t.turn, t.id, t.time, t.text, t.is_question, t.total, q.some, q.stage "
        "FROM {turns} AS t LEFT JOIN {questions} AS q USING (conversation, turn) "
        "WHERE t.conversation = ? ORDER BY t.turn",
        [conversation],
    )


def previous_turn(view: TurnView) -> int | None:
    """The turn that was composed before this one in the same thread, None for the first."""
    found = view.run.query(
        "SELECT max(turn) AS turn FROM {turns} WHERE conversation = ? AND thread = ? AND turn < ?",
        [view.talk.id, view.row["thread"], view.number],
    )["turn"].iloc[0]
    return None if pd.isna(found) else int(found)


def load_turn(run: Run, conversation: str, turn: int) -> TurnView:
    """A turn of a run. Raises `NotFound` where there is none of that number."""
    key = [conversation, turn]
    where = "WHERE conversation = ? AND turn = ?"
    rows = records(run.query(f"SELECT * FROM {{turns}} {where}", key))
    if not rows:
        raise NotFound(f"run {run.name} has no turn {turn} of conversation {conversation!r}")
    asked = records(run.query(f"SELECT * FROM {{questions}} {where}", key))
    answered = records(run.query(f"SELECT * FROM {{answers}} {where}", key))
    traced = records(run.query(f"SELECT * FROM {{evidence}} {where}", key))
    fates = tuple(
        Fate(
            row["message"],
            Stage(row["stage"]),
            tuple(source_named(name) for name in row["layers"]),
            row["detail"],
            None if pd.isna(row["rank"]) else int(row["rank"]),
            None if pd.isna(row["score"]) else float(row["score"]),
        )
        for row in traced
    )
    return TurnView(
        run,
        load_conversation(run, conversation),
        rows[0],
        run.query(f"SELECT * FROM {{layers}} {where}", key),
        run.query(f"SELECT * FROM {{items}} {where} ORDER BY layer, place", key),
        asked[0] if asked else None,
        fates,
        run.query(f"SELECT * FROM {{calls}} {where} ORDER BY place", key),
        answered[0] if answered else None,
    )


def load_conversation(run: Run, conversation: str) -> ConversationRecord:
    """A conversation of a run, as it was replayed. Raises `NotFound`."""
    found = run.query("SELECT record FROM {conversations} WHERE conversation = ?", [conversation])
    if found.empty:
        raise NotFound(f"run {run.name} has no conversation {conversation!r}")
    return from_line(found["record"].iloc[0])


def find_question(run: Run, name: str) -> tuple[str, int]:
    """The conversation and turn of a question, given by its id or by CONVERSATION/ID.

    Raises `NotFound` where there is none, or where the id alone names several.
    """
    found = run.query(
        "SELECT conversation, turn FROM {questions} "
        "WHERE question = $1 OR conversation || '/' || question = $1 ORDER BY conversation",
        [name],
    )
    if found.empty:
        raise NotFound(
            f"run {run.name} has no question {name!r}; see python -m eval recall {run.name}"
        )
    if len(found) > 1:
        options = ", ".join(f"{conversation}/{name}" for conversation in found["conversation"])
        raise NotFound(f"{name!r} names {len(found)} questions: {options}")
    return str(found["conversation"].iloc[0]), int(found["turn"].iloc[0])


@dataclass(frozen=True)
class MemoryAt:
    """The memory as it stood when a turn was composed, the turn itself, and what was asked.

    `calls` are the tool calls of the turn: they are made again, nobody decides about them anew.
    """

    state: Replayed
    talk: ConversationRecord
    arm: Arm
    settings: Settings
    clock: VirtualClock
    message: Message
    question: QuestionRecord | None
    calls: tuple[Asked, ...] = ()

    def compose(self, changes: dict[str, Any]) -> tuple[Composition, list[Fate]]:
        """Composes the turn with some settings changed; also the fates of its evidence."""
        taken, fates = self.take(changes)
        return taken.composition, fates

    def take(self, changes: dict[str, Any]) -> tuple[Taken, list[Fate]]:
        """Takes the turn with some settings changed; also the fates of its evidence. Another
        provider embeds the whole memory first."""
        settings = self.settings.vary(**changes)
        embedder = provided(settings.provider).embedder if settings.provider else None
        given = self.arm.memory_settings(settings)
        memory = Memory(self.state.memory.store, given, self.clock, embedder)
        said, question = self.state.messages, self.question
        taker = Taker(self.arm, memory, settings, self.talk)
        taken = taker.take(self.message, said, question=question is not None, calls=self.calls)
        fates = fates_of(taken, self.arm, question, said) if question else []
        return taken, fates


def recomposed(view: TurnView, at: MemoryAt, changes: dict[str, Any]) -> TurnView:
    """The turn as it would have been with some settings changed; nothing of it is kept.

    Raises `InvalidSettings` for changes that are not accepted.
    """
    taken, fates = at.take(changes)
    rows = Rows(view.talk)
    rows.add(taken, at.message, int(view.row["messages_before"]), at.question, fates)
    tables = {name: table.to_pandas() for name, table in rows.tables().items()}
    row = {**records(tables["turns"])[0], "turn": view.number, "time": view.row["time"]}
    asked = records(tables["questions"])
    return TurnView(
        view.run,
        view.talk,
        row,
        tables["layers"],
        tables["items"].sort_values(["layer", "place"], kind="stable"),
        asked[0] if asked else None,
        tuple(fates),
        tables["calls"],
    )


def settings_of(run: Run, talk: ConversationRecord) -> Settings:
    """The settings with which a conversation of the run was replayed. Raises `InvalidSettings`
    where this version does not take them."""
    settings = load_settings().vary(**run.manifest["settings"])
    if "timezone" in run.manifest["changed_settings"]:
        return settings
    return settings.vary(timezone=talk.timezone)


def memory_at(run: Run, conversation: str, turn: int) -> MemoryAt:
    """Builds the memory up to a turn, with the run's own settings. Raises `NotFound`.

    No model is asked: what one wrote to the notes is taken from the run, and a summary is made
    without one.
    """
    arm = arm_named(run.manifest["arm"])
    talk = load_conversation(run, conversation)
    talk = in_one_thread(talk) if arm.one_thread else talk
    settings = settings_of(run, talk)
    clock = VirtualClock()
    embedder = provided(settings.provider).embedder if settings.provider else None
    if not isinstance(embedder, LearningEmbedder):
        embedder = None  # it may come later, with all texts at once
    proposer = None
    if settings.brain and settings.curator:
        proposer = RecordedLines(_written(run, conversation))
    settings = settings.vary(brain=None)
    given = arm.memory_settings(settings)
    memory = Memory(InMemoryStore(), given, clock, embedder, proposer=proposer)
    state = Replayed(memory, Host(memory, talk.owner, Passes()))
    number = -1
    for happening in happenings(talk):
        happen(state, clock, talk, happening)
        message = turn_message(talk, happening, arm)
        if message is None:
            continue
        number += 1
        if number == turn:
            question = happening if isinstance(happening, QuestionRecord) else None
            calls = _calls(run, conversation, turn)
            return MemoryAt(state, talk, arm, settings, clock, message, question, calls)
    raise NotFound(f"run {run.name} has no turn {turn} of conversation {conversation!r}")


def _written(run: Run, conversation: str) -> list[CuratedLine]:
    """The lines that the curator wrote in a conversation, in order."""
    found = run.query(
        "SELECT time, thread, key, line, sources FROM {lines} "
        "WHERE conversation = ? AND refused IS NULL",
        [conversation],
    )
    return [
        CuratedLine(
            row["time"],
            row["thread"],
            row["key"],
            row["line"],
            tuple(map(str, row["sources"])),
            None,
        )
        for row in records(found)
    ]


def _calls(run: Run, conversation: str, turn: int) -> tuple[Asked, ...]:
    """The tool calls of a turn."""
    found = run.query(
        "SELECT name, arguments FROM {calls} WHERE conversation = ? AND turn = ? ORDER BY place",
        [conversation, turn],
    )
    return tuple((row["name"], json.loads(row["arguments"])) for row in records(found))


def parse_changes(assignments: Sequence[str]) -> dict[str, str]:
    """`name=value` texts as a mapping. Raises `MnemoscopeError` for one without an equals sign."""
    changes = {}
    for one in assignments:
        name, equals, value = one.partition("=")
        if not equals or not name.strip():
            raise MnemoscopeError(f"a setting is given as name=value, not {one!r}")
        changes[name.strip()] = value.strip()
    return changes
