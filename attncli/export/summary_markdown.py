"""The summary as Markdown; formulas stay `$…$`."""

from __future__ import annotations

import html
import re

from attncli.domain.printable import hidden_in, printable
from attncli.export.markdown_writing import code_block
from attncli.export.summary import Summary, TopicLine
from attncli.export.summary_phrases import environment

_REFERENCE = re.compile(r"&(?=(#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};))")


def to_markdown(*parts: Summary) -> str:
    """The summary in one language or, one part after the other, in several."""
    jinja = environment(autoescape=False)
    jinja.filters["shown"] = shown
    page = jinja.get_template("summary.md.j2").render(parts=parts, code_block=code_block, bar=bar)
    return printable(page).strip() + "\n"


def bar(topic: TopicLine) -> str:
    """A topic's readiness on the day as a bar of ten: full blocks, and lighter ones for what was only seen."""
    ready = round(10 * topic.readiness_on_day)
    seen = max(round(10 * topic.seen / topic.total) if topic.total else 0, ready)
    return "█" * ready + "▒" * (seen - ready) + "░" * (10 - seen)


def shown(text: str) -> str:
    """A card's Markdown, in which no `&#x202e;` becomes a hidden character once somebody renders it."""
    return _REFERENCE.sub(lambda found: "&" if _is_seen(f"&{found[1]}") else "&amp;", text)


def _is_seen(reference: str) -> bool:
    meant = html.unescape(reference)
    return bool(meant) and not hidden_in(meant)
