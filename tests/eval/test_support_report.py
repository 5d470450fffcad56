"""`python -m eval support`."""

from __future__ import annotations

import json
from dataclasses import replace

from typer.testing import CliRunner

from eval.cli import app
from eval.support_report import load_pairs, report, report_text


def test_the_command_prints_one_json_object_with_every_part() -> None:
    result = CliRunner().invoke(app, ["support", "--json"])
    assert result.exit_code == 0
    measured = json.loads(result.stdout)
    assert measured["pairs"] == len(load_pairs())
    assert {row["part"] for row in measured["by_language"]} == {pair.part for pair in load_pairs()}
    row = measured["by_language"][0]
    assert row["unsupported_recall"]["count"] + row["supported_recall"]["count"] == row["pairs"]


def test_a_wrong_verdict_is_listed_with_its_sources() -> None:
    pair = next(one for one in load_pairs() if one.supported)
    text = report_text(report([replace(pair, supported=False)]))
    assert "1 wrong" in text
    assert f"let through: {pair.line}" in text
    assert f"said: {pair.sources[0].text}" in text
