"""Scoring started from the dashboard, and watched. It runs in a thread of its own, one at a time in
a server: leaving the page does not stop it, and whoever else looks sees its progress."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from eval.calibration_job import CalibrationJob, job_name, kept_column
from eval.noise_floor import NoiseFloor
from eval.pairs import Material, Texts
from eval.score_column import ScoreColumn
from pages.shared import wording_calibrate as wording
from pages.shared import workbench


@dataclass
class _Slot:
    job: CalibrationJob | None = None


@st.cache_resource(show_spinner=False)
def _slot() -> _Slot:
    return _Slot()


def running() -> CalibrationJob | None:
    """The scoring that goes on, whosever it is."""
    job = _slot().job
    return job if job is not None and job.active else None


def of(found: Material | Texts, provider: str) -> CalibrationJob | None:
    """The last scoring of just this, running or over; None where another was the last."""
    job = _slot().job
    return job if job is not None and job.name == job_name(found, provider) else None


def begin(found: Material | Texts, provider: str) -> None:
    """Begins, unless a scoring goes on."""
    if running() is None:
        _slot().job = CalibrationJob(found, provider).start()


def result(found: Material | Texts, provider: str) -> ScoreColumn | NoiseFloor | None:
    """What was scored, now or before; None where nothing was."""
    job = of(found, provider)
    if job is not None and job.result is not None:
        return job.result
    return kept_column(found, provider) if isinstance(found, Material) else None


@st.fragment(run_every=0.5)
def watch() -> None:
    """Progress of what goes on; loads the page again when it is over."""
    job = running()
    if job is None:
        st.rerun()
        return
    progress, where = job.progress, st.container(border=True)
    if progress is None:
        where.progress(0.0, wording.PROGRESS_LOADING)
    else:
        form = wording.PROGRESS if progress.done < progress.of else wording.PROGRESS_SCORING
        says = form.format(
            done=f"{progress.done:,}",
            of=f"{progress.of:,}",
            left=wording.left(progress.seconds_left),
        )
        where.progress(min(progress.share, 1.0), says)
    where.caption(wording.RUNS_ON)
    label = wording.STOPPING if job.stopping else wording.STOP
    if where.button(label, key="calibrate_stop", disabled=job.stopping, icon=":material/stop:"):
        job.stop()
        st.rerun(scope="fragment")


def failed(job: CalibrationJob) -> None:
    """What went wrong with a scoring, whole."""
    workbench.failure(wording.BROKE if job.trace else wording.BAD_PROVIDER, job.error)
    if job.trace:
        with st.expander(wording.TRACE):
            st.code(job.trace, language=None)
