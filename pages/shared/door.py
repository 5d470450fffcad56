"""Sends a link into a page through `app.py`, also when it is the first thing a server is asked for.

Until `app.py` has called `st.navigation` once, Streamlit takes the files of `pages/` for the pages
and runs the one that is asked for by itself: without navigation, title, wide layout or demo.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

APP = Path(__file__).resolve().parents[2] / "app.py"


def enter() -> None:
    """The first call of a page: where Streamlit runs the page by itself, `app.py` is run in its
    place (which runs the page), and nothing more of this run."""
    if PagesManager.uses_pages_directory:
        runpy.run_path(str(APP), run_name="__main__")
        st.stop()
