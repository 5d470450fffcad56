"""Every error that Mnemoscope raises on purpose, in one tree.

    MnemoscopeError
    ├── InvalidInput            a value given by the caller is not acceptable
    │   ├── InvalidSettings     a setting is unknown or out of range
    │   ├── InvalidRequest      what would be sent to a model breaks the rules of its API
    │   ├── NoteTooLong         a note is longer than an item may be
    │   ├── SecretFound         the text holds a secret and is refused
    │   └── PackageRefused      a memory package cannot be taken in, or not be made
    ├── NotFound                no such message, note, run, question
    ├── Conflict                somebody else wrote in between
    │   └── StaleRevision       a note was written against an old revision
    ├── StoreError              the store did not do what was asked
    │   ├── StoreBusy           another process held the store for too long
    │   ├── StoreDamaged        the file is not a store, or is broken
    │   └── NewerSchema         the store was written by a newer version
    ├── ProviderError           an embedding provider or a brain did not do what was asked
    │   ├── ProviderUnavailable no network, too slow, overloaded: later it may answer
    │   ├── ProviderRefused     a wrong key, an unknown model: it will not answer as it is set up
    │   ├── ProviderAnswer      what it answered cannot be used
    │   └── MissingPackage      the package that it needs is not installed
    └── LayerTimeout            a composer layer took longer than its limit

`eval` adds `DatasetError` and `RunError` under the same base.
"""

from collections.abc import Sequence


class MnemoscopeError(Exception):
    """Base of all. Catch it to handle anything that Mnemoscope reports."""


class InvalidInput(MnemoscopeError, ValueError):
    """Correct the value named in the message and call again; nothing was written."""


class InvalidSettings(InvalidInput):
    """Correct the setting named in the message; the message lists what is allowed."""


class InvalidRequest(InvalidInput):
    """Correct the history: the message names the place and the rule. Nothing was sent."""


class NoteTooLong(InvalidInput):
    """Shorten or split the text. `size` and `limit` are in characters; nothing was written."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the note has {size} characters and an item holds at most {limit}; "
            "nothing was written: shorten it or split it"
        )
        self.size = size
        self.limit = limit


class SecretFound(InvalidInput):
    """Take the secret out of the text. The message names its kind and place, never its value."""

    def __init__(self, kind: str, start: int, field: str = "text") -> None:
        super().__init__(
            f"a secret ({kind}) begins at character {start} of the {field}; nothing was written: "
            "take it out and keep it where secrets are kept"
        )
        self.kind = kind
        self.start = start
        self.field = field


class PackageRefused(InvalidInput):
    """Correct the package as the message says; nothing was written.

    `conflicts` are the items that are stored already and are not as in the package; empty where it
    was refused for something else.
    """

    def __init__(self, message: str, conflicts: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.conflicts = tuple(conflicts)


class NotFound(MnemoscopeError, LookupError):
    """Check the id; the message says where it was looked for."""


class Conflict(MnemoscopeError):
    """Read again, then decide again; nothing was written."""


class StaleRevision(Conflict):
    """Read the note again and write against `current`. `expected` is what the caller had."""

    def __init__(self, key: str, expected: int, current: int) -> None:
        super().__init__(
            f"note {key!r} is at revision {current}, the write expected revision {expected}; "
            "nothing was written: read it again and decide again"
        )
        self.key = key
        self.expected = expected
        self.current = current


class StoreError(MnemoscopeError):
    """The store failed. The transaction was rolled back; trying again is safe."""


class StoreBusy(StoreError):
    """Another process wrote for longer than the time limit. Try again."""


class StoreDamaged(StoreError):
    """The file is not a Mnemoscope store or is broken. Restore it from a backup."""


class NewerSchema(StoreError):
    """The store was written by a newer version. Upgrade Mnemoscope; the store was not touched."""


class ProviderError(MnemoscopeError):
    """Texts were not embedded, and stay queued; or a brain gave no reply. Nothing is lost."""


class ProviderUnavailable(ProviderError):
    """Try again later. `after` is how many seconds the provider asked to wait, None if it did not
    say."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class ProviderRefused(ProviderError):
    """Correct what the message names: the key, the model or the address."""


class ProviderAnswer(ProviderError):
    """What came is no reply; or vectors of a wrong number or width, or without direction.

    `refused` are the positions of the texts that it is about, empty where it is about all.
    """

    def __init__(self, message: str, refused: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.refused = tuple(refused)


class MissingPackage(ProviderError, ImportError):
    """Install the package with the command that the message gives."""

    def __init__(self, package: str, needed_for: str) -> None:
        super().__init__(
            f"{needed_for} needs the package {package}: python -m pip install {package}"
        )
        self.package = package


class LayerTimeout(MnemoscopeError):
    """A layer did not answer in time. The turn is composed without it."""
