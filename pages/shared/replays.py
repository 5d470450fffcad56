"""Starting a replay from the dashboard, and watching it.

It runs in a thread of its own, one at a time for each folder of runs: leaving the page does not
stop it, and whoever else looks sees its progress.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from eval.arms import ARMS
from eval.background import ReplayJob, ReplayRequest
from eval.calibration_records import cutoffs_as_text
from eval.cutoff_turn import MODES
from eval.errors import DatasetError
from eval.loaders import AUTO, FORMATS, bundled
from eval.overview import settings_table
from eval.replay import Progress
from eval.turns import parse_changes
from memcore import Cutoff, MnemoscopeError
from pages.shared import calibrate_saved, wording, workbench

MINE = "replay_job"
"""In the session's state: the replay that was started in it, until its end has been told."""


@dataclass
class _Slot:
    job: ReplayJob | None = None


@st.cache_resource(show_spinner=False)
def _slot(folder: str) -> _Slot:  # noqa: ARG001 - the key of the cache
    return _Slot()


def current(folder: Path) -> ReplayJob | None:
    """The replay that is running into a folder, if any."""
    job = _slot(str(folder.absolute())).job
    return job if job is not None and job.active else None


def begin(request: ReplayRequest, folder: Path) -> None:
    """Begins a replay, unless one is running."""
    if current(folder) is None:
        folder.mkdir(parents=True, exist_ok=True)
        job = ReplayJob(request, folder).start()
        _slot(str(folder.absolute())).job = job
        st.session_state[MINE] = job


def finished_run() -> str | None:
    """The run that this session's replay has just finished, told once."""
    job = st.session_state.get(MINE)
    if isinstance(job, ReplayJob) and job.done and not job.active and not job.told:
        job.told = True
        return job.run
    return None


@st.fragment(run_every=1.0)
def watch(folder: Path) -> None:
    """Progress of the running replay; loads the page again when it is over."""
    job = current(folder)
    if job is None:
        st.rerun()
        return
    progress, where = job.progress, st.container(border=True)
    if progress is None:
        where.progress(0.0, wording.REPLAY_READING)
    else:
        where.progress(min(progress.share, 1.0), _in_words(progress))
    where.caption(wording.REPLAY_RUNS_ON)
    label = wording.REPLAY_STOPPING if job.stopping else wording.REPLAY_STOP
    if where.button(label, disabled=job.stopping, icon=":material/stop:"):
        job.stop()
        st.rerun(scope="fragment")


def outcome(chosen: str | None) -> bool:
    """How this session's last replay ended: everything when it failed, a word when it is `chosen`.

    Returns whether there is nothing to mend.
    """
    job = st.session_state.get(MINE)
    if not isinstance(job, ReplayJob) or job.active:
        return True
    if job.done and job.run == chosen:
        st.success(wording.REPLAY_DONE, icon=":material/check:")
        if job.repairs:
            st.caption(wording.REPLAY_REPAIRS.format(count=f"{len(job.repairs):,}"))
    elif job.stopped:
        st.info(wording.REPLAY_STOPPED, icon=":material/stop:")
    elif isinstance(job.error, DatasetError):
        _faults(job.error)
    elif job.trace:
        workbench.failure(wording.REPLAY_BROKE, job.error)
        with st.expander(wording.REPLAY_TRACE):
            st.code(job.trace, language=None)
    elif job.error is not None:
        workbench.failure(wording.REPLAY_FAILED, job.error)
    return job.error is None


def form(folder: Path) -> None:
    """What is to be replayed, and the button that begins it."""
    with st.form("replay", border=False):
        one, two, three, four = st.columns([2, 3, 4, 1.6])
        chosen = one.selectbox(wording.REPLAY_DATASET, bundled())
        path = two.text_input(wording.REPLAY_PATH, help=wording.REPLAY_PATH_HELP)
        arm = three.selectbox(
            wording.REPLAY_ARM, list(ARMS), format_func=_arm_in_words, help=_all_arms()
        )
        format = four.selectbox(
            wording.REPLAY_FORMAT, [AUTO, *FORMATS], help=wording.REPLAY_FORMAT_HELP
        )
        try:
            meaning = _meaning()
        except MnemoscopeError as error:
            workbench.failure(wording.REPLAY_FAILED, error)
            st.form_submit_button(wording.REPLAY_START, disabled=True)
            return
        left, right = st.columns([5, 5.6])
        text = left.text_area(
            wording.REPLAY_SETTINGS, placeholder=wording.REPLAY_SETTINGS_HINT, height=96
        )
        limit = right.number_input(wording.REPLAY_LIMIT, min_value=1, value=None, step=1)
        busy = current(folder) is not None
        if st.form_submit_button(
            wording.REPLAY_START, type="primary", disabled=busy, icon=":material/play_arrow:"
        ):
            source = path.strip() or chosen or ""
            _submit(source, format, arm, text, limit, folder, meaning)
        if busy:
            st.caption(wording.REPLAY_BUSY)
    with st.expander(wording.REPLAY_SETTINGS_LIST):
        st.dataframe(settings_table(), hide_index=True, height="content")


