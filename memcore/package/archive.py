"""The zip of a package: written to the same bytes always, read with suspicion.

Nothing is unpacked to disk. What a zip says of itself is checked before anything is read of it, and
what comes out is held against that.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, NoReturn

from memcore.errors import NotFound, PackageRefused
from memcore.package.format import (
    DIRECTORY_BYTES,
    MANIFEST,
    MANIFEST_BYTES,
    MEMBER_BYTES,
    MIB,
    PACKAGE_BYTES,
    RATIO,
    RESERVED,
    WRITTEN,
)

KNOWN = frozenset((MANIFEST, *WRITTEN, *RESERVED))
CHUNK = 1 << 16
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_END = struct.Struct("<4s4H2LH")  # the end record: its size and place of the directory, a comment
_LOCATOR = 20
"""Bytes of a zip64 locator, which stands right before the end record."""
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    ValueError,
    OverflowError,
)


def write_members(file: IO[bytes], members: Mapping[str, bytes]) -> None:
    """Writes a zip of these members in this order: stored, with fixed times, so that the bytes
    depend on nothing else."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system = _UNIX
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, data)


def read_members(path: Path) -> tuple[dict[str, bytes], str]:
    """The members of a package by name, and the SHA-256 of the file.

    Raises `NotFound` where there is no file, `PackageRefused` where it is no zip, is damaged, is
    larger than may be or would become so, or has other members than a package has.
    """
    if not os.path.lexists(path):
        raise NotFound(f"there is no package {path}")
    if not path.is_file():
        raise PackageRefused(f"{path} is not a file")
    try:
        with path.open("rb") as file:
            _check_ends(file)
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            with zipfile.ZipFile(file) as archive:
                found = archive.infolist()
                _check_members(found)
                return {info.filename: _read(archive, info) for info in found}, sha256
    except PackageRefused:
        raise
    except OSError as error:
        raise PackageRefused(f"{path} cannot be read: {error.strerror or error}") from error
    except _BROKEN as error:
        raise PackageRefused(f"the package is damaged: {error}") from error


def _check_ends(file: IO[bytes]) -> None:
    """The library would read a directory of any length, so its end record is looked at first."""
    size = os.fstat(file.fileno()).st_size
    if size > PACKAGE_BYTES:
        _refuse(f"the package has {size} bytes, at most {PACKAGE_BYTES} are read")
    start = file.read(4)
    if start not in (b"PK\x03\x04", b"PK\x05\x06") or size < _END.size:
        _refuse("the package is not a zip")
    file.seek(max(size - _END.size - _LOCATOR, 0))
    tail = file.read()
    end = _END.unpack(tail[-_END.size :])
    if end[0] != b"PK\x05\x06" or end[-1]:
        _refuse("the package is damaged: it is cut off, or something stands behind its end")
    if tail.startswith(b"PK\x06\x07"):
        _refuse("the package is a zip64, for which it is too small")
    if end[5] > DIRECTORY_BYTES:
        _refuse(f"the package's directory has {end[5]} bytes, at most {DIRECTORY_BYTES} are read")


def _check_members(found: Iterable[zipfile.ZipInfo]) -> None:
    seen: set[str] = set()
    total = 0
    for info in found:
        name = info.orig_filename
        fault = _fault_of_name(info, seen) or _fault_of_size(info)
        if fault:
            _refuse(f"the member {name[:80]!a} {fault}")
        seen.add(name)
        total += info.file_size
    if total > PACKAGE_BYTES:
        _refuse(f"the members have {total} bytes together, at most {PACKAGE_BYTES} are read")
    if MANIFEST not in seen:
        _refuse(f"the package has no {MANIFEST}")


def _fault_of_name(info: zipfile.ZipInfo, seen: set[str]) -> str:
    name = info.orig_filename
    kind = stat.S_IFMT(info.external_attr >> 16)
    if name.startswith("/") or re.match("[A-Za-z]:", name) or "\\" in name:
        return "has an absolute name or one of another system"
    if ".." in name.split("/"):
        return "has a name that leads out of the package"
    if kind == stat.S_IFLNK:
        return "is a symbolic link"
    if kind not in (0, stat.S_IFREG) or name.endswith("/"):
        return "is not a file"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if name not in KNOWN:
        return f"is unknown; there are {', '.join(sorted(KNOWN))}"
    return "is there twice" if name in seen else ""


def _fault_of_size(info: zipfile.ZipInfo) -> str:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is packed in a way that is not read: store or deflate it"
    limit = MANIFEST_BYTES if info.filename == MANIFEST else MEMBER_BYTES
    if info.file_size > limit:
        return f"has {info.file_size} bytes, at most {limit} are read"
    if info.file_size > max(info.compress_size * RATIO, MIB):
        return f"becomes more than {RATIO} times what it is packed"
    return ""


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    parts, size = [], 0
    with archive.open(info) as stream:
        while chunk := stream.read(CHUNK):
            size += len(chunk)
            if size > info.file_size:
                break
            parts.append(chunk)
    if size != info.file_size:
        _refuse(f"the package is damaged: {info.filename} has not the {info.file_size} bytes told")
    return b"".join(parts)


def _refuse(reason: str) -> NoReturn:
    raise PackageRefused(reason)
