"""How fast vectors are stored and searched, and how much memory that takes; embedding cost apart.

The vectors are random directions, which is the worst case for nothing: an exact search looks at all
of them whatever they are.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time as clocks
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.bench import _timed, spread
from eval.happenings import VirtualClock
from memcore import (
    EmbedRole,
    Matrix,
    Memory,
    Message,
    Owner,
    ProviderIdentity,
    QueuedPassage,
    Settings,
    open_memory,
)

SIZES = (1_000, 10_000, 100_000)
WIDTH = 384
LIMIT = 100
QUERIES = 50
DURABILITY = "synchronous=NORMAL: survives the death of the process, not a power cut"
_OWNER = Owner("bench", "assistant", "person")
_IDENTITY = ProviderIdentity("bench", "random", "1", WIDTH)
_AT_ONCE = 1_000


class _Given:
    """Gives the vector of the number that a text ends with, and takes the time of that."""

    identity = _IDENTITY

    def __init__(self, vectors: Matrix) -> None:
        self.seconds = 0.0
        self._vectors = vectors

    def embed(self, texts: Sequence[str], role: EmbedRole) -> Matrix:  # noqa: ARG002
        began = clocks.perf_counter()
        found: Matrix = self._vectors[[int(text.rsplit(" ", 1)[1]) for text in texts]]
        self.seconds += clocks.perf_counter() - began
        return found


def bench_index(
    sizes: Sequence[int] = SIZES, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Indexes and searches stores of several sizes; a row a size."""
    rows = []
    for size in sizes:
        say(f"{size:,} passages …")
        with tempfile.TemporaryDirectory(prefix="mnemoscope-bench-") as folder:
            rows.append(_index_of(Path(folder) / "memory.db", size))
    return {
        "width": WIDTH,
        "limit": LIMIT,
        "queries": QUERIES,
        "durability": DURABILITY,
        "rows": rows,
    }


def as_text(measured: dict[str, Any]) -> str:
    """The table of sizes."""
    head = f"vectors of {measured['width']}, the best {measured['limit']}"
    names = ("search", "numpy product")
    lines = [
        f"{head} of {measured['queries']} queries; milliseconds, median (p95)",
        measured["durability"],
        "{:>9}  {:>13}  {:>15}  {:>15}  ratio  {:>12}  {:>11}  store MiB".format(
            "passages", "index µs each", *names, "first search", "peak memory"
        ),
    ]
    for row in measured["rows"]:
        search, product = (
            f"{row[name]['median']:.2f} ({row[name]['p95']:.2f})" for name in ("search", "product")
        )
        lines.append(
            f"{row['passages']:>9,}  {row['index_microseconds']:>13.1f}  {search:>15}  "
            f"{product:>15}  {row['search_to_product']:>5}  {row['first_search']:>12.1f}  "
            f"{row['peak_to_vectors']:>9.2f} ×  {row['store_bytes'] / 2**20:>9.1f}"
        )
    return "\n".join(lines)


def _index_of(path: Path, size: int) -> dict[str, Any]:
    vectors, asked = _directions(size, 1), _directions(QUERIES, 2)
    embedder = _Given(vectors)
    memory = _opened(path, embedder)
    _say_all(memory, size)
    began = clocks.perf_counter()
    done = memory.index.drain(_OWNER)
    seconds = clocks.perf_counter() - began - embedder.seconds
    if done.embedded != size:
        raise RuntimeError(f"{done.embedded} of {size} passages were indexed: {done.error}")
    memory.close()

    memory = _opened(path, embedder)
    first = _timed(_search, memory, asked[0])
    searches, products = [], []
    for query in asked:
        products.append(_timed(np.matmul, vectors, query))
        searches.append(_timed(_search, memory, query))
    memory.close()
    ours, plain = spread(searches), spread(products)
    return {
        "passages": size,
        "index_microseconds": round(seconds / size * 1e6, 1),
        "search": ours._asdict(),
        "product": plain._asdict(),
        "search_to_product": round(ours.median / plain.median, 2),
        "first_search": round(first * 1000, 1),
        "peak_to_vectors": round(_peak_of_a_search(path) / vectors.nbytes, 2),
        "store_bytes": sum(one.stat().st_size for one in path.parent.glob("memory.db*")),
    }


def _opened(path: Path, embedder: _Given | None) -> Memory:
    settings = Settings(layer_seconds=None)
    return open_memory(path, VirtualClock(), settings, durable=False, embedder=embedder)


def _say_all(memory: Memory, size: int) -> None:
    """Stores as many messages, each queued; without stems, for this is not about words."""
    time = VirtualClock().now()
    for first in range(0, size, _AT_ONCE):
        with memory.store.transaction() as tx:
            for number in range(first, min(first + _AT_ONCE, size)):
                id = f"m{number:06d}"
                said = Message(id, "main", "user", "Anna", time, f"passage {number}")
                tx.messages.append(_OWNER, said, ())
                tx.queue.add(_OWNER, QueuedPassage("message", id, 1))


def _search(memory: Memory, query: Matrix) -> Sequence[Any]:
    with memory.store.reading() as parts:
        return parts.vectors.nearest(_OWNER, _IDENTITY, "message", query, LIMIT)


def _directions(count: int, seed: int) -> Matrix:
    rows = np.random.default_rng(seed).standard_normal((count, WIDTH), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def _peak_of_a_search(path: Path) -> int:
    """Bytes by which opening a store and searching it once raises a new process's peak memory."""
    code = "import sys; from eval.bench_index import report_peak; report_peak(sys.argv[1])"
    ended = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    return int(json.loads(ended.stdout)["bytes"])


def report_peak(path: str) -> None:
    """Prints what `_peak_of_a_search` measures; for the process that it starts."""
    query = _directions(1, 2)[0]
    _ = _directions(64, 3) @ query  # what the product itself takes is not the store's
    before = _peak()
    memory = _opened(Path(path), None)
    _search(memory, query)
    after = _peak()
    memory.close()
    print(json.dumps({"bytes": after - before}))


def _peak() -> int:
    """The most memory that this program has held, in bytes.

    On Linux not what `resource` says, which a process starts with from the one that started it.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024
