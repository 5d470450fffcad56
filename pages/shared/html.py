"""Markup that cannot be broken by what people wrote: every text is escaped, nothing is interpreted.

`tag` escapes its children unless they were made by `tag` themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from eval.figures import LAYER_COLOURS, LOST_COLOUR, QUIET_COLOUR, REACHED_COLOUR
from memcore import Layer


class Html(str):
    """Markup that is safe to show; only `tag` and `join` make it."""


def tag(name: str, *children: str, cls: str = "", **attributes: str) -> Html:
    """An element. A child that is plain text is escaped; attributes always are."""
    inside = join(children)
    given = {"class": cls, **attributes}
    written = "".join(
        f' {key.rstrip("_")}="{escape(value, quote=True)}"' for key, value in given.items() if value
    )
    return Html(f"<{name}{written}>{inside}</{name}>")


def join(children: Iterable[str]) -> Html:
    """Children one after the other, those that are plain text escaped."""
    return Html("".join(one if isinstance(one, Html) else escape(one) for one in children))


def words(text: str, cls: str = "") -> Html:
    """What somebody wrote: as it is, each paragraph in its own direction."""
    return tag("div", text, cls=f"m-words {cls}".strip(), dir="auto")


def chip(text: str, layer: Layer | None = None, kind: str = "") -> Html:
    """A small label in a layer's colour, or in that of a kind (`lost`, `quiet`)."""
    return tag("span", text, cls=f"m-chip m-{layer or kind or 'quiet'}")


_STRIPES = {
    Layer.PERSONA: "none",
    Layer.LAST_EXCHANGE: "repeating-linear-gradient(135deg, #fff6 0 2px, transparent 2px 6px)",
    Layer.SUMMARY: (
        "repeating-linear-gradient(45deg, #fff6 0 1px, transparent 1px 5px), "
        "repeating-linear-gradient(135deg, #fff6 0 1px, transparent 1px 5px)"
    ),
    Layer.NOTES: "repeating-linear-gradient(0deg, #fff6 0 2px, transparent 2px 6px)",
    Layer.EXCERPTS: "repeating-linear-gradient(45deg, #fff6 0 2px, transparent 2px 6px)",
    Layer.WINDOW: "radial-gradient(#fff9 25%, transparent 27%) 0 0 / 5px 5px",
}

