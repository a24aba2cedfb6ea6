"""The phrases that the templates of the summary share: which of many are named, and where a question is cut."""

from __future__ import annotations

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from attncli.domain.text import Lang
from attncli.export.summary import CardLine, Summary
from attncli.words.summary_texts import LABELS, labels

CUT_AT = 150
CODE_NAMED = 6
_BLANKS = re.compile(r"_{3,}")


def environment(*, autoescape: bool) -> Environment:
    """Jinja with the room's templates; an unknown name is an error, never an empty string."""
    jinja = Environment(
        loader=PackageLoader("attncli.export"),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters["percent"] = unbroken_percent if autoescape else percent
    jinja.filters["reasons"] = reasons
    jinja.filters["cell"] = cell
    jinja.filters["asked"] = asked
    jinja.filters["cut"] = cut
    jinja.filters["code_named"] = code_named
    jinja.globals["labels"] = labels
    return jinja


def percent(share: float | None, lang: Lang = "en") -> str:
    return "–" if share is None else LABELS["share"][lang].format(f"{100 * share:.0f}")


def unbroken_percent(share: float | None, lang: Lang = "en") -> str:
    """The same for a page: the sign stays in the line of its number."""
    return percent(share, lang).replace(" ", "\u00a0")


def reasons(card: CardLine, summary: Summary) -> str:
    """Why a card is weak, in a few words."""
    words = labels(summary.lang)
    key = {"recall": "reason_recall" if summary.interview else "reason_recall_today"}
    said = (words[key.get(reason, f"reason_{reason}")] for reason in card.reasons)
    recall = unbroken_percent(card.recall, summary.lang)
    return words["and"].join(text.format(lapses=card.lapses, recall=recall) for text in said)


def code_named(summary: Summary) -> str:
    """The titles of some challenges that were solved, hardened ones first."""
    words = labels(summary.lang)
    titles = [line.title for line in sorted(summary.solved, key=lambda line: line.rung != "hardened")]
    more = words["more"].format(count=len(titles) - CODE_NAMED) if len(titles) > CODE_NAMED else ""
    return words["list"].join(titles[:CODE_NAMED]) + more


def asked(question: str) -> str:
    """A question in which a row of low lines is a blank and not mark-up."""
    return _BLANKS.sub(lambda found: "\\_" * len(found[0]), question)


def cell(text: Any) -> str:
    """Text for a Markdown table cell: one line, pipes escaped."""
    return " ".join(str(text).split()).replace("|", "\\|")


def cut(text: str) -> str:
    """The beginning of a question for a list of a few; whole where a formula or code would be torn."""
    line = " ".join(text.split())
    is_plain = not {"$", "`", "*"} & set(line)
    return f"{line[:CUT_AT].rstrip()} …" if is_plain and len(line) > CUT_AT + 10 else line
