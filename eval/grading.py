"""An answer, graded: against the gold answer by its words, and by a judge where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from eval.dataset import QuestionRecord
from eval.errors import RunError
from eval.judge import Judge, Judgement
from eval.squad import exact_match, f1
from memcore import Answer

FAILED = ("error", "too slow")
"""How an answer ended that is none: the provider failed or was too slow, or the model refused."""


MOST_IN_A_ROW = 5
"""Answers that fail one after the other before a replay stops: a wrong key or a dead server would
fail them all, slowly."""


@dataclass(slots=True)
class Patience:
    """How many answers have failed in a row."""

    run: str
    failed: int = 0

    def saw(self, answer: Answer) -> None:
        """Raises `RunError`, with the reason and the way on, where it is one too many."""
        self.failed = self.failed + 1 if answer.stopped in FAILED else 0
        if self.failed >= MOST_IN_A_ROW:
            raise RunError(
                f"the brain failed {self.failed} questions in a row, the last with: "
                f"{answer.error}. The run is unfinished: mend that, and go on with --resume "
                f"{self.run}, or with the same arms command"
            )


@dataclass(frozen=True, slots=True)
class Graded:
    """An answer and its grades.

    `exact_match` and `f1` are None where there is no gold answer to compare with, `judgement` where
    nobody judged. A failed answer is graded as the empty one and not shown to a judge: it is wrong.
    """

    answer: Answer
    exact_match: bool | None
    f1: float | None
    judgement: Judgement | None
    judge_milliseconds: float = 0.0


def grade(answer: Answer, question: QuestionRecord, judge: Judge | None) -> Graded:
    """Grades an answer. A question that cannot be answered has no words to compare with; to abstain
    from it is right, which only a judge can tell."""
    gold = question.answer if question.answerable else None
    failed = answer.stopped in FAILED
    text = "" if failed else answer.text
    exact = exact_match(text, gold) if gold is not None else None
    overlap = f1(text, gold) if gold is not None else None
    if judge is None or (gold is None and question.answerable):
        return Graded(answer, exact, overlap, None)
    if failed:
        return Graded(answer, exact, overlap, Judgement(False))
    began = perf_counter()
    judgement = judge.judge(question.text, gold, text)
    return Graded(answer, exact, overlap, judgement, (perf_counter() - began) * 1000)
