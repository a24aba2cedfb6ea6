"""What the templates of the summary share."""

from __future__ import annotations

from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from attncli.domain.text import Lang
from attncli.words.summary_texts import LABELS, labels


def environment(lang: Lang, *, autoescape: bool) -> Environment:
    """Jinja with the room's templates; an unknown name is an error, never an empty string."""
    jinja = Environment(
        loader=PackageLoader("attncli.export"),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters["percent"] = partial(percent, lang=lang)
    jinja.filters["cell"] = cell
    jinja.globals["labels"] = labels
    return jinja


def percent(share: float | None, lang: Lang = "en") -> str:
    return "–" if share is None else LABELS["share"][lang].format(f"{100 * share:.0f}")


def cell(text: Any) -> str:
    """Text for a Markdown table cell: one line, pipes escaped."""
    return " ".join(str(text).split()).replace("|", "\\|")
