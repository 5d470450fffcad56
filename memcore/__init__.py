"""The memory of an agent: notes, conversation search, one prompt composer with a budget."""

from memcore.errors import MnemoscopeError
from memcore.memory import Memory, open_memory
from memcore.settings import Settings, load_settings
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
    "Item",
    "Layer",
    "LayerAccount",
    "Memory",
    "Message",
    "MnemoscopeError",
    "Note",
    "Owner",
    "PromptLayer",
    "Reason",
    "Settings",
    "Summary",
    "Turn",
    "load_settings",
    "open_memory",
]
