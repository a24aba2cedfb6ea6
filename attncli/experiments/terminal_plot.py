"""Plots drawn in signs, without colour: lines of Braille dots with a letter for each series, bars, shades.

Series are told apart by letters, so that nothing depends on what a terminal or an eye makes of colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.domain.cells import SHADES, cells, left, right
from attncli.domain.text import Lang
from attncli.experiments.braille import Canvas
from attncli.experiments.plot_axes import MARKS_A_LINE, Axis, axis, bar_axis, number
from attncli.experiments.result_table import shown
from attncli.experiments.results import Plot
from attncli.words.experiment_texts import SEVERAL

HEIGHT = 13
LETTERS = "abcdefgh"
MEETING = "*"


def drawn(plot: Plot, width: int, lang: Lang) -> list[str]:
    """The plot with its title, in lines of at most `width` cells."""
    draw = {"line": _lines, "bar": _bars, "heat": _heat}[plot.kind]
    return [plot.title[lang], *draw(plot, width, lang)]


def _lines(plot: Plot, width: int, lang: Lang) -> Iterator[str]:
    xs = [float(value) for value in plot.x]  # type: ignore[arg-type]
    across = axis(xs, "x" in plot.log, sorted(set(xs)) if len(xs) <= MARKS_A_LINE else ())
    up = axis([value for series in plot.series for value in series.y], "y" in plot.log)
    margin = max(len(number(tick)) for tick in up.ticks)
    canvas = Canvas(max(20, width - margin - 3), HEIGHT)
    for series in plot.series:
        canvas.path([(across.place(x), up.place(y)) for x, y in zip(xs, series.y, strict=True)])
    met = _letters(canvas, plot, xs, across, up)
    labels = {canvas.row(up.place(tick)): number(tick) for tick in up.ticks}
    for row, line in enumerate(canvas.lines()):
        yield f"{right(labels.get(row, ''), margin)} {'┤' if row in labels else '│'}{line}".rstrip()
    yield f"{' ' * margin} └{'─' * canvas.width}"
    yield f"{' ' * (margin + 2)}{_below(across, canvas.width)}".rstrip()
    yield from _legend([series.name[lang] for series in plot.series], met, lang)


def _letters(canvas: Canvas, plot: Plot, xs: Sequence[float], across: Axis, up: Axis) -> bool:
    """Writes each series' letter on its points; whether some meet in one place."""
    met = False
    for place, series in enumerate(plot.series):
        step = max(1, len(xs) // MARKS_A_LINE)
        first = (place * step // max(1, len(plot.series))) if step > 1 else 0
        for x, y in list(zip(xs, series.y, strict=True))[first::step]:
            met |= canvas.sign(across.place(x), up.place(y), LETTERS[place], MEETING)
    return met


def _below(across: Axis, width: int) -> str:
    """The values below the axis, as many as have room."""
    line = ""
    for tick in across.ticks:
        text = number(tick)
        start = min(width - len(text), max(0, round(across.place(tick) * (width - 1)) - len(text) // 2))
        if start > len(line) or not line:
            line = line.ljust(start) + text
    return line


def _legend(names: Sequence[str], met: bool, lang: Lang) -> Iterator[str]:
    entries = [f"{letter} {name}" for letter, name in zip(LETTERS, names, strict=False)]
    yield "   ".join(entries + [f"{MEETING} {SEVERAL[lang]}"] * met)


def _bars(plot: Plot, width: int, lang: Lang) -> Iterator[str]:
    """One line a bar; the series of one x stand below each other, each with its letter."""
    scale = bar_axis([value for series in plot.series for value in series.y], "y" in plot.log)
    names = [shown(x, lang) for x in plot.x]
    margin = max(map(cells, names))
    several = len(plot.series) > 1
    room = max(10, width - margin - 12 - 2 * several)
    origin = max(0.0, scale.place(0.0)) if not scale.log else 0.0
    for place, name in enumerate(names):
        for index, series in enumerate(plot.series):
            value = series.y[place]
            start, end = sorted((round(origin * room), round(scale.place(value) * room)))
            bar = " " * start + ("█" * (end - start) or "▏")
            letter = f" {LETTERS[index]}" if several else ""
            yield f"{right(name if index == 0 else '', margin)}{letter} {bar} {number(value)}"
    if several:
        yield from _legend([series.name[lang] for series in plot.series], False, lang)
    elif plot.series:
        yield plot.series[0].name[lang]


def _heat(plot: Plot, width: int, lang: Lang) -> Iterator[str]:
    """Each cell a shade, with its number where all have room for it."""
    low, high = min(map(min, plot.values)), max(map(max, plot.values))
    rows, columns = ([shown(label, lang) for label in labels] for labels in (plot.rows, plot.columns))
    margin = max(map(cells, rows))
    wide = max([9, *(cells(label) + 1 for label in columns)])
    numbers = margin + wide * len(columns) <= width
    wide = wide if numbers else max(1, min(2, (width - margin - 1) // len(columns)))
    yield f"{' ' * margin} {_heading(columns, wide)}".rstrip()
    for name, values in zip(rows, plot.values, strict=True):
        line = ""
        for value in values:
            shade = SHADES[min(len(SHADES) - 1, int((value - low) / ((high - low) or 1.0) * len(SHADES)))]
            line += left(f"{shade * 2}{value:.2g}", wide) if numbers else shade * wide
        yield f"{right(name, margin)} {line}".rstrip()
    yield f"{SHADES[0]} {number(low)} … {SHADES[-1]} {number(high)}"


def _heading(labels: Sequence[str], wide: int) -> str:
    """Each label above its column, as many as stand apart."""
    line = ""
    for place, label in enumerate(labels):
        if cells(label) <= max(wide, 2) and (not line or cells(line) < place * wide):
            line = left(line, place * wide) + label
    return line
