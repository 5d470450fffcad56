"""The command line of the memory: `python -m memcore doctor | reindex | export | import`."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from memcore.doctor import Health, KindHealth
from memcore.errors import InvalidInput, MnemoscopeError, NotFound, StoreDamaged
from memcore.indexing import Reindexed
from memcore.memory import Memory, open_memory
from memcore.package import Counts, export_package, import_package, read_package
from memcore.settings import load_settings
from memcore.types import Owner

LISTED = 20
"""Ids of one kind that are printed; the JSON has all."""

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Look after a store of memory.",
)
StorePath = Annotated[str, typer.Argument(help="a store's file")]
Provider = Annotated[
    str | None, typer.Option(help="what embeds text, for example packaged; MNEMOSCOPE_PROVIDER")
]
PackagePath = Annotated[Path, typer.Argument(help="a memory package, .zip")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


class _WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


@app.command("doctor")
def doctor_command(store: StorePath, provider: Provider = None, as_json: Json = False) -> None:
    """List what cannot be found by meaning, and vectors of nothing; exit status 1 where any is."""
    memory = _open(store, provider)
    try:
        found = [memory.index.health(owner) for owner in memory.store.owners()]
    finally:
        memory.close()
    ok = all(health.ok for health in found)
    if as_json:
        _print({"ok": ok, "owners": [_health_record(health) for health in found]})
    else:
        print("\n".join(_health_text(health) for health in found) or "nobody's memory is here")
        if found and found[0].identity is None:
            print("no provider is set: only vectors without an item were looked for")
        print(_verdict(found, ok, store))
    if not ok:
        raise typer.Exit(1)


@app.command("reindex")
def reindex_command(
    store: StorePath,
    provider: Provider = None,
    drop_others: Annotated[
        bool, typer.Option("--drop-others", help="drop the vectors of every other provider")
    ] = False,
    as_json: Json = False,
) -> None:
    """Embed what has no vectors of the provider; exit status 1 where something was left."""
    memory = _open(store, provider)
    try:
        done = memory.index.reindex(drop_others=drop_others, on_progress=_show_progress)
    finally:
        memory.close()
    if as_json:
        _print(asdict(done))
    else:
        print(_reindexed_text(done))
    if done.error:
        print(f"error: {done.error}", file=sys.stderr)
    if done.why_refused:
        print(f"refused, for example: {done.why_refused}", file=sys.stderr)
    if done.error or done.waiting:
        raise typer.Exit(1)


@app.command("export")
def export_command(
    store: StorePath,
    package: PackagePath,
    owner: Annotated[
        str, typer.Option(help=r"TEAM/AGENT/PERSON; a / within a name as \/, a \ as \\")
    ],
    force: Annotated[bool, typer.Option("--force", help="replace a file that is there")] = False,
    as_json: Json = False,
) -> None:
    """Write all of an owner's memory to a package."""
    memory = _open(store, None)
    try:
        whose = _known_owner(memory, owner)
        done = export_package(memory, whose, package, force=force)
    finally:
        memory.close()
    if as_json:
        _print({"package": str(package), "owner": asdict(whose), **asdict(done)})
    else:
        print(f"{escaped(whose)} to {package}: {_counted(done.counts)}")
        print(f"sha256 {done.sha256}")


@app.command("import")
def import_command(
    store: Annotated[str, typer.Argument(help="a store's file, made where there is none")],
    package: PackagePath,
    owner: Annotated[
        str | None, typer.Option(help="TEAM/AGENT/PERSON to put it under; the package's own")
    ] = None,
    provider: Provider = None,
    as_json: Json = False,
) -> None:
    """Take a package into a store, all of it or nothing; what is there already is skipped."""
    whose = None if owner is None else parsed_owner(owner)
    content = read_package(package, load_settings().note_size)  # before a store is made for it
    memory = _open(store, provider, new=True)
    try:
        done = import_package(memory, content, whose)
    finally:
        memory.close()
    if as_json:
        _print({"package": str(package), **asdict(done)})
    else:
        print(f"{package} to {escaped(done.owner)}: {_counted(done.counts)}")
        print(f"there already: {_counted(done.skipped)}")


def escaped(owner: Owner) -> str:
    """An owner as one word of a command line: `TEAM/AGENT/PERSON`."""
    names = (owner.team, owner.agent, owner.person)
    return "/".join(name.replace("\\", r"\\").replace("/", r"\/") for name in names)


