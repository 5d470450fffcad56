"""Brains: models behind one small interface. For now, how a composition is put for each kind."""

from memcore.brains.rendering import anthropic_request, openai_messages

__all__ = ["anthropic_request", "openai_messages"]