def _in_words(progress: Progress) -> str:
    left = _left(progress.seconds_left)
    says = wording.REPLAY_PROGRESS.format(
        turns=f"{progress.turns:,}", of_turns=f"{progress.of_turns:,}", left=left
    )
    if not progress.of_texts:
        return says
    return wording.REPLAY_EMBEDDING.format(
        embedded=f"{progress.embedded:,}",
        of=f"{progress.of_texts:,}",
        conversation=workbench.escaped(progress.conversation),
        turns=says,
    )


def _submit(
    source: str,
    format: str,
    arm: str,
    text: str,
    limit: int | None,
    folder: Path,
    meaning: dict[str, str],
) -> None:
    if not source:
        st.error(wording.REPLAY_NO_PATH)
        return
    try:
        lines = parse_changes([line for line in text.splitlines() if line.strip()])
        changes = meaning | lines
        mode, provider = changes.get("search_mode", "lexical"), changes.get("provider")
        if mode in MODES and not provider:
            st.error(wording.REPLAY_NEEDS_PROVIDER.format(mode=mode), icon=":material/warning:")
            return
        begin(ReplayRequest(source, format, arm, changes, limit), folder)
    except (MnemoscopeError, OSError) as error:
        workbench.failure(wording.REPLAY_FAILED, error)
        return
    st.rerun()


def _faults(error: DatasetError) -> None:
    count = len(error.faults)
    says = wording.REPLAY_FAULT if count == 1 else wording.REPLAY_FAULTS.format(count=f"{count:,}")
    st.error(says, icon=":material/warning:")
    table = pd.DataFrame(error.faults).rename(columns=wording.FAULT_COLUMNS)
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            wording.FAULT_COLUMNS["line"]: st.column_config.NumberColumn(width="small"),
            wording.FAULT_COLUMNS["reason"]: st.column_config.TextColumn(width="large"),
        },
    )
    workbench.download(wording.RUNS_DOWNLOAD, table, "dataset-faults")


def _meaning() -> dict[str, str]:
    """How to find by meaning, as settings: those that differ from no meaning at all."""
    one, two, three = st.columns([2.4, 2.6, 5.6], vertical_alignment="bottom")
    mode = one.selectbox(
        wording.REPLAY_MODE,
        list(wording.REPLAY_MODES),
        format_func=lambda name: wording.REPLAY_MODES[name],
        help=wording.REPLAY_MODE_HELP,
        key="replay_mode",
    )
    provider = two.selectbox(
        wording.REPLAY_PROVIDER,
        list(wording.PROVIDERS),
        format_func=lambda name: wording.PROVIDERS.get(name, name),
        accept_new_options=True,
        help=wording.REPLAY_PROVIDER_HELP,
        key="replay_provider",
    )
    found: dict[str, str] = {}
    if mode and mode != "lexical":
        found["search_mode"] = mode
    if provider and provider.strip() != wording.NONE_CHOSEN:
        found["provider"] = provider.strip()
    with three:
        cutoffs = _cutoffs()
    return found | ({"cutoffs": cutoffs_as_text(cutoffs)} if cutoffs else {})


def _cutoffs() -> tuple[Cutoff, ...]:
    """The saved cutoffs where the person wants them."""
    try:
        saved = tuple(one.value for one in calibrate_saved.records())
    except DatasetError as error:
        workbench.failure(wording.REPLAY_CUTOFFS_BROKEN, error, warning=True)
        return ()
    if not saved:
        if st.session_state.pop("replay_cutoffs", False):
            raise MnemoscopeError(wording.REPLAY_CUTOFFS_GONE)
        return ()
    kinds = "; ".join(f"{one.kind}s by {one.identity} from {one.cutoff:g} on" for one in saved)
    wanted = st.checkbox(
        wording.REPLAY_CUTOFFS.format(count=len(saved)),
        help=wording.REPLAY_CUTOFFS_HELP.format(kinds=workbench.escaped(kinds)),
        key="replay_cutoffs",
    )
    return saved if wanted else ()


def _arm_in_words(name: str) -> str:
    return f"{name}: {ARMS[name].about}"


def _all_arms() -> str:
    """Every arm in full, as a list: the options are cut off where they are long."""
    told = [f"- **{workbench.escaped(one.name)}**: {workbench.escaped(one.about)}"
            for one in ARMS.values()]  # fmt: skip
    return "\n".join(told)


def _left(seconds: float | None) -> str:
    if seconds is None:
        return wording.REPLAY_LEFT_UNKNOWN
    if seconds < 100:
        return wording.REPLAY_LEFT_SECONDS.format(seconds=max(1, round(seconds)))
    return wording.REPLAY_LEFT_MINUTES.format(minutes=round(seconds / 60))
