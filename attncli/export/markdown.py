"""The summary as Markdown; formulas stay `$…$`."""

from __future__ import annotations

import html
import re

from attncli.domain.printable import hidden_in, printable
from attncli.export.render import environment, percent
from attncli.export.summary import Summary

__all__ = ["fence", "percent", "to_markdown"]

_REFERENCE = re.compile(r"&(?=(#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};))")


def to_markdown(summary: Summary) -> str:
    jinja = environment(summary.lang, autoescape=False)
    jinja.filters["shown"] = shown
    return printable(jinja.get_template("summary.md.j2").render(summary=summary, fence=fence)).strip() + "\n"


def shown(text: str) -> str:
    """A card's Markdown, in which no `&#x202e;` becomes a hidden character once somebody renders it."""
    return _REFERENCE.sub(lambda found: "&" if _is_seen(f"&{found[1]}") else "&amp;", text)


def _is_seen(reference: str) -> bool:
    meant = html.unescape(reference)
    return bool(meant) and not hidden_in(meant)


def fence(source: str) -> str:
    """A code fence longer than any run of backticks in `source`."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    return "`" * max(3, longest + 1)
