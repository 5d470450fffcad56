"""The memory of an agent: notes, conversation search, one prompt composer with a budget."""

from memcore.brains import anthropic_request, openai_messages
from memcore.composer.render import shows
from memcore.errors import InvalidInput, MnemoscopeError, NotFound
from memcore.memory import Memory, open_memory
from memcore.settings import Settings, load_settings
from memcore.text import local_day, query_stems
from memcore.text import stems as text_stems
from memcore.types import (
    PAGE,
    Account,
    Composition,
    Item,
    Layer,
    LayerAccount,
    Message,
    Note,
    Owner,
    PromptLayer,
    Reason,
    Summary,
    Turn,
)

__version__ = "0.1.0"

__all__ = [
    "PAGE",
    "Account",
    "Composition",
    "InvalidInput",
    "Item",
    "Layer",
    "LayerAccount",
    "Memory",
    "Message",
    "MnemoscopeError",
    "NotFound",
    "Note",
    "Owner",
    "PromptLayer",
    "Reason",
    "Settings",
    "Summary",
    "Turn",
    "anthropic_request",
    "load_settings",
    "local_day",
    "open_memory",
    "openai_messages",
    "query_stems",
    "shows",
    "text_stems",
]
