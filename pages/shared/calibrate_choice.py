"""What the Calibrate page is to calibrate: source, provider, kind of passage, objective, language.
The address names them all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import streamlit as st

from eval.calibration_job import USUAL, keep_upload, written
from eval.errors import RunError
from eval.loaders import bundled
from eval.loaders.pairs import Source, load_source
from memcore import MnemoscopeError, PassageKind
from pages.shared import wording_calibrate as wording
from pages.shared import workbench

ALL = "all"
_LONG_PATH = 34
_LAST = "calibrate_last_address"
_NAMES = ("source", "provider", "kind", "objective", "language", "cutoff", "run", "question")


@dataclass(frozen=True)
class Choice:
    """What was chosen. `found` is the data, None where it cannot be used: then `error` says why."""

    source: str
    provider: str
    kind: str
    objective: str
    language: str
    found: Source | None
    error: MnemoscopeError | None

    @property
    def is_first(self) -> bool:
        """Whether it is what the page begins with."""
        return (self.source, self.provider, self.kind) == (_sources()[0], USUAL[0], "note")

    @property
    def data(self) -> str:
        """The data in a word or two."""
        return self.found.name if self.found is not None else Path(self.source).name


def choose() -> tuple[Choice, Any]:
    """The choices of the address or the person, and the place of the button beside them."""
    if not workbench.parameter("source") and _LAST in st.session_state:
        workbench.remember(**st.session_state[_LAST])
    one, two, three, four = st.columns([3, 3, 1.8, 3.2], vertical_alignment="bottom")
    with one:
        source = _choose(
            "source", wording.SOURCE, _sources(), {}, help=wording.SOURCE_HELP, free=True
        )
    with two:
        provider = _choose(
            "provider", wording.PROVIDER, list(USUAL), wording.PROVIDERS,
            help=wording.PROVIDER_HELP, free=True,
        )  # fmt: skip
    with three:
        kind = _choose(
            "kind", wording.KIND, list(wording.KINDS), wording.KINDS, help=wording.KIND_HELP
        )
    with four:
        objective = _choose(
            "objective", wording.OBJECTIVE, list(wording.OBJECTIVES), wording.OBJECTIVES,
            help=wording.OBJECTIVE_HELP, free=True,
        )  # fmt: skip
    found, error = _read(source, kind)
    languages = found.languages if found is not None and hasattr(found, "languages") else ()
    place, five, six = st.columns([6, 3, 2], vertical_alignment="center")
    with five:
        language = ALL
        if len(languages) > 1 or workbench.parameter("language", ALL) != ALL:
            language = _choose(
                "language", wording.LANGUAGE, [ALL, *languages], {ALL: wording.ALL_LANGUAGES},
                label_visibility="collapsed", format_language=True,
            )  # fmt: skip
    with six:
        _upload()
    st.session_state[_LAST] = {name: workbench.parameter(name) or None for name in _NAMES}
    return Choice(source, provider, kind, objective, language, found, error), place


def passage_kind(kind: str) -> PassageKind | None:
    """The kind as `eval` names it; None leaves it to the source."""
    return None if kind == "any" else cast(PassageKind, kind)


def _sources() -> list[str]:
    return list(bundled()) or [""]


def _choose(
    name: str,
    label: str,
    options: list[str],
    words: dict[str, str],
    free: bool = False,
    format_language: bool = False,
    **more: Any,
) -> str:
    """One of `options`, or what is typed where that is `free`; the address keeps it by name."""
    wanted = workbench.parameter(name).strip() or options[0]
    offered = options if wanted in options else [*options, wanted]
    key = f"calibrate_{name}"
    st.session_state[key] = wanted

    def put_into_address() -> None:
        chosen = (st.session_state[key] or "").strip() or options[0]
        workbench.remember(**{name: chosen, "cutoff": None})
        if name in ("source", "kind"):
            workbench.remember(language=None)

    def shown(one: str) -> str:
        text = words.get(one, one)
        if name == "source" and len(text) > _LONG_PATH:
            text = f"…/{Path(text).name}"
        return f"{wording.LANGUAGE}: {text}" if format_language else text

    st.selectbox(
        label,
        offered,
        key=key,
        format_func=shown,
        accept_new_options=free,
        on_change=put_into_address,
        **more,
    )
    workbench.remember(**{name: None if (name, wanted) == ("language", ALL) else wanted})
    return wanted


def _upload() -> None:
    with st.popover(wording.UPLOAD, icon=":material/upload:", width="stretch"):
        given = st.file_uploader(
            wording.UPLOAD_LABEL,
            type=["csv", "json", "jsonl", "parquet", "txt"],
            key="calibrate_upload",
            help=wording.UPLOAD_HELP,
        )
    told = st.session_state.get("calibrate_uploaded")
    if given is None or given.file_id == told:
        return
    st.session_state["calibrate_uploaded"] = given.file_id
    try:
        path = keep_upload(given.name, given.getvalue())
    except RunError as error:
        workbench.failure(wording.BAD_SOURCE_LINE, error)
        return
    workbench.remember(source=str(path), kind="any", language=None, cutoff=None)
    st.rerun()


def _read(source: str, kind: str) -> tuple[Source | None, MnemoscopeError | None]:
    try:
        if kind not in wording.KINDS:
            return None, MnemoscopeError(f"{kind[:40]!r}: {wording.BAD_KIND}")
        with st.spinner(wording.READING):
            return _loaded(source, kind, written(source)), None
    except MnemoscopeError as error:
        return None, error


@st.cache_resource(max_entries=8, show_spinner=False)
def _loaded(source: str, kind: str, stamp: float) -> Source:  # noqa: ARG001 - part of the key
    """The data; a score column tells its kind itself, and takes the chosen one where it does
    not."""
    return load_source(source, passage_kind(kind))
