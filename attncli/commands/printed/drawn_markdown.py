"""Markdown with its headings and lists drawn, for a terminal."""

from __future__ import annotations

from attncli.domain.printable import printable


def print_markdown(text: str) -> None:
    """Prints `text`; what it says is cleaned once it is taken apart, as `&#x202e;` is a character only then.

    A link shows where it leads: a hidden address in a terminal is one that nobody has read.
    """
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.segment import Segment, Segments

    console = Console()
    drawn = console.render(Markdown(printable(text), hyperlinks=False))
    console.print(Segments(Segment(printable(part.text), part.style) for part in drawn if not part.is_control))
