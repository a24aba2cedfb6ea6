"""A card as plain data: the way to answer it, and the parts of its answer. Renderers need no kinds of cards.

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
    """A block of code. With `marked` lines (from 1), all lines are numbered and the marked ones highlighted."""

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
    """A learner's answer: the places of rows, from 0 in the order shown, or the texts of fields."""

    places: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def is_blank(self) -> bool:
        return not self.places and not any(text.strip() for text in self.texts)


@dataclass(frozen=True, slots=True)
class Entry:
    """A way to answer a card. This class means aloud; subclasses use its `rows`, or typing."""

    rows: tuple[Row, ...] = ()

    @property
    def wanted(self) -> int:
        """The number of rows in an answer; 0 for one or more."""
        return 1

    def start(self) -> Answer:
        """Return the empty answer to fill in."""
        return Answer()


@dataclass(frozen=True, slots=True)
class Choose(Entry):
    """Choose one of the rows, or `several`."""

    several: bool = False

    @property
    def wanted(self) -> int:
        return 0 if self.several else 1


@dataclass(frozen=True, slots=True)
class Arrange(Entry):
    """Put all rows in order; `order` has the places of a right order."""

    order: tuple[int, ...] = ()

    @property
    def wanted(self) -> int:
        return len(self.rows)

    def start(self) -> Answer:
        return Answer(list(range(len(self.rows))))


@dataclass(frozen=True, slots=True)
class FindLine(Entry):
    """Choose one of the rows, which are lines of code."""

    @property
    def code(self) -> str:
        return "\n".join(row.text["en"] for row in self.rows)

    @property
    def lines(self) -> tuple[int, ...]:
        """The right lines, from 1."""
        return tuple(number for number, row in enumerate(self.rows, 1) if row.right)


@dataclass(frozen=True, slots=True)
class Fill(Entry):
    """Type into one or more `fields`: a number in `unit`, or texts."""

    fields: int = 1
    is_number: bool = False
    unit: str = ""

    def start(self) -> Answer:
        return Answer(texts=[""] * self.fields)


ALOUD = Entry()


@dataclass(frozen=True, slots=True)
class Marked:
    """The result of marking: the feedback, and which of several blanks or options are right."""

    correct: bool
    detail: Localised = NOTHING
    parts: tuple[bool, ...] = ()
