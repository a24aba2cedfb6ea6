"""Plots as one SVG file, one below the other: text, lines and rectangles, nothing that is fetched or runs.

The colours are Okabe and Ito's, which most colour-blind people can tell apart; dashes and marks differ as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from attncli.domain.cells import cells
from attncli.domain.printable import printable
from attncli.domain.text import Lang
from attncli.experiments.plot_axes import MARKS_A_LINE, Axis, axis, bar_axis, number
from attncli.experiments.result_table import shown
from attncli.experiments.results import Plot

WIDTH, LINE_HEIGHT, CELL = 720, 300, 7.2
TOP, BOTTOM, RIGHT, LEFT = 46, 34, 24, 64
ROW, BAR, KEY = 20, 14, 28
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A7A00")
DASHES = ("", "7 4", "2 4", "9 3 2 3", "12 4", "4 2", "1 3", "6 6")
FONT = "font-family=\"system-ui, 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif\""
MOST_NUMBERS = 14


def svg(plots: Sequence[Plot], lang: Lang) -> str:
    """All plots of an experiment in one picture."""
    height, parts = 0.0, []
    for plot in plots:
        body, tall = {"line": _lines, "bar": _bars, "heat": _heat}[plot.kind](plot, lang)
        title = _text(16, 22, plot.title[lang], 'font-size="15" font-weight="600"')
        parts += [f'<g transform="translate(0 {height:g})">', title, *body, "</g>"]
        height += tall
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" {FONT} font-size="12" fill="#222">'
    )
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>', *parts, "</svg>", ""])


def _lines(plot: Plot, lang: Lang) -> tuple[list[str], float]:
    xs = [float(value) for value in plot.x]  # type: ignore[arg-type]
    across = axis(xs, "x" in plot.log, sorted(set(xs)) if len(xs) <= MARKS_A_LINE else ())
    up = axis([value for series in plot.series for value in series.y], "y" in plot.log)
    wide, high = WIDTH - LEFT - RIGHT, LINE_HEIGHT - TOP - BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + across.place(x) * wide, TOP + (1 - up.place(y)) * high

    body = [*_grid(across, up, wide, high)]
    marked = len(xs) <= 4 * MARKS_A_LINE
    for place, series in enumerate(plot.series):
        body += _path([at(x, y) for x, y in zip(xs, series.y, strict=True)], place)
        body += [_mark(*at(x, y), place) for x, y in zip(xs, series.y, strict=True) if marked]
    keys, tall = _legend(plot, lang, LINE_HEIGHT + 8, marked)
    return [*body, *keys], tall


def _grid(across: Axis, up: Axis, wide: float, high: float) -> Iterator[str]:
    for tick in up.ticks:
        y = TOP + (1 - up.place(tick)) * high
        yield f'<path d="M{LEFT} {y:.1f}h{wide}" stroke="#ddd"/>'
        yield _text(LEFT - 8, y + 4, number(tick), 'text-anchor="end"')
    last = -100.0
    for tick in across.ticks:
        x = LEFT + across.place(tick) * wide
        yield f'<path d="M{x:.1f} {TOP + high}v5" stroke="#888"/>'
        if x - last > CELL * (len(number(tick)) + 1):
            yield _text(x, TOP + high + 19, number(tick), 'text-anchor="middle"')
            last = x
    yield f'<path d="M{LEFT} {TOP}V{TOP + high}H{LEFT + wide}" fill="none" stroke="#888"/>'


def _path(points: Sequence[tuple[float, float]], place: int) -> Iterator[str]:
    colour = COLOURS[place % len(COLOURS)]
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = f' stroke-dasharray="{DASHES[place % len(DASHES)]}"' if DASHES[place % len(DASHES)] else ""
    yield f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


def _mark(x: float, y: float, place: int) -> str:
    colour = COLOURS[place % len(COLOURS)]
    if place % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if place % 3 == 1:
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z" fill="{colour}"/>'


def _legend(plot: Plot, lang: Lang, top: float, marked: bool = False) -> tuple[list[str], float]:
    """The names of the series, each with a piece of its line; where the plot then ends."""
    parts: list[str] = []
    x, y = float(LEFT), top + 12.0
    for place, series in enumerate(plot.series):
        wide = KEY + 8 + cells(series.name[lang]) * CELL
        if x + wide > WIDTH - RIGHT and x > LEFT:
            x, y = float(LEFT), y + ROW
        parts += _path([(x, y - 4), (x + KEY, y - 4)], place) if plot.kind == "line" else ()
        if plot.kind == "bar":
            parts.append(f'<rect x="{x + 12:.1f}" y="{y - 10:.1f}" width="12" height="12" fill="{COLOURS[place]}"/>')
        elif marked:
            parts.append(_mark(x + KEY / 2, y - 4, place))
        parts.append(_text(x + KEY + 6, y, series.name[lang]))
        x += wide + 20
    return parts, y + 20


def _bars(plot: Plot, lang: Lang) -> tuple[list[str], float]:
    """Bars lie, so that long names can be read; each has its number behind it."""
    scale = bar_axis([value for series in plot.series for value in series.y], "y" in plot.log)
    names = [shown(x, lang) for x in plot.x]
    margin = 24 + max(map(cells, names)) * CELL
    room = WIDTH - margin - 80
    origin = 0.0 if scale.log else scale.place(0.0)
    body, y = [], float(TOP)
    for place, name in enumerate(names):
        body.append(_text(margin - 8, y + len(plot.series) * (BAR + 2) / 2 + 4, name, 'text-anchor="end"'))
        for index, series in enumerate(plot.series):
            start, end = sorted((origin, scale.place(series.y[place])))
            x, wide = margin + start * room, max(1.0, (end - start) * room)
            colour = COLOURS[index % len(COLOURS)]
            body.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{BAR}" fill="{colour}"/>')
            body.append(_text(x + wide + 6, y + BAR - 3, number(series.y[place])))
            y += BAR + 2
        y += 10
    keys, tall = _legend(plot, lang, y)
    return [*body, *keys], tall


def _heat(plot: Plot, lang: Lang) -> tuple[list[str], float]:
    """White at the least value, dark blue at the greatest; numbers where there are few enough."""
    low, high = min(map(min, plot.values)), max(map(max, plot.values))
    rows, columns = ([shown(label, lang) for label in labels] for labels in (plot.rows, plot.columns))
    margin = 24 + max(map(cells, rows)) * CELL
    side = min(64.0, (WIDTH - margin - RIGHT) / len(columns))
    tall = min(26.0, max(10.0, side))
    slanted = max(map(cells, columns)) * CELL > side
    top = TOP + (max(map(cells, columns)) * CELL * 0.8 if slanted else 8.0)
    body = []
    for place, label in enumerate(columns):
        x, turn = margin + (place + 0.5) * side, ""
        turn = f' transform="rotate(-55 {x:.1f} {top - 6:.1f})"' if slanted else ' text-anchor="middle"'
        body.append(_text(x, top - 6, label, turn.strip()))
    for row, (label, values) in enumerate(zip(rows, plot.values, strict=True)):
        y = top + row * tall
        body.append(_text(margin - 8, y + tall / 2 + 4, label, 'text-anchor="end"'))
        for column, value in enumerate(values):
            share = (value - low) / ((high - low) or 1.0)
            x = margin + column * side
            body.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{side - 1:.1f}" height="{tall - 1:.1f}" fill="{_shade(share)}"/>'
            )
            if len(columns) <= MOST_NUMBERS:
                ink = 'fill="#fff" ' if share > 0.5 else ""
                body.append(_text(x + side / 2, y + tall / 2 + 4, number(value), f'{ink}text-anchor="middle"'))
    bottom = top + len(rows) * tall
    body.append(_text(margin, bottom + 18, f"□ {number(low)} … ■ {number(high)}"))
    return body, bottom + 36


def _shade(share: float) -> str:
    red, green, blue = (round(255 + (end - 255) * share) for end in (8, 48, 107))
    return f"rgb({red},{green},{blue})"


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{" " + more if more else ""}>{escape(printable(text))}</text>'
