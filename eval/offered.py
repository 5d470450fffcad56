"""The text of everything that was offered to a turn's layers, kept or dropped."""

from __future__ import annotations

from eval.arms import arm_named
from eval.curating import Host, Passes
from eval.dataset import NoteRecord, SummaryRecord
from eval.happenings import Replayed, VirtualClock, happen, happenings, turn_message
from eval.turns import TurnView, settings_of
from memcore import Layer, Memory
from memcore.testing import InMemoryStore

Texts = dict[tuple[Layer, str], str]


def texts(view: TurnView) -> Texts:
    """The text of each item, by layer and id; of an excerpt, the messages that it quotes."""
    found = _written_before(view)
    for item in view.offered:
        if item.layer in (Layer.NOTES, Layer.SUMMARY):
            continue
        if item.kind == "excerpt":
            quoted = [view.messages[id] for id in item.covers if id in view.messages]
            said = "\n".join(f"{one.speaker}: {one.text}" for one in quoted)
            found[item.layer, item.id] = said
        elif item.id in view.messages:
            found[item.layer, item.id] = view.messages[item.id].text
    return found


def _written_before(view: TurnView) -> Texts:
    """Notes and summaries as they stood when the turn was composed; written through the gate."""
    clock, talk = VirtualClock(), view.talk
    settings = settings_of(view.run, talk)
    memory = Memory(InMemoryStore(), settings, clock)
    state = Replayed(memory, Host(memory, talk.owner, Passes()))
    arm = arm_named(view.run.manifest["arm"])
    found: Texts = {}
    turn = -1
    for happening in happenings(talk):
        turn += turn_message(talk, happening, arm) is not None
        if settings.curator or isinstance(happening, NoteRecord | SummaryRecord):
            happen(state, clock, talk, happening)
        if turn == view.number:
            break
    thread = str(view.row["thread"])
    if summary := memory.summaries.get(talk.owner, thread):
        found[Layer.SUMMARY, thread] = summary.text
    for item in view.offered:
        if item.layer is Layer.NOTES and (note := memory.notes.get(talk.owner, item.id)):
            found[Layer.NOTES, note.key] = note.text
    return found
