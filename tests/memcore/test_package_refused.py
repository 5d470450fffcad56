"""What is no good package is refused by name, and nothing is written."""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcore import InvalidInput, NotFound, PackageRefused, import_package, read_package
from memcore.package import archive, reading
from tests.packages import GOOD, MESSAGE, NOTE, SUMMARY, members, package, with_row, zipped
from tests.support import ANNA, memory

SECRET = "sk-ant-api03-abcdefghijklmnop1234"


def with_member(name: str, data: bytes = b"", mode: int = stat.S_IFREG | 0o644) -> bytes:
    return zipped({**members(), name: data}, mode=mode)


def renamed(old: str, new: str) -> bytes:
    """A name of the same length changed wherever it stands in the zip."""
    assert len(old) == len(new)
    return package().replace(old.encode(), new.encode())


def twice() -> bytes:
    file = io.BytesIO(package())
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a") as added:
        warnings.simplefilter("ignore")
        added.writestr("notes.jsonl", b"")
    return file.getvalue()


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new, 1)


def central(data: bytes, offset: int, value: bytes) -> bytes:
    """A field of the last member's entry in the directory overwritten."""
    place = data.rindex(b"PK\x01\x02") + offset
    return data[:place] + value + data[place + len(value) :]


def wrong_sum() -> bytes:
    content = members()
    return zipped({**content, "notes.jsonl": content["notes.jsonl"].replace(b"roses", b"tulip")})


def bomb() -> bytes:
    return zipped(members({"notes.jsonl": b" " * (2 << 20)}), zipfile.ZIP_DEFLATED)


def a_note(**changes: Any) -> bytes:
    return with_row("notes.jsonl", **changes)


def a_message(**changes: Any) -> bytes:
    return with_row("messages.jsonl", **changes)


def raw(line: bytes) -> bytes:
    return package({"messages.jsonl": [line]})


def message_text(**changes: Any) -> bytes:
    return json.dumps({**MESSAGE, **changes}, ensure_ascii=False).encode("utf-8", "surrogatepass")


DEEP = b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
GONE = {name: rows for name, rows in members().items() if name != "notes.jsonl"}

REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    # the zip
    "empty file": (lambda: b"", "not a zip"),
    "not a zip": (lambda: b"This is a diary. " * 100, "not a zip"),
    "an empty zip": (lambda: zipped({}), "has no manifest.json"),
    "truncated": (lambda: package()[:-30], "damaged"),
    "only its start": (lambda: package()[:200], "damaged"),
    "something behind its end": (lambda: package() + b"x", "damaged"),
    "something before its start": (lambda: b"#!/bin/sh\n" + package(), "not a zip"),
    "wrong CRC": (lambda: changed(package(), b"likes roses", b"likes tulip"), "damaged.*CRC"),
    "wrong hash": (wrong_sum, "damaged: notes.jsonl is not what manifest.json says"),
    "a member gone": (lambda: zipped(GONE), "damaged: 'notes.jsonl'"),
    "a member that the manifest has not": (
        lambda: with_member("facts.jsonl"), "damaged: 'facts.jsonl'"),
    "no manifest": (lambda: zipped({"notes.jsonl": b""}), "no manifest.json"),
    "parent folder": (lambda: with_member("../notes.jsonl"), "leads out"),
    "parent folder within": (lambda: with_member("a/../../notes.jsonl"), "leads out"),
    "absolute": (lambda: with_member("/etc/passwd"), "absolute"),
    "a drive": (lambda: with_member("C:notes.jsonl"), "absolute"),
    "backslashes": (lambda: with_member("..\\notes.jsonl"), "another system"),
    "symbolic link": (
        lambda: with_member("skills.jsonl", b"/etc/passwd", stat.S_IFLNK | 0o777), "symbolic link"),
    "a device": (lambda: with_member("skills.jsonl", b"", stat.S_IFCHR | 0o600), "not a file"),
    "a folder": (lambda: with_member("notes/"), "not a file"),
    "unknown member": (lambda: with_member("secrets.jsonl"), "is unknown; there are"),
    "unknown by its case": (lambda: renamed("notes.jsonl", "Notes.jsonl"), "is unknown"),
    "a NUL in a name": (lambda: renamed("notes.jsonl", "notes\0jsonl"), "is unknown"),
    "a name twice": (twice, "is there twice"),
    "encrypted": (lambda: central(package(), 8, b"\1\0"), "is encrypted"),
    "packed otherwise": (lambda: zipped(members(), zipfile.ZIP_BZIP2), "not read"),
    "a bomb": (bomb, "more than 100 times"),
    "a declared size too large": (
        lambda: central(package(), 24, struct.pack("<L", 300 << 20)), "at most"),
    "more unpacked than declared": (
        lambda: central(package(), 24, struct.pack("<L", 3)), "damaged"),
    "less unpacked than declared": (
        lambda: central(package(), 24, struct.pack("<L", 5000)), "damaged"),
    "a directory too long": (
        lambda: package()[:-10] + struct.pack("<L", 1 << 20) + package()[-6:], "directory"),
    "zip64": (
        lambda: package()[:-22] + b"PK\x06\x07" + bytes(16) + package()[-22:], "zip64"),
    # the manifest
    "newer format": (lambda: package(format=2), "has format 2, this version reads up to 1"),
    "newer format, otherwise unlike": (
        lambda: zipped({"manifest.json": b'{"kind": "mnemoscope memory package", "format": 9}'}),
        "format 9"),
    "format 0": (lambda: package(format=0), "manifest.json: 'format'"),
    "a format that is text": (lambda: package(format="1"), "manifest.json: 'format'"),
    "another kind": (lambda: package(kind="backup"), "manifest.json: 'kind'"),
    "no JSON": (lambda: zipped({"manifest.json": b"{"}), "manifest.json: Invalid JSON"),
    "a manifest not in UTF-8": (lambda: zipped({"manifest.json": b'{"\xff": 1}'}), "not UTF-8"),
    "a manifest too long": (lambda: zipped({"manifest.json": b" " * 70_000}), "at most 65536"),
    "a manifest nested deeply": (lambda: zipped({"manifest.json": DEEP[:60_000]}), "JSON"),
    "an unknown entry": (lambda: package(more=1), "'more': Extra inputs"),
    "no owner": (lambda: package(owner=None), "'owner'"),
    "an owner with a control character": (
        lambda: package(owner={"team": "a\nb", "agent": "b", "person": "c"}), "control character"),
    "wrong counts": (
        lambda: package(counts={"notes": 2, "revisions": 2, "messages": 1, "summaries": 1,
                                "events": 1}), "damaged: manifest.json counts"),
    "facts": (lambda: package({"facts.jsonl": b"{}\n"}), "facts.jsonl is not empty"),
    # the lines
    "bad UTF-8": (lambda: raw(b'{"id": "\xff"}'), "messages.jsonl line 1 is not UTF-8"),
    "UTF-16": (lambda: raw("{}".encode("utf-16")), "is not UTF-8"),
    "a surrogate as bytes": (lambda: raw(message_text(text="a\ud800")), "is not UTF-8"),
    "a surrogate as an escape": (lambda: a_message(text="a\ud800"), "line 1: Invalid JSON"),
    "a byte order mark": (lambda: raw(b"\xef\xbb\xbf" + message_text()), "line 1: Invalid JSON"),
    "an empty line": (lambda: raw(b""), "line 1: Invalid JSON"),
    "no object": (lambda: raw(b"[]"), "line 1"),
    "deep nesting": (lambda: raw(DEEP), "line 1: Invalid JSON: recursion limit"),
    "deep objects": (lambda: raw(b'{"id":' * 5_000), "line 1: Invalid JSON: recursion limit"),
    "a huge integer": (lambda: raw(b'{"id": ' + b"9" * 10_000 + b"}"), "line 1"),
    "a huge revision": (lambda: a_note(revision=10**30), "'revision'"),
    "not a number": (lambda: raw(b'{"id": NaN}'), "line 1"),
    "revision 0": (lambda: a_note(revision=0), "'revision'"),
    "a revision with a point": (lambda: a_note(revision=1.0), "'revision'"),
    "a revision that is true": (lambda: a_note(revision=True), "'revision'"),
    "a text that is a number": (lambda: a_note(text=5), "'text'"),
    "sources that are text": (lambda: a_note(sources="m1"), "'sources'"),
    "a source that is a number": (lambda: a_note(sources=[1]), "'sources.0'"),
    "too many sources": (lambda: a_note(sources=["m"] * 10_001), "'sources'"),
    "an unknown key": (lambda: a_note(place=1), "'place': Extra inputs"),
    "a key missing": (lambda: raw(b'{"id": "m1"}'), "Field required"),
    "two notes of one day": (
        lambda: package({"notes.jsonl": [{**NOTE, "key": "2026-03-02"},
                                         {**NOTE, "key": "2026-03-02", "text": "Tulips"}]}),
        "line 2: two notes of 2026-03-02"),
    "a long note": (lambda: a_note(text="x" * 2_001), "2001 characters.*at most 2000"),
    "a long earlier revision": (
        lambda: package({"notes.jsonl": [{**NOTE, "text": "x" * 2_001}, {**NOTE, "revision": 2}]}),
        "line 1.*2001"),
    "an empty note": (lambda: a_note(text=" \n"), "empty"),
    "a secret in a note": (lambda: a_note(text=f"key {SECRET}"), "secret .Anthropic key"),
    "a secret in a summary": (
        lambda: with_row("summaries.jsonl", text=f"key {SECRET}"), "summaries.jsonl line.*secret"),
    "a secret in the journal": (
        lambda: with_row("journal.jsonl", detail=f"key {SECRET}"), "journal.jsonl line.*secret"),
    "a long summary": (lambda: with_row("summaries.jsonl", text="x" * 2_001), "2001 characters"),
    "a bad day": (lambda: a_note(key="2026-02-30"), "YYYY-MM-DD"),
    "a day in other words": (lambda: a_note(key="20260302"), "YYYY-MM-DD"),
    "a bad time": (lambda: a_message(time="yesterday"), "'time'"),
    "a time that is a number": (lambda: a_message(time=1772442000), "'time': a time is text"),
    "a naive time": (lambda: a_message(time="2026-03-02T09:00:00"), "no zone"),
    "a naive time of a note": (lambda: a_note(written="2026-03-02"), "no zone"),
    "a time out of range": (
        lambda: a_message(time="0001-01-01T00:00:00+05:00"), "out of range"),
    "an unknown role": (lambda: a_message(role="system"), "'role'"),
    "an unknown writer": (lambda: a_note(writer="agent"), "'writer'"),
    "an empty message": (lambda: a_message(text=" "), "has no text"),
    "a message without id": (lambda: a_message(id=""), "has no id"),
    "two messages of one id": (
        lambda: package({"messages.jsonl": [MESSAGE, {**MESSAGE, "thread": "t2"}]}),
        "line 2: two messages of id 'm1'"),
    "two summaries of one thread": (
        lambda: package({"summaries.jsonl": [SUMMARY, SUMMARY]}), "line 2: two summaries"),
    "a NUL in an id": (lambda: a_message(id="m\0"), "'id': .*control character"),
    "a line end in an id": (lambda: a_message(id="m\n1"), "control character"),
    "a line separator in a thread": (lambda: a_message(thread="t\u2028"), "control character"),
    "a control character in a source": (lambda: a_note(sources=["\x1b[2J"]), "control character"),
    "the event of an import": (
        lambda: with_row("journal.jsonl", actor="import", action="note imported"), "line 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_refused_by_name_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    make, told = REFUSED[name]
    path = tmp_path / "package.zip"
    path.write_bytes(make())
    mind = memory()
    with pytest.raises(PackageRefused, match=told) as caught:
        import_package(mind, path)
    assert mind.store.owners() == []
    message = str(caught.value)
    assert "\n" not in message
    assert "abcdefghij" not in message
    assert len(message) < 400
    assert [one.name for one in tmp_path.iterdir()] == ["package.zip"]


def test_what_they_were_made_of_is_good_stored_or_deflated(tmp_path: Path) -> None:
    for number, method in enumerate((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(zipped(members({"facts.jsonl": b""}), method))
        content = read_package(path, 2_000)
        assert (content.owner, len(content.messages)) == (ANNA, 1)
        assert [one.text for one in content.histories["page"]] == [NOTE["text"]]
    path.write_bytes(zipped(members(dict.fromkeys(GOOD, b""))))
    assert read_package(path, 2_000).messages == ()
    bare = members({}, members={}, counts=dict.fromkeys(
        ("notes", "revisions", "messages", "summaries", "events"), 0))  # fmt: skip
    path.write_bytes(zipped({"manifest.json": bare["manifest.json"]}))
    assert read_package(path, 2_000).histories == {}


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_package_cut_off_or_changed_anywhere_is_refused_or_the_same(
    cut: int, tmp_path: Path
) -> None:
    path, good = tmp_path / "package.zip", package()
    path.write_bytes(good)
    whole = read_package(path, 2_000)
    place = len(good) * cut // 40
    path.write_bytes(good[:place])
    with pytest.raises(PackageRefused):
        read_package(path, 2_000)
    path.write_bytes(good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :])
    try:
        content = read_package(path, 2_000)
    except PackageRefused:
        return
    assert (content.histories, content.messages) == (whole.histories, whole.messages)


def test_limits_hold_for_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "package.zip"
    path.write_bytes(package({"messages.jsonl": [MESSAGE, {**MESSAGE, "id": "m2"}]}))
    for module, name, value, told in (
        (archive, "PACKAGE_BYTES", 1_000, "the package has .* bytes, at most 1000"),
        (archive, "MEMBER_BYTES", 100, "bytes, at most 100"),
        (reading, "LINE_BYTES", 100, "line 1 has more than 100 bytes"),
        (reading, "ROWS", 1, "messages.jsonl has more than 1 lines"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, value)
            with pytest.raises(PackageRefused, match=told):
                read_package(path, 2_000)
    assert len(read_package(path, 2_000).messages) == 2


def test_members_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "package.zip"
    rows = [{**MESSAGE, "id": f"m{number}"} for number in range(100)]
    path.write_bytes(zipped(members({"messages.jsonl": rows}), zipfile.ZIP_DEFLATED))
    monkeypatch.setattr(archive, "PACKAGE_BYTES", path.stat().st_size + 100)
    with pytest.raises(PackageRefused, match="bytes together"):
        read_package(path, 2_000)


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no package"):
        read_package(tmp_path / "none.zip", 2_000)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(PackageRefused, match="not a file"):
            read_package(path, 2_000)


def test_a_refusal_is_an_invalid_input() -> None:
    assert issubclass(PackageRefused, InvalidInput)
    assert PackageRefused("no").conflicts == ()
