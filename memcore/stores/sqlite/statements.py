"""Named SQL statements and numbered migrations, read from the `sql` folder."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@cache
def statements(name: str) -> dict[str, str]:
    """The statements of `sql/<name>.sql` by the name in the `-- name:` line above each."""
    text = (files(__package__) / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- name: (\w+)$", text, flags=re.MULTILINE)
    return {key: sql.strip() for key, sql in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """The schema changes as (number, SQL script), in order, from 1 without a gap."""
    folder = files(__package__) / "sql" / "migrations"
    found = sorted(
        (int(file.name.split("_")[0]), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    )
    return tuple(found)


def to_microseconds(time: datetime) -> int:
    """Microseconds since 1970, exact."""
    return (time - _EPOCH) // _MICROSECOND


def to_time(microseconds: int) -> datetime:
    """The moment in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)
