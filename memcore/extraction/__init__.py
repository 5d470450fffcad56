"""Explicit statements of a person, found without a model, in Russian and English.

A statement is taken over as an attributed quotation, `Anna: "My size is 38"`: its language,
numbers and negation are those of the source, whatever the sentence. What is asked, supposed,
reported of others, quoted or told to the assistant is no statement.
"""

from memcore.extraction.quotation import Attributed, attributed, quotation, speaker_of
from memcore.extraction.screen import is_instruction
from memcore.extraction.statements import Statement, propose, statements, subject_of

__all__ = [
    "Attributed",
    "Statement",
    "attributed",
    "is_instruction",
    "propose",
    "quotation",
    "speaker_of",
    "statements",
    "subject_of",
]
