"""How a counterexample reads in the app and in a terminal: its lines, how many digits, which of the earlier calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from attncli.domain.grade_report import (
    ABSENT,
    DIGITS,
    CodeLine,
    Counterexample,
    ShownCall,
    ShownTensor,
    Value,
    named_lines,
    side_by_side,
    value_lines,
)
from attncli.domain.text import printable
from attncli.i18n import Lang, Localised, _

Style = Literal["value", "note", "place"]
MOST_CALLS_SHOWN = 4
MOST_DIGITS = 17
SAY: dict[str, Localised] = {
    "arguments": _("Called with"),
    "call": _("call {number} of: {calls}"),
    "earlier": _("call {number}, {name}:"),
    "expected": _("expected"),
    "got": _("got"),
    "reference": _("the reference"),
    "yours": _("your file"),
    "differs": _("* differs"),
    "first-wrong": _("first wrong at {index}"),
    "frame": _("{place}, in {function}: {code}"),
    "line": _("line {line}"),
    "again": _("… and {count} times more"),
}


@dataclass(frozen=True, slots=True)
class Answers:
    """What the two answers are called, and whether entries that are written otherwise get a star."""

    expected: str = "expected"
    got: str = "got"
    starred: bool = True


def counterexample_lines(
    shown: Counterexample, width: int, lang: Lang, file: str = "", answers: Answers | None = None
) -> Iterator[tuple[Style, str]]:
    """Its lines in `width` cells. A `place` in the learner's `file` may be longer than that; it can be wrapped."""
    if shown.args:
        yield "note", SAY["arguments"][lang]
        yield from _arguments(shown.args, width)
    if shown.call:
        calls = ", ".join(call.call for call in shown.calls)
        yield "note", SAY["call"][lang].format(number=shown.call, calls=calls)
    for number, call in _earlier_calls(shown):
        yield "note", SAY["earlier"][lang].format(number=number, name=call.call)
        for style, line in _arguments(call.args, width - 2):
            yield style, f"  {line}"
    if outcomes := list(_outcomes(shown, lang, answers or Answers())):
        yield from (("value", line) for line in ["", *side_by_side(outcomes, width)])
    if shown.first_wrong:
        yield "place", SAY["first-wrong"][lang].format(index=shown.first_wrong)
    yield from (("place", line) for line in frame_lines(shown.frames, file, lang))


def _earlier_calls(shown: Counterexample) -> list[tuple[int, ShownCall]]:
    """Number and call of each before the failing one, where they are few; of many the names say enough."""
    calls = shown.calls[: max(0, shown.call - 1)]
    return [] if len(calls) > MOST_CALLS_SHOWN else [found for found in enumerate(calls, 1) if found[1].args]


def _arguments(args: Mapping[str, Value], width: int) -> Iterator[tuple[Style, str]]:
    yield from (("value", line) for line in side_by_side([named_lines(*argument) for argument in args.items()], width))


def digits_apart(shown: Counterexample) -> int:
    """The significant digits, no fewer than usual, at which the first wrong entry is unlike the one due."""
    index = shown.first_wrong_index or ()
    due, came = (v.at(index) if isinstance(v, ShownTensor) else None for v in (shown.expected, shown.got))
    if not index or not isinstance(due, float) or not isinstance(came, float) or due == came:
        return DIGITS
    apart = (digits for digits in range(DIGITS, MOST_DIGITS) if f"{due:.{digits}g}" != f"{came:.{digits}g}")
    return next(apart, MOST_DIGITS)


def _outcomes(shown: Counterexample, lang: Lang, answers: Answers) -> Iterator[list[str]]:
    digits = digits_apart(shown)
    if shown.expected is not ABSENT:
        due = _without_message(shown.expected) if answers.expected == "expected" else shown.expected
        yield [SAY[answers.expected][lang], *value_lines(due, None, digits)]
    if shown.got is not ABSENT:
        lines = value_lines(shown.got, shown.expected if answers.starred else None, digits)
        legend = [SAY["differs"][lang]] if any("*" in line for line in lines) else []
        yield [SAY[answers.got][lang], *lines, *legend]


def _without_message(due: Value) -> Value:
    """Of an error that is due the kind alone: what it says is the learner's to choose."""
    if isinstance(due, Mapping) and set(due) == {"raised", "text"}:
        return {"raised": due["raised"]}
    return due


def frame_lines(frames: Sequence[CodeLine], file: str, lang: Lang) -> Iterator[str]:
    """One line a frame, outermost first; `file` is the name to show, or empty. A recursion is told once."""
    for text, same in groupby(_line(frame, file, lang) for frame in frames):
        yield text
        if count := sum(1 for _ in same) - 1:
            yield SAY["again"][lang].format(count=count)


def _line(frame: CodeLine, file: str, lang: Lang) -> str:
    place = f"{file}:{frame.line}" if file else SAY["line"][lang].format(line=frame.line)
    shown = SAY["frame"][lang].format(place=place, function=frame.function, code=frame.code)
    return " ".join(printable(shown).split())
