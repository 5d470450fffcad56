"""Drives `memcore`: datasets in, runs out, figures and verdicts over runs.

Import its modules as `from eval.recall import …`; `import eval` would hide the builtin.
"""
