"""How many seeds there are: a seed is drawn below these, and typed to have the same again."""

from __future__ import annotations

STREAMS = 2**31
"""Streams of inputs for a grading, rounds of repairs."""
SITTINGS = 1_000_000
"""Quizzes and interviews: short enough to be told to somebody."""
