"""A choice that stands in the address by its plain name, so that a link opens what was chosen.

Streamlit's own binding writes the label into the address; a label is wording and may change.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.shared import workbench


def choose_one(name: str, label: str, options: dict[str, str], **more: Any) -> str:
    """One of `options` (name to label), the first where the address names none of them."""
    first = next(iter(options))
    wanted = workbench.parameter(name)
    st.session_state[name] = wanted if wanted in options else first

    def put_into_address() -> None:
        chosen = st.session_state[name]
        workbench.remember(**{name: None if chosen == first else chosen})

    chosen = st.segmented_control(
        label,
        list(options),
        required=True,
        format_func=lambda one: options[one],
        key=name,
        on_change=put_into_address,
        **more,
    )
    return str(chosen or first)
