"""A card as plain data: how it is answered, and the parts of its answer. Media render these, and know no kinds.

The app has a widget for each class of `Entry`, `--plain` a prompt, the assistant an argument of its tool.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from attncli.i18n import NOTHING, Localised


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a list. `right` is None where rows are not right or wrong; `why` is the reason why one is wrong."""

    text: Localised
    right: bool | None = None
    why: Localised | None = None


# Parts of an answer


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text in Markdown."""

    text: Localised


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code. With `marked` lines (from 1) all lines are numbered, and these ones stand out."""

    source: Localised
    language: str = ""
    marked: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """A list, numbered if `ordered`."""

    rows: tuple[Row, ...]
    ordered: bool = False


Part = Paragraph | Code | Rows


# Ways to answer


@dataclass(slots=True)
class Answer:
    """An answer as it is filled in: the places of rows, from 0 in the order shown, or the texts of fields."""

    places: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        return not self.places and not any(text.strip() for text in self.texts)


@dataclass(frozen=True, slots=True)
class Entry:
    """Way to answer a card: by some of its `rows`, by typing, or, as this one, aloud."""

    rows: tuple[Row, ...] = ()

    @property
    def wanted(self) -> int:
        """Count of the rows that an answer names; 0 for one or more."""
        return 1

    def start(self) -> Answer:
        """Return the answer before anything is filled in."""
        return Answer()


@dataclass(frozen=True, slots=True)
class Choose(Entry):
    """By one of the rows, or by `several`."""

    several: bool = False

    @property
    def wanted(self) -> int:
        return 0 if self.several else 1


@dataclass(frozen=True, slots=True)
class Arrange(Entry):
    """By the order of all rows; `order` are the places of a right one."""

    order: tuple[int, ...] = ()

    @property
    def wanted(self) -> int:
        return len(self.rows)

    def start(self) -> Answer:
        return Answer(list(range(len(self.rows))))


@dataclass(frozen=True, slots=True)
class FindLine(Entry):
    """By one of the rows, which are lines of code."""

    @property
    def code(self) -> str:
        return "\n".join(row.text["en"] for row in self.rows)

    @property
    def lines(self) -> tuple[int, ...]:
        """The right lines, from 1."""
        return tuple(number for number, row in enumerate(self.rows, 1) if row.right)


@dataclass(frozen=True, slots=True)
class Fill(Entry):
    """By typing into one or more `fields`; a number in `unit`, or texts."""

    fields: int = 1
    is_number: bool = False
    unit: str = ""

    def start(self) -> Answer:
        return Answer(texts=[""] * self.fields)


ALOUD = Entry()


@dataclass(frozen=True, slots=True)
class Marked:
    """The result of marking: the feedback, and of several blanks or options which are right."""

    correct: bool
    detail: Localised = NOTHING
    parts: tuple[bool, ...] = ()
