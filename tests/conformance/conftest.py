"""Every store, as a fixture: one suite runs over all of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from memcore.ports import Store
from memcore.stores.sqlite import SqliteStore
from memcore.testing import InMemoryStore

MakeStore = Callable[[], Store]


@pytest.fixture(params=["in memory", "sqlite"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """Makes new, empty stores of one kind; they are closed after the test."""
    with ExitStack() as opened:
        number = 0

        def make() -> Store:
            nonlocal number
            number += 1
            store: Store = InMemoryStore()
            if request.param == "sqlite":
                store = SqliteStore(tmp_path / f"store{number}.db", durable=False)
            opened.enter_context(closing(store))
            return store

        yield make


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store()
