"""The one composer: what reaches a turn's prompt, and the account of what was paid for it."""

from memcore.composer.composer import Composer

__all__ = ["Composer"]