def parsed_owner(text: str) -> Owner:
    """The owner that `escaped` writes so. Raises `InvalidInput` for anything else, and for one
    with an empty name."""
    names = [re.sub(r"\\(.)", r"\1", one) for one in re.findall(r"(?:^|/)((?:\\.|[^\\/])*)", text)]
    if len(names) != 3 or not all(names) or escaped(Owner(*names)) != text:
        raise InvalidInput(
            f"an owner is given as TEAM/AGENT/PERSON, with / in a name as \\/ and \\ as \\\\: "
            f"not as {text!r}"
        )
    return Owner(*names)


def _known_owner(memory: Memory, text: str) -> Owner:
    known = {escaped(one): one for one in memory.store.owners()}
    if text in known:
        return known[text]
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    listed = ", ".join([*known][:LISTED]) or "nobody"
    raise NotFound(f"nothing is stored under the owner {text}; there are: {listed}{more}")


def _counted(counts: Counts) -> str:
    return (
        "{notes} notes in {revisions} revisions, {messages} messages, {summaries} summaries, "
        "{events} events".format(**asdict(counts))
    )


def _open(store: str, provider: str | None, new: bool = False) -> Memory:
    path = Path(store.removeprefix("sqlite:///"))
    here = "://" not in store.removeprefix("sqlite:///")
    if here and not path.is_file() and not (new and path.parent.is_dir() and not path.exists()):
        raise NotFound(f"there is no store {path}")
    if path.is_file() and path.stat().st_size == 0:
        raise StoreDamaged(f"{path} is empty: it is no store")
    settings = load_settings()
    if provider is not None:
        settings = settings.vary(provider=provider)
    return open_memory(store, _WallClock(), settings)


def _verdict(found: list[Health], ok: bool, store: str) -> str:
    """Nothing is lost while it is queued; but it is not found by meaning either."""
    queued = sum(kind.waiting + kind.refused for health in found for kind in health.kinds)
    known = any(health.identity is not None for health in found)
    if not ok:
        return f"not ok: python -m memcore reindex {shlex.quote(store)} --provider …"
    if queued and known:
        noun = "item" if queued == 1 else "items"
        return (
            f"ok: nothing is lost, but {queued} queued {noun} cannot be found by meaning yet; "
            f"python -m memcore reindex {shlex.quote(store)} --provider … embeds them"
        )
    return "ok"


def _health_record(health: Health) -> dict[str, Any]:
    return {
        "owner": asdict(health.owner),
        "ok": health.ok,
        "provider": asdict(health.identity) if health.identity else None,
        "kinds": [asdict(kind) for kind in health.kinds],
        "invisible": [
            {"provider": asdict(identity), "kind": kind, "passages": passages}
            for identity, kind, passages in health.invisible
        ],
    }


def _health_text(health: Health) -> str:
    lines = [_named(health.owner)]
    if health.identity is not None:
        lines[0] += f", by {health.identity}"
    for one in health.kinds:
        lines.append(f"  {one.kind}s: {_counts(one, health.identity is not None)}")
        lines += _listed("without current vectors and not queued", one.missing)
        lines += _listed("vectors of nothing", one.orphans)
    for identity, kind, passages in health.invisible:
        lines.append(f"  invisible: {passages} passages of {kind}s by {identity}")
    return "\n".join(lines)


def _counts(one: KindHealth, known: bool) -> str:
    if not known:
        return f"{one.items} items, {one.waiting + one.refused} queued"
    parts = [f"{one.items} items", f"{one.current} current", f"{one.waiting} waiting"]
    parts += [f"{one.refused} refused"] if one.refused else []
    parts += [f"{one.stale} of an older revision"] if one.stale else []
    return ", ".join(parts)


def _listed(what: str, items: tuple[str, ...]) -> list[str]:
    if not items:
        return []
    more = f" and {len(items) - LISTED} more" if len(items) > LISTED else ""
    return [f"    {what}: {', '.join(items[:LISTED])}{more}"]


def _reindexed_text(done: Reindexed) -> str:
    text = f"{done.owners} owners, {done.items} items: {done.embedded} embedded"
    for count, what in (
        (done.refused, "refused"),
        (done.waiting, "still wait"),
        (done.dropped, "passages of other providers dropped"),
    ):
        text += f", {count} {what}" if count else ""
    return text


def _named(owner: Owner) -> str:
    return f"{owner.team} / {owner.agent} / {owner.person}"


def _show_progress(owner: Owner, done: int, of: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done >= of else ""
        print(f"\r{_named(owner)}: {done}/{of}\033[K", end=end, file=sys.stderr, flush=True)


def _print(value: dict[str, Any]) -> None:
    escaped = "utf" not in (sys.stdout.encoding or "").lower()
    print(json.dumps(value, ensure_ascii=escaped, indent=1))


def main() -> None:
    """Runs the command line; an error of Mnemoscope's is one message and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal need not know every character
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="python -m memcore")
    except MnemoscopeError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
