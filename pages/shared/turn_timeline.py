"""The conversation as a dated timeline, up to the moment of the turn and no further."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1

import streamlit as st

from eval.timeline import Entry, page_around, place_of, what_matters
from eval.turns import TurnView
from memcore import Layer
from pages.shared import turn_data, workbench
from pages.shared import wording_turn as wording
from pages.shared.html import Html, chip, join, tag, words
from pages.shared.url_choice import choose_one

_LONG = 700
_KEEP = 420
_PAGE = 40
_SCROLL = """
(() => {
  let tries = 0, set = null;
  const scroll = () => {
    const box = document.querySelector(".m-scroll");
    const aim = ["m-marked", "m-missing", "m-evidence"]
      .map((name) => box && box.querySelector("." + name)).find(Boolean);
    if (aim && (set === null || box.scrollTop === set)) {
      let top = aim;
      while (top && !top.classList.contains("m-day")) top = top.previousElementSibling;
      const at = (one) => one.getBoundingClientRect().top - box.getBoundingClientRect().top;
      if (!top || at(aim) - at(top) > 240) top = aim;
      box.scrollTop += at(top) - 6;
      set = box.scrollTop;
    }
    if (++tries < 12) setTimeout(scroll, 80);
  };
  scroll();
})();
"""


def show(view: TurnView) -> None:
    """What matters for the turn, or the whole conversation page by page."""
    entries = turn_data.timeline(view)
    mode = choose_one("timeline", wording.TIMELINE_LABEL, wording.TIMELINE, width="stretch")
    marked = workbench.parameter("message")
    if mode == "all":
        _whole(view, entries, marked)
    else:
        stretches = what_matters(entries)
        st.html(_scroll([*_stretches(entries, stretches, marked), _now(view)], 640))
    _bring_into_view(f"{view.talk.id} {view.number} {mode} {marked}")
    later = len(view.messages) - len(entries) - (0 if view.row["is_question"] else 1)
    if later > 0:
        st.caption(wording.NOT_YET.format(count=wording.messages(later)))


def _bring_into_view(what: str) -> None:
    """Scrolls the timeline, and nothing else, to what is marked or else to the first evidence. The
    script is the same for every text: nothing that anybody wrote is in it."""
    st.html(f"<script>/* {sha1(what.encode()).hexdigest()} */{_SCROLL}</script>",
            unsafe_allow_javascript=True)  # fmt: skip


def _whole(view: TurnView, entries: Sequence[Entry], marked: str) -> None:
    at = place_of(entries, marked)
    page = page_around(entries, at, _PAGE)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            wording.EARLIER,
            key="turn_earlier",
            icon=":material/arrow_upward:",
            disabled=page.start == 0,
            on_click=lambda: _go(entries, page.start - _PAGE // 2),
        )
        st.button(
            wording.LATER,
            key="turn_later",
            icon=":material/arrow_downward:",
            disabled=page.stop >= len(entries),
            on_click=lambda: _go(entries, page.stop),
        )
        st.button(
            wording.TO_NOW,
            key="turn_now",
            disabled=at is None,
            on_click=lambda: workbench.remember(message=None),
        )
        if entries:
            st.caption(
                wording.PLACE.format(first=page.start + 1, last=page.stop, count=len(entries))
            )
    pieces = _messages(entries, page, marked)
    if page.stop >= len(entries):
        pieces.append(_now(view))
    st.html(_scroll(pieces, 590, from_end=at is None))


def _go(entries: Sequence[Entry], place: int) -> None:
    place = min(max(place, 0), len(entries) - 1)
    workbench.remember(message=entries[place].message.id)


def _scroll(pieces: Sequence[str], height: int, from_end: bool = False) -> Html:
    inside = tag("div", *pieces)
    cls = "m-scroll m-from-end" if from_end else "m-scroll"
    return tag("div", inside, cls=cls, style=f"--h: {height}px", tabindex="0")


def _stretches(entries: Sequence[Entry], stretches: Sequence[range], marked: str) -> list[str]:
    if not entries:
        return [tag("div", wording.BEGINNING, cls="m-gap")]
    pieces: list[str] = []
    done = 0
    for stretch in stretches:
        if stretch.start > done:
            pieces.append(_gap(entries, range(done, stretch.start)))
        pieces += _messages(entries, stretch, marked)
        done = stretch.stop
    return pieces


def _gap(entries: Sequence[Entry], left_out: range) -> Html:
    first, last = entries[left_out.start].day, entries[left_out.stop - 1].day
    form = wording.GAP if first != last else wording.GAP_ONE_DAY
    text = form.format(
        count=wording.messages(len(left_out)),
        first=f"{first.day} {first:%b}",
        last=f"{last.day} {last:%b}",
    )
    return tag("div", text, cls="m-gap")


def _messages(entries: Sequence[Entry], places: range, marked: str) -> list[str]:
    pieces: list[str] = []
    day = None
    for place in places:
        entry = entries[place]
        if entry.day != day:
            day = entry.day
            pieces.append(tag("div", f"{day:%a} {day.day} {day:%b %Y}", cls="m-day"))
        pieces.append(_message(entry, entry.message.id == marked))
    return pieces


def _message(entry: Entry, marked: bool) -> Html:
    message, fate = entry.message, entry.fate
    classes = ["m-message", "m-by-user" if message.role == "user" else "m-by-agent"]
    chips: list[str] = []
    if fate is not None:
        classes += ["m-evidence"] if fate.reached else ["m-evidence", "m-missing"]
        label = wording.EVIDENCE_REACHED if fate.reached else wording.EVIDENCE_LOST
        if fate.only_cited:
            label = wording.EVIDENCE_CITED
        chips.append(chip(label, fate.layers[0] if fate.reached else None, "lost"))
    for layer, item in entry.held:
        label = wording.HELD[layer].format(item=item)
        if layer is Layer.EXCERPTS and entry.part:
            label = wording.PART
        chips.append(chip(label, layer))
    if entry.held:
        classes += ["m-held", f"m-{entry.held[0][0]}"]
    if marked:
        classes.append("m-marked")
    role = {"assistant": f" ({wording.AGENT})", "tool": f" ({wording.TOOL})"}.get(message.role, "")
    head = tag(
        "div",
        tag("b", tag("bdi", message.speaker), role),
        tag("time", f"{entry.local:%H:%M}"),
        *chips,
        cls="m-head",
    )
    text = words(message.text) if fate is not None else _long(message.text)
    return tag("div", head, text, cls=" ".join(classes), title=message.id)


def _long(text: str) -> Html:
    if len(text) <= _LONG:
        return words(text)
    start = tag("div", f"{text[:_KEEP]}…", cls="m-words m-start", dir="auto")
    more = tag("span", wording.MORE_TEXT.format(count=len(text)), cls="m-more")
    return tag("details", tag("summary", start, more), words(text), cls="m-long")


def _now(view: TurnView) -> Html:
    label = wording.NOW_QUESTION if view.row["is_question"] else wording.NOW_TURN
    time = turn_data.moment(view.row["time"], view.talk.timezone)
    head = tag("div", tag("b", label), tag("time", time), cls="m-head")
    return tag("div", head, join([words(str(view.row["text"]))]), cls="m-message m-now")
