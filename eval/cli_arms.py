"""`python -m eval arms`: every arm on one dataset, side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.arms import ARMS, arms_named
from eval.arms_report import compare_arms
from eval.arms_run import replay_arms
from eval.arms_text import arms_text
from eval.loaders import AUTO, FORMATS, load
from eval.recall import DAYS, age_bands
from eval.replay import Progress
from eval.terminal import harmless, print_json, say
from eval.turns import parse_changes
from eval.workplace import runs_folder

app = typer.Typer()


@app.command("arms")
def arms_command(
    dataset: Annotated[
        str, typer.Argument(help="a file, a folder, or the name of a bundled dataset (shop)")
    ],
    format: Annotated[str, typer.Option(help=", ".join((AUTO, *FORMATS)))] = AUTO,
    arms: Annotated[
        str, typer.Option(help=f"with commas between: {', '.join(ARMS)}", show_default="all")
    ] = "",
    brain: Annotated[
        str | None, typer.Option(help="what answers the questions: openai:MODEL@URL, …")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="the model that grades the answers; left out: nobody does")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="a setting, as name=value; may be repeated")
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="lexical, semantic or hybrid: how excerpts are found")
    ] = None,
    provider: Annotated[
        str | None, typer.Option(help="what embeds text: auto, packaged, tfidf, …")
    ] = None,
    days: Annotated[int, typer.Option(help="from this age in days on an answer is old")] = DAYS,
    limit: Annotated[int | None, typer.Option(help="only the first N conversations")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="folder of runs; MNEMOSCOPE_RUNS, else ./runs")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="what the runs' names begin with: NAME-ARM")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Replay a dataset by every arm and set them side by side.

    Runs that are complete already are kept, unfinished ones are gone on with.
    """
    chosen = arms_named(arms)
    age_bands(days)  # it is refused before anything is replayed
    changes: dict[str, Any] = dict(parse_changes(set_ or []))
    given = {"brain": brain, "search_mode": mode, "provider": provider}
    changes |= {key: value for key, value in given.items() if value is not None}
    loaded = load(dataset, format, limit)
    made = replay_arms(
        loaded,
        out or runs_folder(),
        chosen,
        changes=changes,
        judge=judge,
        limit=limit,
        prefix=name,
        on_progress=_show_progress,
    )
    for one in made:
        say(f"  {one.run.name}{' (kept)' if one.kept else ''}")
    again = [one.run for one in made if one.kept and one.run.manifest["results"]["inconclusive"]]
    for run in again:
        say(f"  {run.name} is inconclusive: to ask again, delete {run.folder} or give --name")
    report = compare_arms([one.run for one in made], days)
    if as_json:
        kept = {one.run.name: one.kept for one in made}
        print_json({"dataset": loaded.name, "kept": kept, **report.plain()})
    else:
        print(harmless(arms_text(report)))


def _show_progress(arm: str, progress: Progress) -> None:
    if sys.stderr.isatty():
        end = "\n" if progress.share >= 1 else ""
        told = f"\r{arm}: {progress.turns}/{progress.of_turns} turns\033[K"
        print(told, end=end, file=sys.stderr, flush=True)
