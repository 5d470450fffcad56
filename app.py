"""The dashboard's door: navigation and the demo run. Start it with `make app`."""

import streamlit as st

from pages.shared import wording, workbench

RUNS = {"page": "pages/runs.py", "title": "Runs", "icon": ":material/list:"}

st.set_page_config(page_title=wording.APP, page_icon="🔎", layout="wide")
page = st.navigation(
    [
        # Streamlit serves the default page at the root alone: a link to /runs needs a second one.
        st.Page(**RUNS, url_path="door", default=True),
        st.Page(**RUNS, url_path="runs", visibility="hidden"),
        st.Page("pages/turn.py", title="Turn", icon=":material/frame_inspect:", url_path="turn"),
        st.Page("pages/recall.py", title="Recall", icon=":material/show_chart:", url_path="recall"),
        st.Page(
            "pages/calibrate.py", title="Calibrate", icon=":material/tune:", url_path="calibrate"
        ),
    ],
    position="top",
)
st.html("<style>.stMain .stMainBlockContainer { padding: 4.6rem 2.5rem 3rem; }</style>")
workbench.make_demo()
page.run()
