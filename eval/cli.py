"""The command line: `python -m eval replay | recall | show | runs | bench | …`."""

from __future__ import annotations

import io
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from eval import cli_arms, cli_calibrate, support_report
from eval.answers import failures_in_words, reasons
from eval.arms import ARMS
from eval.background import ReplayRequest, request_to_resume
from eval.calibration_records import cutoffs_as_text, load_cutoffs
from eval.errors import RunError
from eval.lines_report import curated_lines, lines_text
from eval.loaders import AUTO, FORMATS, load
from eval.overview import overview
from eval.providers import cache_problem, cutoffs_in_words
from eval.recall import DAYS, report
from eval.replay import Progress, replay
from eval.runs import Run, find_run, inspect_run, list_runs, records
from eval.stats import percent
from eval.terminal import harmless
from eval.terminal import print_json as _print
from eval.terminal import say as _say
from eval.text_report import recall_text, turn_text
from eval.turns import find_question, load_turn, parse_changes
from eval.workplace import runs_folder
from memcore import MnemoscopeError, openai_messages

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Replay dated conversations through the memory and measure what reached each prompt.",
)
app.add_typer(cli_arms.app)
app.add_typer(cli_calibrate.app)
app.add_typer(support_report.app)
Out = Annotated[
    Path | None, typer.Option("--out", help="folder of runs; MNEMOSCOPE_RUNS, else ./runs")
]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


@app.command("replay")
def replay_command(
    dataset: Annotated[
        str | None,
        typer.Argument(help="a file, a folder, or the name of a bundled dataset (shop)"),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help=", ".join((AUTO, *FORMATS)), show_default=AUTO)
    ] = None,
    arm: Annotated[
        str | None, typer.Option(help=", ".join(ARMS), show_default="first-search")
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
    cutoffs: Annotated[
        Path | None, typer.Option(help="calibrated cutoffs, as calibrate --save writes them")
    ] = None,
    brain: Annotated[
        str | None, typer.Option(help="what answers the questions: openai:MODEL@URL, …")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="the model that grades the answers; left out: nobody does")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="only the first N conversations")] = None,
    out: Out = None,
    name: Annotated[str | None, typer.Option(help="name of the run")] = None,
    resume: Annotated[
        str | None, typer.Option(help="an unfinished run to go on with, as it was begun")
    ] = None,
    as_json: Json = False,
) -> None:
    """Replay a dataset and write a run."""
    changes, folder = parse_changes(set_ or []), out or runs_folder()
    changes |= {"search_mode": mode} if mode is not None else {}
    changes |= {"provider": provider} if provider is not None else {}
    changes |= {"brain": brain} if brain is not None else {}
    changes |= {"cutoffs": cutoffs_as_text(load_cutoffs(cutoffs))} if cutoffs is not None else {}
    asked = ReplayRequest(dataset or "", name=name)
    if resume is not None:
        if name is not None:
            raise RunError("give --resume or --name, not both: a run goes on under its own name")
        begun = find_run(resume, folder)
        asked, folder = request_to_resume(inspect_run(begun), dataset), begun.parent
    # what is given besides must be as the run was begun; the replay checks it
    asked = replace(
        asked,
        format=format or asked.format,
        arm=arm or asked.arm,
        changes=changes or asked.changes,
        limit=limit if limit is not None else asked.limit,
        judge=judge or asked.judge,
    )
    if not asked.dataset:
        raise MnemoscopeError("name a dataset: a file, a folder, or a bundled one such as shop")
    loaded = load(asked.dataset, asked.format, asked.limit)
    _say(_counts(loaded.counts))
    for repair in loaded.repairs:
        _say(f"  repaired: {repair.where}: {repair.what}")
    run = replay(
        loaded,
        folder,
        arm=asked.arm,
        changes=dict[str, Any](asked.changes),
        name=asked.name,
        on_progress=_show_progress,
        limit=asked.limit,
        judge=asked.judge,
    )
    for refused in run.manifest["refused"]:
        _say(f"  left out: {refused}")
    if as_json:
        _print({"run": run.name, "folder": str(run.folder), **run.manifest})
        return
    searched, embedded = run.manifest["settings"]["search_mode"], run.manifest["provider"]
    if searched != "lexical" and embedded is None:
        _say(f"  {searched} was asked, no provider is set: messages were searched by their words")
    if embedded is not None:
        why = f" ({embedded['why']})" if embedded["why"] else ""
        _say(f"  provider {embedded['label']}{why}")
        if problem := cache_problem(embedded["name"]):
            _say(f"  {problem}")
    if told := cutoffs_in_words(run.manifest):
        _say(f"  {told}")
    results = run.manifest["results"]
    errors = results["provider_errors"]
    seconds = run.manifest["duration_seconds"]
    print(f"run {run.name} in {run.folder}")
    print(
        f"{results['turns']} turns in {seconds:.1f} s ({results['turns'] / max(seconds, 1e-9):.0f} "
        f"a second), {results['characters_per_turn']:,.0f} characters a turn, "
        f"{results['failed_layers']} failed layers"
        + (f", {errors} turns that the provider failed" if errors else "")
    )
    if curated := run.manifest["curator"]:
        print("curator: " + ", ".join(f"{count:,} {name}" for name, count in curated.items()))
    if told := failures_in_words(results["failures"]):
        print("\n".join([told, *(f"  most often: {harmless(why)}" for why in reasons(run))]))
    print(f"next: python -m eval recall {shlex.quote(run.name)}")


