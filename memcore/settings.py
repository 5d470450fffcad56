"""Every number of the product, named, with its default and its bounds.

The only module of `memcore` that reads the environment: `MNEMOSCOPE_CEILING=12000` sets
`ceiling`. All sizes are in characters.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from memcore.errors import InvalidSettings
from memcore.types import Cutoff, PassageKind, ProviderIdentity, SearchMode

LARGEST = 10**12
"""The most that a size or a count may be set to."""


class Settings(BaseSettings):
    """How the memory behaves. A layer with a cap of 0 is switched off."""

    model_config = SettingsConfigDict(
        env_prefix="MNEMOSCOPE_", frozen=True, extra="forbid", allow_inf_nan=False
    )

    ceiling: int = Field(
        default=18_000, ge=0, le=LARGEST, description="the whole prefix, the persona apart"
    )
    summary_cap: int = Field(default=2_000, ge=0, le=LARGEST, description="the summary layer")
    notes_cap: int = Field(default=6_000, ge=0, le=LARGEST, description="the notes layer")
    excerpts_cap: int = Field(default=2_000, ge=0, le=LARGEST, description="the excerpts layer")
    window_cap: int = Field(
        default=8_000, ge=0, le=LARGEST, description="last exchange and deeper window together"
    )

    excerpts_limit: int = Field(default=4, ge=0, le=LARGEST, description="excerpts a turn")
    excerpt_size: int = Field(default=500, ge=40, le=LARGEST, description="one excerpt")
    note_size: int = Field(default=2_000, ge=1, le=LARGEST, description="any one note")

    min_real_words: int = Field(
        default=2, ge=0, le=LARGEST, description="a message with fewer is not searched"
    )
    search_mode: SearchMode = Field(default="lexical", description="how excerpts are found")
    search_depth: int = Field(
        default=100, ge=1, le=LARGEST, description="hits ranked and accounted for a search"
    )
    excerpts_cutoff: float | None = Field(
        default=None, description="score from which a hit may be quoted; none: nothing is cut"
    )
    provider: str | None = Field(
        default=None,
        description="what embeds text: auto, packaged, tfidf, sentence-transformers:MODEL, "
        "openai:MODEL@URL; none: no vectors",
    )
    meaning_weight: float = Field(
        default=0.6, ge=0, le=1, description="share of meaning beside words in a hybrid search"
    )
    meaning_power: float = Field(
        default=1.5,
        gt=0,
        le=10,
        description="power of how far a message stands out by meaning: above 1 the few that stand "
        "out count for more than the many that are somewhat near",
    )
    cutoffs: tuple[Cutoff, ...] = Field(
        default=(), description="calibrated cutoffs, each for one provider and kind of passage"
    )
    neighbour_weight: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="share of a neighbour's score that counts, halving with each further message",
    )
    neighbour_reach: int = Field(
        default=3, ge=0, le=20, description="how many messages away a neighbour counts"
    )
    day_boost: float = Field(
        default=1.5,
        ge=1,
        description="factor for messages of a day that the query names (yesterday)",
    )
    session_gap_minutes: int = Field(
        default=120, ge=1, le=LARGEST, description="silence after which a new session begins"
    )
    bm25_k1: float = Field(default=1.2, ge=0, description="BM25 term frequency saturation")
    bm25_b: float = Field(default=0.75, ge=0, le=1, description="BM25 length normalisation")

    curator: bool = Field(
        default=False, description="whether notes and summaries are written after a turn"
    )
    curator_exchanges: int = Field(
        default=4, ge=0, le=LARGEST, description="exchanges between two passes; 0: none is made"
    )
    curator_characters: int = Field(
        default=8_000, ge=1, le=LARGEST, description="or as many characters, whichever comes first"
    )

    timezone: str = Field(
        default="UTC", description="the owner's time zone, which decides what a day is"
    )
    layer_seconds: float | None = Field(
        default=2.0, gt=0, description="time limit of one layer's reading; none: no limit"
    )

    brain: str | None = Field(
        default=None,
        description="the model that answers and, where the curator is on, writes; "
        "openai:MODEL@URL or anthropic:MODEL",
    )
    brain_temperature: float | None = Field(
        default=0.0, ge=0, le=2, description="of brains whose API takes it; none: the model's own"
    )
    brain_max_output: int = Field(
        default=2_000, ge=1, le=LARGEST, description="tokens of one reply of a brain"
    )
    brain_seconds: float = Field(
        default=60.0, gt=0, description="time limit of one request to a brain, retries included"
    )
    agent_rounds: int = Field(
        default=8, ge=1, le=LARGEST, description="requests with tools that one answer may take"
    )
    agent_calls: int = Field(
        default=16, ge=0, le=LARGEST, description="tool calls that are run for one answer"
    )
    agent_seconds: float = Field(default=60.0, gt=0, description="time limit of one answer")
    tool_result_size: int = Field(default=4_000, ge=500, le=LARGEST, description="one tool result")

    @field_validator("cutoffs", mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        if not isinstance(given, str):
            return given
        try:
            return json.loads(given)
        except ValueError as error:
            raise ValueError("cutoffs are a JSON list of calibrated cutoffs") from error

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(f"unknown time zone {name!r}, give an IANA name") from error
        return name

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def cutoff(self, identity: ProviderIdentity, kind: PassageKind) -> Cutoff | None:
        """The cutoff that was calibrated for exactly this, None where none was."""
        found = [c for c in self.cutoffs if c.identity == identity and c.kind == kind]
        return found[-1] if found else None

    def vary(self, **changes: Any) -> Settings:
        """These settings with some changed.

        Values may be text, as on a command line. Raises `InvalidSettings` naming each unknown
        or unacceptable setting.
        """
        known = type(self).model_fields
        if unknown := sorted(set(changes) - set(known)):
            raise InvalidSettings(
                f"unknown setting {', '.join(unknown)}; known: {', '.join(sorted(known))}"
            )
        cleaned = {
            name: None if isinstance(value, str) and value.lower() in ("none", "") else value
            for name, value in changes.items()
        }
        try:
            return type(self)(**{**self.model_dump(), **cleaned})
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}, got {fault['input']!r}"
                for fault in error.errors()
            )
            raise InvalidSettings(f"settings not accepted: {faults}") from error


def cache_folder() -> Path:
    """Where what can be computed again is kept: `MNEMOSCOPE_CACHE`, else the folder that the
    platform has for that. It need not exist."""
    if given := os.environ.get("MNEMOSCOPE_CACHE"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (
            (Path(local) if local else Path.home() / "AppData" / "Local") / "mnemoscope" / "cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mnemoscope"
    given = os.environ.get("XDG_CACHE_HOME", "")
    # The specification of these folders has relative paths ignored.
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".cache") / "mnemoscope"


def api_key(name: str = "OPENAI_API_KEY") -> str | None:
    """The key that stands in this environment variable, None where none does."""
    return os.environ.get(name, "").strip() or None


def load_settings() -> Settings:
    """The defaults, as varied by the environment. Raises `InvalidSettings`."""
    try:
        return Settings()
    except ValidationError as error:
        faults = "; ".join(f"{fault['loc'][0]}: {fault['msg']}" for fault in error.errors())
        raise InvalidSettings(f"environment variables MNEMOSCOPE_*: {faults}") from error
