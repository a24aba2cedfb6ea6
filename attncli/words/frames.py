"""The learner's own lines of an exception, as text: their file, line and code, repetition folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from attncli.domain.printable import printable
from attncli.domain.report import Frame
from attncli.domain.text import Lang, Localised

FRAME = Localised("{place}, in {function}: {code}", "{place}，{function} 内：{code}")
LINE = Localised("line {line}", "第 {line} 行")
AGAIN = Localised("… and {count} times more", "……同上，再重复 {count} 次")


def frame_lines(frames: Sequence[Frame], file: str, lang: Lang) -> Iterator[str]:
    """One line a frame, outermost first; `file` is the name to show, or empty. A recursion is told once."""
    for text, same in groupby(_line(frame, file, lang) for frame in frames):
        yield text
        if count := sum(1 for _ in same) - 1:
            yield AGAIN[lang].format(count=count)


def _line(frame: Frame, file: str, lang: Lang) -> str:
    place = f"{file}:{frame.line}" if file else LINE[lang].format(line=frame.line)
    shown = FRAME[lang].format(place=place, function=frame.function, code=frame.code)
    return " ".join(printable(shown).split())
