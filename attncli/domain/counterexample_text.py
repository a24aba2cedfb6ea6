"""Format a counterexample as lines for the app and the terminal.

Numbers get enough digits to distinguish expected from actual. Earlier calls with tensors are shown if they are few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
EXPECTED, ACTUAL = _("expected"), _("actual")


@dataclass(frozen=True, slots=True)
class Answers:
    """The titles of the two answers; `starred` marks the entries that differ.

    The text of an expected error is hidden unless `with_error_text`: the learner may choose it.
    """

    expected: Localised = EXPECTED
    actual: Localised = ACTUAL
    starred: bool = True
    with_error_text: bool = False


def counterexample_lines(
    shown: Counterexample, width: int, lang: Lang, file: str = "", answers: Answers | None = None
) -> Iterator[tuple[Style, str]]:
    """Yield its lines, `width` cells wide. A `place` in the learner's `file` may be longer; wrap it if needed."""
    if shown.args:
        yield "note", _("Arguments")[lang]
        yield from _arguments(shown.args, width)
    if shown.call:
        calls = ", ".join(_numbered(map(_written, shown.calls)))
        yield "note", _("call {number} of: {calls}", number=shown.call, calls=calls)[lang]
    for number, call in _earlier_calls(shown):
        yield "note", _("call {number}, {name}:", number=number, name=call.call)[lang]
        for style, line in _arguments(call.args, width - 2):
            yield style, f"  {line}"
    if outcomes := list(_outcomes(shown, lang, answers or Answers())):
        yield from (("value", line) for line in ["", *side_by_side(outcomes, width)])
    if shown.first_wrong:
        yield "place", _("first difference at {index}", index=shown.first_wrong)[lang]
    yield from (("place", line) for line in frame_lines(shown.frames, file, lang))


def _earlier_calls(shown: Counterexample) -> list[tuple[int, ShownCall]]:
    """Return number and call of the earlier calls with tensors; none if there are more than MOST_CALLS_SHOWN."""
    calls = shown.calls[: max(0, shown.call - 1)]
    return [] if len(calls) > MOST_CALLS_SHOWN else [found for found in enumerate(calls, 1) if not _is_plain(found[1])]


def _is_plain(call: ShownCall) -> bool:
    return all(isinstance(value, str | int | float | None) for value in call.args.values())


def _written(call: ShownCall) -> str:
    """Write a call on one line, with its arguments if they are plain values: `append(seq=3)`."""
    if not call.args or not _is_plain(call):
        return call.call
    return f"{call.call}({', '.join(f'{name}={value}' for name, value in call.args.items())})"


def _numbered(calls: Iterable[str]) -> Iterator[str]:
    """Yield calls with their numbers, equal ones in a row as one: `1. prefill`, `2–9. decode_step`."""
    for text, same in groupby(enumerate(calls, 1), lambda call: call[1]):
        numbers = [number for number, _text in same]
        yield f"{'–'.join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))}. {text}"


def _arguments(args: Mapping[str, Value], width: int) -> Iterator[tuple[Style, str]]:
    yield from (("value", line) for line in side_by_side([named_lines(*argument) for argument in args.items()], width))


def digits_apart(shown: Counterexample) -> int:
    """Return how many significant digits show that the first wrong entry differs, at least DIGITS."""
    index = shown.first_wrong_index or ()
    expected, actual = (v.at(index) if isinstance(v, ShownTensor) else None for v in (shown.expected, shown.got))
    if not index or not isinstance(expected, float) or not isinstance(actual, float) or expected == actual:
        return DIGITS
    apart = (digits for digits in range(DIGITS, MOST_DIGITS) if f"{expected:.{digits}g}" != f"{actual:.{digits}g}")
    return next(apart, MOST_DIGITS)


def _outcomes(shown: Counterexample, lang: Lang, answers: Answers) -> Iterator[list[str]]:
    digits = digits_apart(shown)
    if shown.expected is not ABSENT:
        expected = shown.expected if answers.with_error_text else _without_error_text(shown.expected)
        yield [answers.expected[lang], *value_lines(expected, None, digits)]
    if shown.got is not ABSENT:
        lines = value_lines(shown.got, shown.expected if answers.starred else None, digits)
        legend = [_("* differs")[lang]] if any("*" in line for line in lines) else []
        yield [answers.actual[lang], *lines, *legend]


def _without_error_text(expected: Value) -> Value:
    if isinstance(expected, Mapping) and set(expected) == {"raised", "text"}:
        return {"raised": expected["raised"]}
    return expected


def frame_lines(frames: Sequence[CodeLine], file: str, lang: Lang) -> Iterator[str]:
    """Yield one line per frame, outermost first; `file` is the name to show, or empty. A recursion is shown once."""
    for text, same in groupby(_line(frame, file, lang) for frame in frames):
        yield text
        if count := len(list(same)) - 1:
            yield _("… repeated {count}×", count=count)[lang]


def _line(frame: CodeLine, file: str, lang: Lang) -> str:
    place = f"{file}:{frame.line}" if file else _("line {line}", line=frame.line)
    shown = _("{place}, in {function}: {code}", place=place, function=frame.function, code=frame.code)[lang]
    return " ".join(printable(shown).split())
