"""The memory of an agent: notes, conversation search, one prompt composer with a budget."""

from memcore import passages
from memcore.brains import anthropic_request, openai_messages
from memcore.composer.render import shows
from memcore.curator import Report
from memcore.embedders import CachedEmbedder, embedder_named
from memcore.embedders import choose as choose_embedder
from memcore.errors import InvalidInput, MnemoscopeError, NotFound, PackageRefused, ProviderError
from memcore.memory import Memory, open_memory
from memcore.package import (
    Exported,
    Imported,
    Package,
    export_package,
    import_package,
    read_package,
)
from memcore.ports import Embedder, LearningEmbedder, Proposer, Summarizer
from memcore.ranking import relevant
from memcore.settings import Settings, cache_folder, load_settings
from memcore.text import local_day, query_stems, real_words
from memcore.text import sentences as text_sentences
from memcore.text import stems as text_stems
from memcore.types import (
    PAGE,
    Account,
    Composition,
    Cutoff,
    EmbedRole,
    Item,
    Layer,
    LayerAccount,
    Matrix,
    Message,
    Note,
    Owner,
    PassageKind,
    PromptLayer,
    ProviderIdentity,
    QueuedPassage,
    Reason,
    Summary,
    Turn,
)

__version__ = "0.1.0"

__all__ = [
    "PAGE",
    "Account",
    "CachedEmbedder",
    "Composition",
    "Cutoff",
    "EmbedRole",
    "Embedder",
    "Exported",
    "Imported",
    "InvalidInput",
    "Item",
    "Layer",
    "LayerAccount",
    "LearningEmbedder",
    "Matrix",
    "Memory",
    "Message",
    "MnemoscopeError",
    "NotFound",
    "Note",
    "Owner",
    "Package",
    "PackageRefused",
    "PassageKind",
    "PromptLayer",
    "Proposer",
    "ProviderError",
    "ProviderIdentity",
    "QueuedPassage",
    "Reason",
    "Report",
    "Settings",
    "Summarizer",
    "Summary",
    "Turn",
    "anthropic_request",
    "cache_folder",
    "choose_embedder",
    "embedder_named",
    "export_package",
    "import_package",
    "load_settings",
    "local_day",
    "open_memory",
    "openai_messages",
    "passages",
    "query_stems",
    "read_package",
    "real_words",
    "relevant",
    "shows",
    "text_sentences",
    "text_stems",
]
