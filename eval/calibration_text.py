"""A calibration, a noise floor and a drift in words: for a terminal, and as values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from eval.calibration import REASONS, SEPARATES, Calibration
from eval.calibration_records import Record
from eval.drift import Drift
from eval.held_out import HeldOut
from eval.noise_floor import IS_NO_CUTOFF, NoiseFloor
from eval.stats import interval, percent

_TAKEN = (5, 50, 95)


def headline(made: Calibration) -> str:
    """The result in one sentence."""
    none = "; no cutoff is recommended"
    others = f"{made.column.grouped_by}s"
    match made.reason:
        case "identical":
            value = made.written(float(made.scores[0][0]))
            return f"no cutoff separates these: all scores are identical ({value}){none}"
        case "overlap" if made.scores[0][-1] < made.scores[1][0]:
            return f"no cutoff separates these: all irrelevant scores are above the relevant{none}"
        case "overlap":
            return f"no cutoff separates these: the two overlap by {percent(made.overlap)}{none}"
        case "uncertain":
            return f"{REASONS['uncertain']} these: {_uncertain(made)}{none}"
        case "objective":
            share = "always" if made.cutoff is None else percent(made.undecided)
            how = "none does" if made.cutoff is None else f"in {share} of resamples none does"
            return f"no cutoff meets {made.objective} reliably: {how}{none}"
    assert made.cutoff is not None
    return f"{made.verdict(made.cutoff).words}; on other {others} {made.held_out.recall}"


def _uncertain(made: Calibration) -> str:
    apart, others = made.separation.separation, f"{made.column.grouped_by}s"
    if apart.value is None or apart.low is None or apart.high is None:
        return f"nothing could be tried on {others} that it was not chosen on"
    bounds = interval(*(min(max(1 - bound, 0.0), 1.0) for bound in (apart.high, apart.low)))
    if made.disjoint:
        return f"the two do not overlap here, but on other {others} it may be by {bounds}"
    return f"the two overlap by {percent(made.overlap)}, and on other {others} it may be {bounds}"


def calibration_text(made: Calibration) -> str:
    """The result in words first, then its figures."""
    lines = [headline(made), "", *_figures(made)]
    for language, one in made.languages.items():
        lines += ["", f"{language}: {headline(one)}", *_figures(one)]
    if made.warnings:
        lines += ["", *(f"warning: {one}" for one in made.warnings)]
    if made.column.remarks:
        lines += ["", *(f"note: {one}" for one in made.column.remarks)]
    return "\n".join(lines)


def _figures(made: Calibration) -> list[str]:
    column, held, apart = made.column, made.held_out, made.separation.separation
    yes, no = made.scores
    lines = []
    if made.cutoff is not None and made.low is not None and made.high is not None:
        cutoff, low, high = map(made.written, (made.cutoff, made.low, made.high))
        mark = "" if made.recommended is not None else "  not recommended"
        lines.append(
            f"  cutoff      {cutoff} [{low}, {high}] by {made.objective}, in steps of "
            f"{made.counts.resolution:g}{mark}"
        )
    lines.append(
        f"  held out    {_held(held)}, over {held.folds} folds of {made.counts.groups:,} "
        f"{column.grouped_by}s"
    )
    lines.append(
        f"  separation  {apart} where {percent(SEPARATES)} is needed with 95% confidence; "
        f"ROC-AUC {made.auc:.3f}, average precision {made.average_precision:.3f}"
    )
    if held.undecided:
        lines.append(f"              {held.undecided} folds met the objective nowhere")
    shown = made.shown(made.cutoff) if made.cutoff is not None else None
    if shown is not None:
        lines.append(
            f"  best four   {percent(shown.precision)} relevant above the cutoff, "
            f"{percent(shown.precision_without)} without one; they hold {percent(shown.recall)} "
            f"and {percent(shown.recall_without)} of what is relevant"
        )
    for name, scores in (("relevant", yes), ("irrelevant", no)):
        found = made.percentiles[name]
        taken = ", ".join(made.written(float(found[at])) for at in _TAKEN)
        lines.append(f"  {name:<11} {len(scores):,} pairs, 5th, 50th, 95th percentile {taken}")
    return lines


def _held(held: HeldOut) -> str:
    return (
        f"recall {held.recall}, precision {held.precision}, irrelevant let through "
        f"{held.let_through}"
    )


def report(made: Calibration) -> dict[str, Any]:
    """Everything the text says and the percentiles, as plain values for JSON."""
    identity = made.column.identity
    said = None if made.cutoff is None else made.verdict(made.cutoff)
    shown = None if made.cutoff is None else made.shown(made.cutoff)
    return {
        "headline": headline(made),
        "name": made.column.name,
        "data": made.column.data,
        "identity": None if identity is None else asdict(identity),
        "kind": made.column.kind,
        "objective": str(made.objective),
        "recommended": made.recommended,
        "reason": made.reason,
        "cutoff": made.cutoff,
        "low": made.low,
        "high": made.high,
        "resolution": made.counts.resolution,
        "undecided": made.undecided,
        "verdict": None if said is None else said._asdict(),
        "shown": None if shown is None else shown._asdict(),
        "grouped_by": made.column.grouped_by,
        "groups": made.counts.groups,
        "pairs": len(made.column.frame),
        "held_out": asdict(made.held_out),
        "separation": asdict(made.separation),
        "overlap": made.overlap,
        "auc": made.auc,
        "average_precision": made.average_precision,
        "percentiles": made.percentiles.drop(columns="percentile").to_dict(orient="list"),
        "languages": {name: report(one) for name, one in made.languages.items()},
        "warnings": list(made.warnings),
        "remarks": list(made.column.remarks),
    }


def floor_text(floor: NoiseFloor) -> str:
    """The noise floor in words first."""
    of = f"{floor.pairs:,} pairs of {floor.texts:,} of {floor.of_texts:,} texts"
    lines = [
        f"95% of random pairs score below {floor.p95:.3f} and 99% below {floor.p99:.3f}.",
        IS_NO_CUTOFF,
        "",
        f"  {of}, each with one of another {floor.grouped_by}",
        f"  provider {floor.identity}",
    ]
    return "\n".join(lines)


def floor_report(floor: NoiseFloor) -> dict[str, Any]:
    """The noise floor as plain values for JSON."""
    values = asdict(floor)
    del values["scores"]
    return {"noise_floor": True, "says": IS_NO_CUTOFF, **values}


def drift_text(record: Record, found: Sequence[Drift]) -> str:
    """What has moved since the record, in words first."""
    moved = [one.scores for one in found if one.moved]
    first = (
        f"the {' and '.join(moved)} scores have moved since {record.date}: calibrate again"
        if moved
        else f"nothing has moved since {record.date}: the cutoff still stands"
    )
    return "\n".join([first, "", *(f"  {one}" for one in found)])


def drift_report(record: Record, found: Iterable[Drift]) -> dict[str, Any]:
    """The same as plain values for JSON."""
    rows = [{**asdict(one), "moved": one.moved} for one in found]
    return {
        "moved": any(row["moved"] for row in rows),
        "date": record.date,
        "cutoff": record.cutoff,
        "kind": record.kind,
        "identity": record.identity.model_dump(),
        "scores": rows,
    }