_RULES = """
.m-words { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.m-chip { display: inline-block; padding: 0 .5em; margin: 0 .3em .1em 0; border-radius: .6em;
  font-size: .76rem; line-height: 1.35rem; border: 1px solid var(--m);
  border-left-width: .6em; white-space: nowrap;
  background: color-mix(in srgb, var(--m) 14%, transparent); }
.m-quiet-text { opacity: .68; font-size: .84rem; }
.m-mono { font-family: "Source Code Pro", monospace; font-size: .82rem; line-height: 1.45; }

[data-testid="stColumn"]:has(.st-key-turn_timeline) { position: sticky; top: 3.6rem;
  align-self: flex-start; }
.m-table { width: 100%; border-collapse: collapse; font-size: .88rem; }
.m-table th, .m-table td { padding: .22rem .5rem; text-align: right;
  border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.m-table th { font-weight: 600; opacity: .75; font-size: .8rem; }
.m-table th:first-child, .m-table td:first-child, .m-table .m-to-left { text-align: left; }
.m-table tr:last-child td { font-weight: 600; border-bottom: 0; }

.m-answer { border: 1px solid color-mix(in srgb, var(--m) 60%, transparent);
  border-left: .5rem solid var(--m); border-radius: .5rem; padding: .55rem .9rem .6rem;
  background: color-mix(in srgb, var(--m) 7%, transparent); }
.m-answer .m-question { font-size: 1.22rem; font-weight: 600; margin: .05rem 0 .2rem; }
.m-answer .m-said { margin: .05rem 0 .2rem; font-weight: 600; max-height: 9rem;
  overflow-y: auto; }
.m-answer .m-verdict { font-size: 1.02rem; }
.m-answer .m-verdict b { letter-spacing: .01em; }
.m-path { display: flex; flex-wrap: wrap; gap: .3rem .1rem; align-items: center; }
.m-step { border-radius: .4rem; padding: .1rem .5rem; font-size: .82rem;
  border: 1px solid color-mix(in srgb, currentColor 28%, transparent); }
.m-step small { opacity: .8; }
.m-step.m-lost-here { border: 2px solid var(--m); font-weight: 600;
  background: color-mix(in srgb, var(--m) 16%, transparent); }
.m-step.m-not-reached, .m-step.m-not-needed { opacity: .5; border-style: dashed; }
.m-arrow { opacity: .5; padding: 0 .15rem; }
.m-piece { font-size: .9rem; }
.m-piece .m-words { display: inline; }

.m-scroll { overflow-y: auto; height: var(--h, 600px); padding-right: .4rem; }
.m-scroll.m-from-end { display: flex; flex-direction: column-reverse; }
.m-day { font-size: .8rem; font-weight: 600;
  padding: .25rem .1rem; margin-top: .35rem;
  border-bottom: 1px solid color-mix(in srgb, currentColor 22%, transparent); }
.m-gap { text-align: center; font-size: .8rem; opacity: .65; padding: .45rem 0;
  border-top: 1px dashed color-mix(in srgb, currentColor 40%, transparent); margin-top: .5rem; }
.m-message { padding: .3rem .6rem .35rem .55rem; margin: .3rem 0; border-radius: .4rem;
  font-size: .9rem; border-left: .5rem solid color-mix(in srgb, currentColor 12%, transparent);
  background: color-mix(in srgb, currentColor 4%, transparent); }
.m-message.m-by-agent { margin-left: 1.4rem; background: none; }
.m-message.m-held { border-left-color: var(--m);
  border-image: none; }
.m-message.m-evidence { outline: 2px solid currentColor; outline-offset: -1px; }
.m-message.m-evidence.m-missing { outline-color: #D55E00;
  background: color-mix(in srgb, #D55E00 9%, transparent); }
.m-message.m-marked { box-shadow: 0 0 0 4px color-mix(in srgb, currentColor 30%, transparent); }
.m-message.m-now { border-left-color: currentColor; font-weight: 600; }
.m-head { font-size: .8rem; margin-bottom: .1rem; }
.m-head time { opacity: .68; margin: 0 .5em 0 .25em; }
details.m-long > summary { cursor: pointer; list-style: none; }
details.m-long > summary .m-more { text-decoration: underline; opacity: .7; font-size: .8rem; }
details.m-long[open] > summary > .m-start, details.m-long[open] > summary .m-more { display: none; }

.m-box { max-height: 640px; overflow-y: auto; }
.m-layer { border-left: .6rem solid var(--m); padding: .25rem .7rem .45rem; margin: .35rem 0;
  background: color-mix(in srgb, var(--m) 8%, transparent); border-radius: .25rem; }
.m-layer > .m-head { display: flex; justify-content: space-between; gap: 1rem; }
.m-empty { opacity: .6; }
mark.m-found { background: color-mix(in srgb, currentColor 22%, transparent); color: inherit;
  font-weight: 600; border-bottom: 2px solid currentColor; }
.m-diff { border: 1px solid color-mix(in srgb, currentColor 20%, transparent);
  border-radius: .4rem; padding: .3rem 0; }
.m-line { padding: 0 .6rem; display: flex; gap: .6rem; }
.m-line > .m-words { min-height: 1.1em; flex: 1; }
.m-line.m-entered { background: color-mix(in srgb, #0072B2 17%, transparent); }
.m-line.m-left { background: color-mix(in srgb, #D55E00 15%, transparent); }
.m-plain tr:last-child td { font-weight: inherit; }
.m-cases { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem; margin-top: .4rem; }
.m-case { border: 1px solid color-mix(in srgb, var(--m) 45%, transparent); min-width: 0;
  border-left: .4rem solid var(--m); border-radius: .4rem; padding: .3rem .6rem .4rem; }
.m-case > .m-head { display: flex; justify-content: space-between; flex-wrap: wrap; gap: 0 .6rem;
  font-size: .85rem; margin-bottom: .25rem; }
.m-pair { display: flex; gap: .55rem; font-size: .84rem; padding: .22rem 0;
  border-top: 1px solid color-mix(in srgb, currentColor 12%, transparent); }
.m-pair > div { min-width: 0; flex: 1; }
.m-score { font-variant-numeric: tabular-nums; font-weight: 600; }
.m-pair .m-words { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
  overflow: hidden; }
.m-pair .m-scored { opacity: .72; }
.m-answer .m-reply { margin: .2rem 0 .45rem; max-height: 24rem; overflow-y: auto;
  font-size: 1.06rem; }
.m-call { border: 1px solid color-mix(in srgb, var(--m) 45%, transparent); margin: .35rem 0;
  border-left: .4rem solid var(--m); border-radius: .4rem; padding: .3rem .7rem .4rem; }
.m-call > summary { cursor: pointer; }
.m-call > summary .m-chip { margin-left: .3em; }
.m-told { max-height: 18rem; overflow-y: auto; }
.m-line.m-skip { opacity: .6; font-style: italic; }
"""


def styles() -> Html:
    """The style sheet of all of it, for light and dark alike."""
    colours = {**{str(layer): colour for layer, colour in LAYER_COLOURS.items()}}
    colours |= {"lost": LOST_COLOUR, "quiet": QUIET_COLOUR, "reached": REACHED_COLOUR}
    rules = [f".m-{name} {{ --m: {colour}; }}" for name, colour in colours.items()]
    rules += [
        f".m-held.m-{layer}, .m-layer.m-{layer} {{ position: relative; }} "
        f".m-held.m-{layer}::before, .m-layer.m-{layer}::before {{ content: ''; position: absolute;"
        f" left: -.55rem; top: 0; bottom: 0; width: .5rem; background: {stripes}; }}"
        for layer, stripes in _STRIPES.items()
        if stripes != "none"
    ]
    return Html(f"<style>{''.join(rules)}{_RULES}</style>")