@app.command("recall")
def recall_command(
    run: Annotated[str, typer.Argument(help="a run's name or folder")],
    days: Annotated[int, typer.Option(help="from this age in days on an answer is old")] = DAYS,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """How often the answer's evidence was in the prompt, by its age, and where it was lost."""
    measured = report(_open(run, out), days)
    if as_json:
        _print(measured)
    else:
        print(recall_text(measured))


@app.command("show")
def show_command(
    run: Annotated[str, typer.Argument(help="a run's name or folder")],
    question: Annotated[str, typer.Argument(help="a question's id, or CONVERSATION/ID")],
    out: Out = None,
    as_json: Json = False,
) -> None:
    """One question's composed prompt and its account."""
    opened = _open(run, out)
    view = load_turn(opened, *find_question(opened, question))
    if as_json:
        _print(
            {
                "run": opened.name,
                "turn": _plain(pd.DataFrame([view.row]))[0],
                "question": _plain(pd.DataFrame([view.question]))[0],
                "evidence": [fate._asdict() for fate in view.fates],
                "layers": _plain(view.layers),
                "items": _plain(view.items),
                "calls": _plain(view.calls),
                "answer": _plain(pd.DataFrame([view.answer]))[0] if view.answer else None,
                "messages": openai_messages(view.system, view.turns),
            }
        )
        return
    print(harmless(turn_text(view)))


@app.command("lines")
def lines_command(
    run: Annotated[str, typer.Argument(help="a run's name or folder")],
    sample: Annotated[
        int | None, typer.Option(min=1, help="so many, drawn at random; left out: all")
    ] = None,
    seed: Annotated[int, typer.Option(help="of the draw")] = 0,
    refused: Annotated[bool, typer.Option("--refused", help="those that were refused")] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """What the curator wrote, line by line, with the messages that each line cites."""
    found = curated_lines(_open(run, out), sample, seed, refused)
    if as_json:
        _print({"run": run, "lines": found})
        return
    print(harmless(lines_text(found)) if found else "none; replay with --set curator=true")


@app.command("runs")
def runs_command(out: Out = None, as_json: Json = False) -> None:
    """List the runs of a folder."""
    folder = out or runs_folder()
    found = list_runs(folder)
    if as_json:
        _print({"runs": [{**r.manifest, "name": r.name, "problem": r.problem} for r in found]})
        return
    for row in records(overview(found)):
        result = f"{percent(row['reached'])} of {row['count']:.0f} old answers"
        how = ", ".join(part for part in (row["arm"], row["provider"], row["changed"]) if part)
        told = row["problem"] or (result if row["count"] > 0 else "–")
        unsure = f"; {row['inconclusive']}" if row["inconclusive"] else ""
        print(f"{row['run']}  {told}{unsure}  ({how})")
    if not found:
        print(f"no runs in {folder}; make one with python -m eval replay shop")


@app.command("bench")
def bench_command(
    what: Annotated[str, typer.Argument(help="compose, curator, index, replay, runs")],
    dataset: Annotated[
        str | None, typer.Option(help="for replay and curator: another dataset")
    ] = None,
    sizes: Annotated[
        str, typer.Option(help="for compose: messages in the store; for index: passages")
    ] = "",
    turns: Annotated[int, typer.Option(min=1, help="for runs: turns of the run")] = 50_000,
    as_json: Json = False,
) -> None:
    """Measure speed and memory on this machine."""
    from eval import bench, bench_curator, bench_index  # only this command needs them

    if what == "compose":
        measured = bench.bench_compose(_sizes(sizes) if sizes else bench.SIZES, _say)
    elif what == "curator":
        measured = bench_curator.bench_curator(dataset)
    elif what == "index":
        measured = bench_index.bench_index(_sizes(sizes) if sizes else bench_index.SIZES, _say)
    elif what == "replay":
        measured = bench.bench_replay(dataset)
    elif what == "runs":
        measured = bench.bench_runs(turns, _say)
    else:
        known = "compose, curator, index, replay, runs"
        raise MnemoscopeError(f"there is no benchmark {what!r}; there are {known}")
    if as_json:
        _print(measured)
    else:
        print((bench_index if what == "index" else bench).as_text(measured))


def _open(run: str, out: Path | None) -> Run:
    return Run(find_run(run, out or runs_folder()))


def _sizes(given: str) -> list[int]:
    sizes = [int(one) for one in given.split(",") if one.strip().isdecimal()]
    if len(sizes) < given.count(",") + 1 or min(sizes) < 1:
        raise MnemoscopeError(f"sizes are numbers from 1 on with commas between, not {given!r}")
    return sizes


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _show_progress(progress: Progress) -> None:
    if not sys.stderr.isatty():
        return
    left = progress.seconds_left
    tail = f", {left:.0f} s left" if left is not None else ""
    end = "\n" if progress.share >= 1 else ""
    print(
        f"\r{progress.turns}/{progress.of_turns} turns ({progress.conversation}{tail})\033[K",
        end=end,
        file=sys.stderr,
        flush=True,
    )


def _plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows as JSON has them: times in ISO form, null for what is missing."""
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records", date_format="iso"))
    return rows


def main() -> None:
    """Runs the command line; an error of Mnemoscope's is one message and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal need not know every character
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="python -m eval")
    except MnemoscopeError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
