"""The summary as Markdown; formulas stay `$…$`."""

from __future__ import annotations

import re

from attncli.export.render import environment, percent
from attncli.export.summary import Summary

__all__ = ["fence", "percent", "to_markdown"]


def to_markdown(summary: Summary) -> str:
    template = environment(autoescape=False).get_template("summary.md.j2")
    return template.render(summary=summary, fence=fence).strip() + "\n"


def fence(source: str) -> str:
    """A code fence longer than any run of backticks in `source`."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    return "`" * max(3, longest + 1)
