"""`python -m eval calibrate | drift`: from labelled material to a cutoff, and whether it stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from eval.terminal import print_json, say, show_progress
from memcore import InvalidInput, PassageKind, ProviderIdentity

# What calculates is imported where it is used: other commands need not wait for it.
if TYPE_CHECKING:
    from eval.pairs import Material, Texts
    from eval.score_column import ScoreColumn
    from memcore import Embedder

app = typer.Typer()
Name = Annotated[
    str | None, typer.Option("--provider-name", help="of a ready column: the provider's name")
]
Model = Annotated[str | None, typer.Option(help="of a ready column: the provider's model")]
Revision = Annotated[str, typer.Option(help="of a ready column: the model's revision, if any")]
Width = Annotated[int | None, typer.Option(min=1, help="of a ready column: width of a vector")]
Passages = Annotated[
    str | None,
    typer.Option(
        "--passage", help="kind of passage: message, note, fact", show_default="by source"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


@app.command("calibrate")
def calibrate_command(
    source: Annotated[
        str,
        typer.Argument(
            help="a dataset or the name of a bundled one (shop), labelled pairs, a score column, "
            "or a text file with a text a line"
        ),
    ],
    provider: Annotated[
        str, typer.Option(help="what embeds the texts, for example packaged; not for score columns")
    ] = "",
    passage: Passages = None,
    objective: Annotated[
        str, typer.Option(help="recall>=R, precision>=P, f1 or any other F-beta")
    ] = "recall>=0.9",
    language: Annotated[str | None, typer.Option(help="only queries of this language")] = None,
    format: Annotated[str, typer.Option(help="the source's format, else recognised")] = "auto",
    column: Annotated[Path | None, typer.Option(help="write the score column (Parquet)")] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="write the cutoff into this JSON file; where none is recommended nothing is saved "
            "and the exit status is 2"
        ),
    ] = None,
    cache: Annotated[bool, typer.Option(help="keep embeddings on disk and use those there")] = True,
    provider_name: Name = None,
    model: Model = None,
    revision: Revision = "",
    width: Width = None,
    as_json: Json = False,
) -> None:
    """Choose the cutoff of a provider and a kind of passage, and report it on data held out."""
    from eval.calibration import calibrate
    from eval.calibration_records import check_known, record_of, save_record
    from eval.calibration_text import calibration_text, report
    from eval.loaders.pairs import load_source
    from eval.objective import parse_objective
    from eval.pairs import Material, Texts
    from eval.score_column import only_language, score_column, write_column

    aim, kind = parse_objective(objective), _kind(passage)
    _check_targets(column, save)
    found = load_source(source, kind, format)
    if isinstance(found, Texts):
        if column or save or language:
            raise InvalidInput(
                f"{source}: there are no labels, so that there is a noise floor and nothing to save"
            )
        _noise_floor(found, _embedder(provider, cache), as_json)
        return
    if isinstance(found, Material):
        material = found.only(language) if language else found
        say(_counts(material))
        scored = score_column(material, _embedder(provider, cache), _embedding)
    else:
        if provider:
            raise InvalidInput(f"{source} is scored already: leave --provider out")
        scored = _with_identity(found, kind, provider_name, model, revision, width)
        if save:
            check_known(scored)
        scored = only_language(scored, language) if language else scored
    made = calibrate(scored, aim)
    if column:
        write_column(scored, column)
        say(f"score column of {len(scored.frame):,} pairs in {column}")
    if as_json:
        print_json(report(made))
    else:
        print(calibration_text(made))
    if save:
        record = record_of(made)
        how = "replaces the earlier one" if save_record(record, save) else "saved"
        say(f"cutoff of {record.kind}s by {record.identity.value} {how} in {save}")
    elif made.recommended is not None and scored.identity is None:
        say(
            "the column does not name its provider: give --provider-name, --model, --width and "
            "--passage to save the cutoff for use"
        )


@app.command("drift")
def drift_command(
    cutoffs: Annotated[Path, typer.Argument(help="the JSON file that calibrate --save wrote")],
    column: Annotated[Path, typer.Argument(help="a later score column, labelled or not")],
    passage: Passages = None,
    provider_name: Name = None,
    model: Model = None,
    revision: Revision = "",
    width: Width = None,
    as_json: Json = False,
) -> None:
    """Hold a later score column against a saved cutoff; exit status 1 where it has moved."""
    from eval.calibration_records import load_records
    from eval.calibration_text import drift_report, drift_text
    from eval.drift import drift, record_for
    from eval.loaders.pairs_table import load_scores

    records = load_records(cutoffs)
    given = load_scores(column)
    later = _with_identity(given, _kind(passage), provider_name, model, revision, width)
    record = record_for(records, later)
    found = drift(record, later)
    if as_json:
        print_json(drift_report(record, found))
    else:
        print(drift_text(record, found))
    if any(one.moved for one in found):
        raise typer.Exit(1)


def _noise_floor(texts: Texts, embedder: Embedder, as_json: bool) -> None:
    from eval.calibration_text import floor_report, floor_text
    from eval.noise_floor import noise_floor

    floor = noise_floor(texts, embedder, _embedding)
    if as_json:
        print_json(floor_report(floor))
    else:
        print(floor_text(floor))


def _embedder(provider: str, cache: bool) -> Embedder:
    from memcore import cache_folder, embedder_named

    if not provider:
        raise InvalidInput("name what embeds the texts, for example --provider packaged")
    return embedder_named(provider, cache=cache_folder() if cache else None)


def _check_targets(column: Path | None, save: Path | None) -> None:
    """Raises before any text is embedded where there would be no place for the result."""
    from eval.calibration_records import check_target, load_records

    for path in (column, save):
        if path is not None:
            if not path.parent.is_dir():
                raise InvalidInput(f"{path} cannot be written: {path.parent} is no folder")
            check_target(path)
    if save is not None and save.exists():
        load_records(save)


def _kind(passage: str | None) -> PassageKind | None:
    known = get_args(PassageKind)
    if passage is not None and passage not in known:
        raise InvalidInput(f"there is no passage {passage!r}; there are {', '.join(known)}")
    return cast("PassageKind | None", passage)


def _with_identity(
    column: ScoreColumn,
    kind: PassageKind | None,
    provider: str | None,
    model: str | None,
    revision: str,
    width: int | None,
) -> ScoreColumn:
    """The column with what the options say of it. Raises `InvalidInput` where they contradict it,
    or name a provider by halves."""
    from dataclasses import replace

    given = (provider, model, width)
    if any(given):
        if provider is None or model is None or width is None:
            raise InvalidInput("--provider-name, --model and --width go together")
        identity = ProviderIdentity(provider, model, revision, width)
        if column.identity not in (None, identity):
            raise InvalidInput(f"{column.name} says that it is of {column.identity}")
        column = replace(column, identity=identity)
    return replace(column, kind=kind) if kind and not column.kind else column


def _counts(material: Material) -> str:
    counts = material.counts
    return (
        f"{counts['groups']:,} {material.grouped_by}s, {counts['queries']:,} queries, "
        f"{counts['pairs']:,} pairs with {material.kind}s, {counts['relevant']:,} of them relevant"
    )


def _embedding(done: int, total: int) -> None:
    show_progress(done, total, "texts embedded")
