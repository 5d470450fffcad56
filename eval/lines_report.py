"""The lines that a run's curator wrote, each with the messages it cites, for somebody to read."""

from __future__ import annotations

import random
from typing import Any

from eval.runs import Run, records
from eval.turns import load_conversation
from memcore import Message


def curated_lines(
    run: Run, sample: int | None = None, seed: int = 0, refused: bool = False
) -> list[dict[str, Any]]:
    """The lines written, or those refused, in the order of writing: `conversation`, `time`,
    `thread`, `key` (of the note), `line`, `refused` (why), and `said`, the messages cited.

    With a `sample` so many of them, drawn at random; the same seed draws the same.
    """
    found = records(
        run.query(
            "SELECT conversation, time, thread, key, line, sources, refused FROM {lines} "
            f"WHERE refused IS {'NOT ' * refused}NULL ORDER BY conversation, time, line"
        )
    )
    if sample is not None and sample < len(found):
        chosen = set(random.Random(seed).sample(range(len(found)), sample))
        found = [row for at, row in enumerate(found) if at in chosen]
    said = {
        name: {one.id: one for one in load_conversation(run, name).messages()}
        for name in {row["conversation"] for row in found}
    }
    return [
        {
            **{name: row[name] for name in ("conversation", "thread", "key", "line", "refused")},
            "time": row["time"].isoformat(),
            "said": [
                _said(said[row["conversation"]].get(id), id) for id in map(str, row["sources"])
            ],
        }
        for row in found
    ]


def _said(message: Message | None, id: str) -> dict[str, Any]:
    if message is None:
        return {"id": id, "speaker": None, "text": None}
    return {"id": id, "speaker": message.speaker, "text": message.text}


def lines_text(lines: list[dict[str, Any]]) -> str:
    """The lines as text, each above what it cites."""
    told = []
    for row in lines:
        why = f"  refused: {row['refused']}" if row["refused"] else ""
        told.append(f"{row['conversation']}, {row['time'][:10]}: {row['line']}{why}")
        told += [f"    {one['id']}, {one['speaker']}: {one['text']}" for one in row["said"]]
    return "\n".join(told)
