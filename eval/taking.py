"""A turn as an arm takes it: composed, searched in the arm's way, and answered where a brain is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from eval.arms import Arm
from eval.dataset import ConversationRecord, QuestionRecord
from eval.evidence import Beside, Fate, trace
from eval.grep import with_grep
from eval.policy import searches
from eval.searching import Asked, SearchAlone, SearchesFirst, made, whole_message, with_calls
from memcore import (
    Answer,
    Brain,
    CallRecord,
    Composition,
    Layer,
    Limits,
    Memory,
    Message,
    Settings,
    answer,
    render,
)


@dataclass(frozen=True, slots=True)
class Taken:
    """A turn: its composition, the tool calls made in it, the answer where a brain was asked, and
    how long composing and answering took, in milliseconds."""

    composition: Composition
    calls: tuple[CallRecord, ...] = ()
    answer: Answer | None = None
    milliseconds: float = 0.0
    answer_milliseconds: float = 0.0

    @property
    def tool_characters(self) -> int:
        """What the tools' results added to what the model is sent."""
        return sum(len(call.result) for call in self.calls)


class Taker:
    """Takes the turns of one conversation in one arm.

    `memory` must be open with `arm.memory_settings(settings)`. `brain` answers questions; messages
    are composed, and by a policy searched where no brain decides, but answered by nobody.
    """

    def __init__(
        self,
        arm: Arm,
        memory: Memory,
        settings: Settings,
        talk: ConversationRecord,
        brain: Brain | None = None,
    ) -> None:
        self._arm = arm
        self._memory = memory
        self._settings = settings
        self._talk = talk
        self._brain = brain
        self._systems: dict[str, str] = {}

    def take(
        self,
        message: Message,
        said: Mapping[str, Message],
        *,
        question: bool,
        calls: Sequence[Asked] | None = None,
    ) -> Taken:
        """Takes a turn; `said` are the messages stored by then. With `calls` those are made, and
        nobody is asked."""
        began = perf_counter()
        composition = self._compose(message, said)
        spent = (perf_counter() - began) * 1000
        if calls is not None:
            tools = self._memory.tools(self._talk.owner, message.thread)
            return Taken(composition, made(tools, calls), None, spent)
        if self._brain is not None:
            return self._answered(composition, message, spent) if question else Taken(
                composition, milliseconds=spent
            )  # fmt: skip
        policy = self._arm.policy
        if policy is None or not searches(policy, message.text):
            return Taken(composition, milliseconds=spent)
        tools = self._memory.tools(self._talk.owner, message.thread)
        return Taken(composition, made(tools, [whole_message(message.text)]), None, spent)

    def _compose(self, message: Message, said: Mapping[str, Message]) -> Composition:
        talk, thread = self._talk, message.thread
        composition = self._memory.compose(talk.owner, thread, message, talk.persona)
        if not self._arm.grep:
            return composition
        composition = with_grep(composition, message, said.values(), self._settings)
        before = self._systems.get(thread)
        self._systems[thread] = composition.system
        same = None if before is None else render.common_prefix(composition.system, before)
        return replace(composition, account=replace(composition.account, unchanged=same))

    def _answered(self, composition: Composition, message: Message, spent: float) -> Taken:
        assert self._brain is not None
        brain, tools = self._brain, None
        if self._arm.policy is not None:
            tools = SearchAlone(self._memory.tools(self._talk.owner, message.thread))
            if self._arm.policy == "always":
                brain = SearchesFirst(brain, message.text)
        began = perf_counter()
        answered = answer(brain, composition, tools, Limits.of(self._settings))
        taken = (perf_counter() - began) * 1000
        return Taken(composition, answered.calls, answered, spent, taken)


def fates_of(
    taken: Taken, arm: Arm, question: QuestionRecord, stored: Mapping[str, Message]
) -> list[Fate]:
    """The fate of each evidence message of a question in a turn that an arm took. `stored` is what
    was stored by then."""
    fates = trace(taken.composition, question.evidence, stored, question.answer)
    if arm.grep:
        return [fate._replace(layers=_by_grep(fate)) for fate in fates]
    return with_calls(fates, taken.calls, stored) if arm.policy else fates


def _by_grep(fate: Fate) -> tuple[Layer | Beside, ...]:
    return tuple(Beside.GREP if one is Layer.EXCERPTS else one for one in fate.layers)
