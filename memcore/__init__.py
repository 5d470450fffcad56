"""The memory of an agent: notes, conversation search, one prompt composer with a budget."""

from memcore import passages
from memcore.brains import (
    AnthropicBrain,
    Limits,
    OpenAIBrain,
    ScriptedBrain,
    answer,
    anthropic_request,
    anthropic_tools,
    brain_named,
    openai_messages,
    openai_tools,
    validate_anthropic,
    validate_openai,
)
from memcore.composer import render
from memcore.composer.render import shows
from memcore.curator import Report
from memcore.dialogue import (
    Answer,
    CallRecord,
    CallsTurn,
    Outcome,
    Reply,
    ResultsTurn,
    Spoken,
    ToolCall,
    ToolResult,
    ToolSpec,
)
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
from memcore.ports import (
    Brain,
    Embedder,
    LearningEmbedder,
    Proposer,
    Summarizer,
    Toolbox,
)
from memcore.ranking import relevant
from memcore.settings import Settings, cache_folder, load_settings
from memcore.support import Verdict, supported
from memcore.text import local_day, query_stems, real_words
from memcore.text import sentences as text_sentences
from memcore.text import stems as text_stems
from memcore.toolbox import Tools
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
from memcore.writing import BrainProposer, BrainSummarizer

__version__ = "0.1.0"

__all__ = [
    "PAGE",
    "Account",
    "Answer",
    "AnthropicBrain",
    "Brain",
    "BrainProposer",
    "BrainSummarizer",
    "CachedEmbedder",
    "CallRecord",
    "CallsTurn",
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
    "Limits",
    "Matrix",
    "Memory",
    "Message",
    "MnemoscopeError",
    "NotFound",
    "Note",
    "OpenAIBrain",
    "Outcome",
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
    "Reply",
    "Report",
    "ResultsTurn",
    "ScriptedBrain",
    "Settings",
    "Spoken",
    "Summarizer",
    "Summary",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "Toolbox",
    "Tools",
    "Turn",
    "Verdict",
    "answer",
    "anthropic_request",
    "anthropic_tools",
    "brain_named",
    "cache_folder",
    "choose_embedder",
    "embedder_named",
    "export_package",
    "import_package",
    "load_settings",
    "local_day",
    "open_memory",
    "openai_messages",
    "openai_tools",
    "passages",
    "query_stems",
    "read_package",
    "real_words",
    "relevant",
    "render",
    "shows",
    "supported",
    "text_sentences",
    "text_stems",
    "validate_anthropic",
    "validate_openai",
]
