"""Text without labels: how high scores get by chance, which is no cutoff."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from eval import figures_calibration
from eval.calibration_text import floor_report
from eval.noise_floor import IS_NO_CUTOFF, NoiseFloor
from pages.shared import wording_calibrate as wording
from pages.shared import workbench
from pages.shared.workbench import escaped


def show(floor: NoiseFloor, answer: Any) -> None:
    """The floor in words and as a picture."""
    p95, p99 = f"{floor.p95:.3f}", f"{floor.p99:.3f}"
    with answer:
        st.markdown(f"### {escaped(wording.FLOOR_LINE.format(p95=p95, p99=p99))}")
        st.markdown(wording.FLOOR.format(says=IS_NO_CUTOFF))
        st.caption(
            wording.FLOOR_DETAIL.format(
                pairs=f"{floor.pairs:,}", texts=f"{floor.texts:,}", of_texts=f"{floor.of_texts:,}",
                grouped=floor.grouped_by, provider=escaped(floor.identity),
            )
        )  # fmt: skip
    workbench.figure(
        figures_calibration.noise(floor.scores, floor.p95, floor.p99),
        "noise-floor",
        wording.FLOOR_ALT,
    )
    st.download_button(
        wording.FLOOR_DOWNLOAD,
        json.dumps(floor_report(floor), ensure_ascii=False, indent=1),
        "noise-floor.json",
        "application/json",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )
