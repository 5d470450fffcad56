"""Settings: what is refused, and how it is said."""

from __future__ import annotations

import pytest

from memcore import InvalidInput, Settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ceiling", "-1"),
        ("ceiling", "abc"),
        ("ceiling", "9" * 24),
        ("search_depth", "0"),
        ("excerpts_cutoff", "nan"),
        ("bm25_k1", "inf"),
        ("layer_seconds", "0"),
        ("search_mode", "psychic"),
        ("timezone", "Mars/Olympus"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_name(name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=f"settings not accepted: {name}"):
        Settings().vary(**{name: value})


def test_an_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"unknown setting celing; known: .*ceiling"):
        Settings().vary(celing=1)


def test_the_defaults_together_never_reach_the_ceiling() -> None:
    caps = ("summary_cap", "notes_cap", "excerpts_cap", "window_cap")
    assert sum(getattr(Settings(), cap) for cap in caps) == Settings().ceiling == 18_000
