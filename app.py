"""The dashboard's door: navigation and the demo run. Start it with `make app`."""

import streamlit as st

from pages.shared import wording, workbench

st.set_page_config(page_title=wording.APP, page_icon="🔎", layout="wide")
page = st.navigation(
    [
        st.Page(
            "pages/runs.py", title="Runs", icon=":material/list:", url_path="runs", default=True
        ),
        st.Page("pages/turn.py", title="Turn", icon=":material/frame_inspect:", url_path="turn"),
        st.Page("pages/recall.py", title="Recall", icon=":material/show_chart:", url_path="recall"),
    ],
    position="top",
)
st.html("<style>.stMain .stMainBlockContainer { padding: 4.6rem 2.5rem 3rem; }</style>")
workbench.make_demo()
page.run()
