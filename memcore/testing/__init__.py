"""For tests of `memcore` and of what is built on it: a store in memory, a clock to set, and an
embedder that is known beforehand.

Nothing here touches the disk, the network or the wall clock.
"""

from memcore.testing.clock import SettableClock
from memcore.testing.embedder import PredictableEmbedder, PredictableLearner
from memcore.testing.store import InMemoryStore

__all__ = ["InMemoryStore", "PredictableEmbedder", "PredictableLearner", "SettableClock"]
