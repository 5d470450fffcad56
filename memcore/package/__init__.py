"""The memory package: everything of one owner in a `.zip`, written and taken in whole.

`docs/package.md` describes the format.
"""

from memcore.package.content import Counts, Package
from memcore.package.export import Exported, export_package
from memcore.package.import_ import Imported, import_package
from memcore.package.reading import read_package

__all__ = [
    "Counts",
    "Exported",
    "Imported",
    "Package",
    "export_package",
    "import_package",
    "read_package",
]
