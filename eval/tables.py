"""The tables of a run: their columns, and rows made of compositions.

Everything in them follows from the dataset and the settings alone; how long anything took stands
apart, in `timings`, so that two runs of the same input have the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa

from eval.curating import CuratedLine
from eval.dataset import ConversationRecord, QuestionRecord, to_line
from eval.evidence import Fate, Stage
from eval.grading import Graded
from eval.taking import Taken
from memcore import Layer, Message

_TIME = pa.timestamp("us", tz="UTC")
_WORDS = pa.list_(pa.string())
_KEY = [("conversation", pa.string()), ("turn", pa.int32())]

SCHEMAS: dict[str, pa.Schema] = {
    name: pa.schema(columns)
    for name, columns in {
        "conversations": [
            ("conversation", pa.string()),
            ("title", pa.string()),
            ("language", pa.string()),
            ("turns", pa.int32()),
            ("questions", pa.int32()),
            ("record", pa.string()),
        ],
        "turns": [
            *_KEY,
            ("thread", pa.string()),
            ("id", pa.string()),
            ("is_question", pa.bool_()),
            ("time", _TIME),
            ("text", pa.string()),
            ("messages_before", pa.int32()),
            ("ceiling", pa.int64()),
            ("spent", pa.int64()),
            ("total", pa.int64()),
            ("tool_characters", pa.int64()),
            ("unchanged", pa.int64()),
            ("failed_layers", pa.int32()),
            ("provider_error", pa.string()),
            ("invisible", pa.int32()),
            ("waiting", pa.int32()),
        ],
        "layers": [
            *_KEY,
            ("layer", pa.string()),
            ("asked", pa.int64()),
            ("cap", pa.int64()),
            ("granted", pa.int64()),
            ("received", pa.int64()),
            ("offered", pa.int32()),
            ("kept", pa.int32()),
            ("dropped", pa.int32()),
            ("ordering", pa.string()),
            ("status", pa.string()),
            ("note", pa.string()),
            ("text", pa.large_string()),
        ],
        "items": [
            *_KEY,
            ("layer", pa.string()),
            ("id", pa.string()),
            ("kind", pa.string()),
            ("size", pa.int32()),
            ("kept", pa.bool_()),
            ("place", pa.int32()),
            ("reason", pa.string()),
            ("detail", pa.string()),
            ("score", pa.float64()),
            ("covers", _WORDS),
            ("cut", pa.bool_()),
        ],
        "questions": [
            *_KEY,
            ("question", pa.string()),
            ("text", pa.string()),
            ("kind", pa.string()),
            ("language", pa.string()),
            ("paraphrased", pa.bool_()),
            ("answerable", pa.bool_()),
            ("answer", pa.string()),
            ("asked_at", _TIME),
            ("age_days", pa.float64()),
            ("evidence", _WORDS),
            ("reached", pa.int32()),
            ("cut", pa.int32()),
            ("some", pa.bool_()),
            ("all", pa.bool_()),
            ("layers", _WORDS),
            ("stage", pa.string()),
            ("lost_by", pa.string()),
            ("detail", pa.string()),
            ("characters", pa.int64()),
            ("excerpt_characters", pa.int64()),
            ("tool_characters", pa.int64()),
        ],
        "evidence": [
            *_KEY,
            ("question", pa.string()),
            ("message", pa.string()),
            ("stage", pa.string()),
            ("layers", _WORDS),
            ("detail", pa.string()),
            ("rank", pa.int32()),
            ("score", pa.float64()),
        ],
        "scores": [
            *_KEY,
            ("question", pa.string()),
            ("message", pa.string()),
            ("rank", pa.int32()),
            ("score", pa.float64()),
            ("relevant", pa.bool_()),
        ],
        "calls": [
            *_KEY,
            ("place", pa.int32()),
            ("name", pa.string()),
            ("arguments", pa.string()),
            ("result", pa.string()),
            ("error", pa.bool_()),
        ],
        "answers": [
            *_KEY,
            ("question", pa.string()),
            ("text", pa.string()),
            ("stopped", pa.string()),
            ("error", pa.string()),
            ("rounds", pa.int32()),
            ("exact_match", pa.bool_()),
            ("f1", pa.float64()),
            ("judged", pa.bool_()),
            ("judge_error", pa.string()),
            ("tokens_in", pa.int64()),
            ("tokens_out", pa.int64()),
            ("reached", pa.int32()),
        ],
        "lines": [
            ("conversation", pa.string()),
            ("time", _TIME),
            ("thread", pa.string()),
            ("key", pa.string()),
            ("line", pa.string()),
            ("sources", _WORDS),
            ("refused", pa.string()),
        ],
        "timings": [
            *_KEY,
            ("layer", pa.string()),
            ("milliseconds", pa.float64()),
        ],
    }.items()
}


class Rows:
    """Rows of one conversation, gathered by table."""

    def __init__(self, talk: ConversationRecord) -> None:
        self._talk = talk
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in SCHEMAS}
        self._turns = self._asked = 0

    def add(
        self,
        taken: Taken,
        message: Message,
        messages_before: int,
        question: QuestionRecord | None = None,
        fates: Sequence[Fate] = (),
        graded: Graded | None = None,
    ) -> None:
        """Adds a turn; with `question`, also what became of its evidence and of its answer."""
        composition = taken.composition
        key = (self._talk.id, self._turns)
        self._turns += 1
        account, texts = composition.account, {one.layer: one.text for one in composition.layers}
        failed = sum(row.status == "failed" for row in account.layers)
        vectors = account.vectors
        id = question.id if question else message.id
        self._rows["turns"].append(
            (*key, message.thread, id, question is not None, message.time, message.text,
             messages_before, account.ceiling, account.spent, account.total,
             taken.tool_characters, account.unchanged, failed, vectors.error if vectors else "",
             vectors.invisible if vectors else 0, vectors.waiting if vectors else 0)
        )  # fmt: skip
        for row in account.layers:
            self._rows["layers"].append(
                (*key, row.layer, row.asked, row.cap, row.granted, row.received, row.offered,
                 row.kept, row.dropped, row.order, row.status, row.note,
                 texts.get(row.layer, ""))
            )  # fmt: skip
            self._rows["timings"].append((*key, row.layer, row.milliseconds))
        if vectors is not None:
            self._rows["timings"].append((*key, "provider", vectors.milliseconds))
        self._rows["timings"].append((*key, "turn", taken.milliseconds))
        self._rows["items"] += [(*key, *item) for item in composition.items]
        for place, call in enumerate(taken.calls, start=1):
            arguments = json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)
            self._rows["calls"].append(
                (*key, place, call.name, arguments, call.result, call.error)
            )  # fmt: skip
            self._rows["timings"].append((*key, f"tool {call.name}", call.milliseconds))
        if question is not None:
            self._question(key, taken, question, fates)
        if question is not None and graded is not None:
            self._answer(key, question, fates, graded)
            self._rows["timings"].append((*key, "answer", taken.answer_milliseconds))
            if graded.judge_milliseconds:
                self._rows["timings"].append((*key, "judge", graded.judge_milliseconds))

    def lines(self, lines: Sequence[CuratedLine]) -> None:
        """Adds what the curator wrote, and what was refused of it."""
        self._rows["lines"] += [(self._talk.id, *line) for line in lines]

    def _answer(
        self,
        key: tuple[str, int],
        question: QuestionRecord,
        fates: Sequence[Fate],
        graded: Graded,
    ) -> None:
        said, judged = graded.answer, graded.judgement
        self._rows["answers"].append(
            (*key, question.id, said.text, said.stopped, said.error, said.rounds,
             graded.exact_match, graded.f1, judged.right if judged else None,
             judged.error if judged else "", said.tokens_in, said.tokens_out,
             sum(fate.reached for fate in fates))
        )  # fmt: skip

    def _question(
        self,
        key: tuple[str, int],
        taken: Taken,
        question: QuestionRecord,
        fates: Sequence[Fate],
    ) -> None:
        self._asked += 1
        composition = taken.composition
        reached = [fate for fate in fates if fate.reached]
        lost = [fate for fate in fates if not fate.reached]
        worst = min(lost, key=lambda fate: list(Stage).index(fate.stage), default=None)
        stage = str(worst.stage) if worst else (str(Stage.REACHED) if fates else None)
        self._rows["questions"].append(
            (*key, question.id, question.text, question.kind,
             question.language or self._talk.language, question.paraphrased, question.answerable,
             question.answer, question.asked_at, age_days(self._talk, question),
             question.evidence, len(reached), sum(fate.stage is Stage.CUT for fate in fates),
             bool(reached), bool(fates) and not lost,
             sorted({str(layer) for fate in reached for layer in fate.layers}), stage,
             str(worst.layers[0]) if worst and worst.layers else None,
             worst.detail if worst else "",
             composition.account.total + taken.tool_characters,
             composition.account.row(Layer.EXCERPTS).received, taken.tool_characters)
        )  # fmt: skip
        self._rows["evidence"] += [
            (*key, question.id, fate.message, fate.stage, fate.layers, fate.detail, fate.rank,
             fate.score)
            for fate in fates
        ]  # fmt: skip
        wanted = set(question.evidence)
        self._rows["scores"] += [
            (*key, question.id, item.id, item.place, item.score, item.id in wanted)
            for item in composition.items
            if item.layer is Layer.EXCERPTS
        ]

    def take(self) -> dict[str, pa.Table]:
        """The rows gathered since the last call, as Arrow tables by name; they are forgotten here,
        so that a long conversation need not be held whole."""
        taken = {name: _table(SCHEMAS[name], rows) for name, rows in self._rows.items()}
        for rows in self._rows.values():
            rows.clear()
        return taken

    def tables(self) -> dict[str, pa.Table]:
        """The last rows, and the conversation's own."""
        talk = self._talk
        self._rows["conversations"].append(
            (talk.id, talk.title, talk.language, self._turns, self._asked, to_line(talk))
        )
        return self.take()


def age_days(talk: ConversationRecord, question: QuestionRecord) -> float | None:
    """From the newest evidence to the moment of asking, in days; None without evidence."""
    wanted = set(question.evidence)
    times = [m.time for thread in talk.threads for m in thread.messages if m.id in wanted]
    return (question.asked_at - max(times)) / timedelta(days=1) if times else None


def _table(schema: pa.Schema, rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [pa.array(list(c), f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
