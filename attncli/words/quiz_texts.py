"""What is said of a quiz and its score, in the app and line by line."""

from __future__ import annotations
