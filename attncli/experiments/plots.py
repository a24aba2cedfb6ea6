"""The report of an experiment: lines for a terminal, a document for `--json`, and plots in a terminal and as SVG.

In a terminal, letters distinguish the series, so that nothing depends on its colours; lines are Braille dots. The SVG
has one plot below the other, made of text, lines and rectangles only: nothing is fetched or run. Its colours are Okabe
and Ito's, which most colour-blind people can tell apart; dashes and marks differ as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from attncli.domain.text import SHADES, cells, in_columns, left, printable, right, wrapped
from attncli.experiments.runner import Cell, ClaimCheck, Experiment, Plot, SeedOutcome
from attncli.i18n import NOTHING, Lang, Localised, _

WIDEST = 100
"""The largest width of a readable line, in cells."""

PLAIN_DIGITS = 10_000
NARROWEST = 12

HEIGHT = 13
LETTERS = "abcdefgh"
MEETING = "*"

WANTED_TICKS, MANY_POWERS = 5, 3
MARKS_A_LINE = 8
"""The largest number of points at which a line has each of them marked and labelled."""
PLAIN_FROM, WHOLE_BELOW = 1e-3, 1_000_000
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

WIDTH, LINE_HEIGHT, CELL = 720, 300, 7.2
TOP, BOTTOM, RIGHT, LEFT = 46, 34, 24, 64
ROW, BAR, KEY = 20, 14, 28
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7A7A00")
DASHES = ("", "7 4", "2 4", "9 3 2 3", "12 4", "4 2", "1 3", "6 6")
FONT = "font-family=\"system-ui, 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif\""
MOST_NUMBERS = 14


def lines(experiment: Experiment, outcomes: Sequence[SeedOutcome], width: int, lang: Lang) -> Iterator[str]:
    """Yield title, claim, table, plots, checks, caveats, and the verdict in one sentence."""
    yield experiment.title[lang]
    yield from wrapped(_("Claimed: {claim}", claim=experiment.claim)[lang], width)
    yield ""
    yield from table(outcomes, lang)
    for plot in outcomes[0].plots:
        yield ""
        yield from drawn(plot, width, lang)
    yield ""
    for check in _merged_checks(outcomes):
        verdict = _("holds") if check.holds else _("FAILS")
        text = _("{says}: {got} (expected: {expected})", says=check.says, got=check.got, expected=check.due)[lang]
        yield f"{verdict[lang]}  {text}"
    for caveat in experiment.caveats:
        yield from wrapped(_("Note: {caveat}", caveat=caveat)[lang], width)
    yield ""
    yield from wrapped(_verdict(outcomes)[lang], width)


def document(experiment: Experiment, outcomes: Sequence[SeedOutcome], quick: bool, lang: Lang) -> dict[str, Any]:
    """Return the experiment and the outcomes of all seeds in one language, for `--json`."""
    return {
        "id": experiment.id,
        "title": experiment.title[lang],
        "claim": experiment.claim[lang],
        "cards": list(experiment.cards),
        "caveats": [caveat[lang] for caveat in experiment.caveats],
        "quick": quick,
        "holds": all(outcome.holds for outcome in outcomes),
        "skipped": outcomes[0].skipped[lang],
        "seeds": [outcome.document(lang) for outcome in outcomes],
    }


def _verdict(outcomes: Sequence[SeedOutcome]) -> Localised:
    """Return one sentence: the verdict on the claim or a part of it, and an observation, from a failed seed if any."""
    failed = [outcome for outcome in outcomes if not outcome.holds]
    skipped = outcomes[0].skipped
    held = _("As claimed, in part (not run: {skipped})", skipped=skipped) if skipped else _("As claimed")
    shown = _("Not as claimed") if failed else held
    some = len(failed or outcomes)
    several = _(" in {some} of {seeds} seeds", some=some, seeds=len(outcomes)) if len(outcomes) > 1 else NOTHING
    return _("{shown}{seeds}: {seen}", shown=shown, seeds=several, seen=(failed or outcomes)[0].seen)


def _merged_checks(outcomes: Sequence[SeedOutcome]) -> list[ClaimCheck]:
    """Merge the checks of all seeds: a check passes if it passes in every seed."""
    rows = zip(*(outcome.checks for outcome in outcomes), strict=True)
    return [
        ClaimCheck(row[0].says, all(check.holds for check in row), " / ".join(check.got for check in row), row[0].due)
        for row in rows
    ]


def unmet(outcomes: Sequence[SeedOutcome]) -> str:
    """Return the failed checks in one line, an empty text if all pass."""
    return "; ".join(
        f"{check.says.en}, got {check.got}, due {check.due}" for check in _merged_checks(outcomes) if not check.holds
    )


# The table


def table(outcomes: Sequence[SeedOutcome], lang: Lang) -> list[str]:
    """Return the rows of all seeds below one heading, with a seed column if there are several."""
    several = len(outcomes) > 1
    rows = [
        [str(outcome.seed)] * several + [shown(cell, lang) for cell in row]
        for outcome in outcomes
        for row in outcome.rows
    ]
    heads = [_("seed")[lang]] * several + [column[lang] for column in outcomes[0].columns]
    values = [[row[place] for row in rows] for place in range(len(heads))]
    folded = [wrapped(head, max([NARROWEST, *map(cells, column)])) for head, column in zip(heads, values, strict=True)]
    heading_lines = max(map(len, folded), default=0)
    heading = [list(line) for line in zip(*([""] * (heading_lines - len(head)) + head for head in folded), strict=True)]
    sides = [right] * several + [_alignment(outcomes, place) for place in range(len(outcomes[0].columns))]
    return list(in_columns([*heading, *rows], sides))


def _alignment(outcomes: Sequence[SeedOutcome], place: int) -> Callable[[str, int], str]:
    """Align words left, numbers right."""
    values = [row[place] for outcome in outcomes for row in outcome.rows]
    is_text = any(isinstance(cell, Localised) and cell.en for cell in values)
    return left if is_text else right


def shown(cell: Cell, lang: Lang) -> str:
    """Return a cell as text: four significant digits, whole numbers in full."""
    if isinstance(cell, Localised):
        return cell[lang]
    if isinstance(cell, bool):
        return (_("yes") if cell else _("no"))[lang]
    if isinstance(cell, int):
        return f"{cell:,}" if abs(cell) >= PLAIN_DIGITS else str(cell)
    return f"{cell:.4g}"


# Plots in a terminal


def drawn(plot: Plot, width: int, lang: Lang) -> list[str]:
    """Return the plot with its title, in lines of at most `width` cells."""
    draw = {"line": _draw_lines, "bar": _draw_bars, "heat": _draw_heat}[plot.kind]
    return [plot.title[lang], *draw(plot, width, lang)]


def _draw_lines(plot: Plot, width: int, lang: Lang) -> Iterator[str]:
    xs = [float(value) for value in plot.x]  # type: ignore[arg-type]
    across = axis(xs, "x" in plot.log, sorted(set(xs)) if len(xs) <= MARKS_A_LINE else ())
    up = axis([value for series in plot.series for value in series.y], "y" in plot.log)
    margin = max(len(number(tick)) for tick in up.ticks)
    canvas = Canvas(max(20, width - margin - 3), HEIGHT)
    for series in plot.series:
        canvas.path([(across.place(x), up.place(y)) for x, y in zip(xs, series.y, strict=True)])
    overlap = _draw_letters(canvas, plot, xs, across, up)
    labels = {canvas.row(up.place(tick)): number(tick) for tick in up.ticks}
    for row, line in enumerate(canvas.lines()):
        yield f"{right(labels.get(row, ''), margin)} {'┤' if row in labels else '│'}{line}".rstrip()
    yield f"{' ' * margin} └{'─' * canvas.width}"
    yield f"{' ' * (margin + 2)}{_tick_labels(across, canvas.width)}".rstrip()
    yield from _legend([series.name[lang] for series in plot.series], overlap, lang)


def _draw_letters(canvas: Canvas, plot: Plot, xs: Sequence[float], across: Axis, up: Axis) -> bool:
    """Write each series' letter on its points. Returns True if some overlap."""
    overlap = False
    for place, series in enumerate(plot.series):
        step = max(1, len(xs) // MARKS_A_LINE)
        first = (place * step // max(1, len(plot.series))) if step > 1 else 0
        for x, y in list(zip(xs, series.y, strict=True))[first::step]:
            overlap |= canvas.sign(across.place(x), up.place(y), LETTERS[place], MEETING)
    return overlap


def _tick_labels(across: Axis, width: int) -> str:
    """Return the labels below the axis, as many as fit."""
    line = ""
    for tick in across.ticks:
        text = number(tick)
        start = min(width - len(text), max(0, round(across.place(tick) * (width - 1)) - len(text) // 2))
        if start > len(line) or not line:
            line = line.ljust(start) + text
    return line


def _legend(names: Sequence[str], overlap: bool, lang: Lang) -> Iterator[str]:
    entries = [f"{letter} {name}" for letter, name in zip(LETTERS, names, strict=False)]
    overlaps = _("overlapping")[lang]
    yield "   ".join(entries + [f"{MEETING} {overlaps}"] * overlap)


def _draw_bars(plot: Plot, width: int, lang: Lang) -> Iterator[str]:
    """Draw one line per bar; the series of one x are below each other, each with its letter."""
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


def _draw_heat(plot: Plot, width: int, lang: Lang) -> Iterator[str]:
    """Draw each cell as a shade, with its number if there is room for all."""
    low, high = min(map(min, plot.values)), max(map(max, plot.values))
    rows, columns = ([shown(label, lang) for label in labels] for labels in (plot.rows, plot.columns))
    margin = max(map(cells, rows))
    cell_width = max([9, *(cells(label) + 1 for label in columns)])
    numbers = margin + cell_width * len(columns) <= width
    cell_width = cell_width if numbers else max(1, min(2, (width - margin - 1) // len(columns)))
    yield f"{' ' * margin} {_column_labels(columns, cell_width)}".rstrip()
    for name, values in zip(rows, plot.values, strict=True):
        line = ""
        for value in values:
            shade = SHADES[min(len(SHADES) - 1, int((value - low) / ((high - low) or 1.0) * len(SHADES)))]
            line += left(f"{shade * 2}{value:.2g}", cell_width) if numbers else shade * cell_width
        yield f"{right(name, margin)} {line}".rstrip()
    yield f"{SHADES[0]} {number(low)} … {SHADES[-1]} {number(high)}"


def _column_labels(labels: Sequence[str], cell_width: int) -> str:
    """Return the labels above their columns, as many as do not overlap."""
    line = ""
    for place, label in enumerate(labels):
        if cells(label) <= max(cell_width, 2) and (not line or cells(line) < place * cell_width):
            line = left(line, place * cell_width) + label
    return line


_ACROSS, _DOWN = 2, 4
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BLANK = 0x2800


class Canvas:
    """`width` by `height` cells; points are given as shares, (0, 0) at the lower left."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._dots = [[0] * width for _round in range(height)]
        self._signs: dict[tuple[int, int], str] = {}

    def path(self, points: Sequence[tuple[float, float]]) -> None:
        """Draw straight lines from each point to the next."""
        places = [self._dot(*point) for point in points]
        for (x0, y0), (x1, y1) in zip(places, places[1:] or places, strict=False):
            steps = max(1, abs(x1 - x0), abs(y1 - y0))
            for step in range(steps + 1):
                self._set(round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps))

    def sign(self, x: float, y: float, sign: str, meeting: str) -> bool:
        """Write `sign` over the dots, or `meeting` over another sign. Returns True if there was another one."""
        place = (self.row(y), self._dot(x, y)[0] // _ACROSS)
        overlap = self._signs.get(place, sign) != sign
        self._signs[place] = meeting if overlap else sign
        return overlap

    def row(self, y: float) -> int:
        """Return the line of the height `y`."""
        return self._dot(0.0, y)[1] // _DOWN

    def lines(self) -> Iterator[str]:
        """Yield the lines from top to bottom."""
        for row, dots in enumerate(self._dots):
            yield "".join(
                self._signs.get((row, column)) or (chr(_BLANK + dot) if dot else " ") for column, dot in enumerate(dots)
            )

    def _dot(self, x: float, y: float) -> tuple[int, int]:
        return round(x * (self.width * _ACROSS - 1)), round((1 - y) * (self.height * _DOWN - 1))

    def _set(self, x: int, y: int) -> None:
        self._dots[y // _DOWN][x // _ACROSS] |= _DOTS[x % _ACROSS][y % _DOWN]


# Plots as SVG


def svg(plots: Sequence[Plot], lang: Lang) -> str:
    """Return all plots of an experiment as one SVG."""
    height, parts = 0.0, []
    for plot in plots:
        body, plot_height = {"line": _svg_lines, "bar": _svg_bars, "heat": _svg_heat}[plot.kind](plot, lang)
        title = _text(16, 22, plot.title[lang], 'font-size="15" font-weight="600"')
        parts += [f'<g transform="translate(0 {height:g})">', title, *body, "</g>"]
        height += plot_height
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" {FONT} font-size="12" fill="#222">'
    )
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>', *parts, "</svg>", ""])


def _svg_lines(plot: Plot, lang: Lang) -> tuple[list[str], float]:
    xs = [float(value) for value in plot.x]  # type: ignore[arg-type]
    across = axis(xs, "x" in plot.log, sorted(set(xs)) if len(xs) <= MARKS_A_LINE else ())
    up = axis([value for series in plot.series for value in series.y], "y" in plot.log)
    plot_width, plot_height = WIDTH - LEFT - RIGHT, LINE_HEIGHT - TOP - BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + across.place(x) * plot_width, TOP + (1 - up.place(y)) * plot_height

    body = [*_grid(across, up, plot_width, plot_height)]
    marked = len(xs) <= 4 * MARKS_A_LINE
    for place, series in enumerate(plot.series):
        body += _path([at(x, y) for x, y in zip(xs, series.y, strict=True)], place)
        body += [_mark(*at(x, y), place) for x, y in zip(xs, series.y, strict=True) if marked]
    keys, bottom = _svg_legend(plot, lang, LINE_HEIGHT + 8, marked)
    return [*body, *keys], bottom


def _grid(across: Axis, up: Axis, plot_width: float, plot_height: float) -> Iterator[str]:
    for tick in up.ticks:
        y = TOP + (1 - up.place(tick)) * plot_height
        yield f'<path d="M{LEFT} {y:.1f}h{plot_width}" stroke="#ddd"/>'
        yield _text(LEFT - 8, y + 4, number(tick), 'text-anchor="end"')
    last = -100.0
    for tick in across.ticks:
        x = LEFT + across.place(tick) * plot_width
        yield f'<path d="M{x:.1f} {TOP + plot_height}v5" stroke="#888"/>'
        if x - last > CELL * (len(number(tick)) + 1):
            yield _text(x, TOP + plot_height + 19, number(tick), 'text-anchor="middle"')
            last = x
    yield f'<path d="M{LEFT} {TOP}V{TOP + plot_height}H{LEFT + plot_width}" fill="none" stroke="#888"/>'


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


def _svg_legend(plot: Plot, lang: Lang, top: float, marked: bool = False) -> tuple[list[str], float]:
    """Draw the names of the series, each with a piece of its line. Returns the lower end of the plot too."""
    parts: list[str] = []
    x, y = float(LEFT), top + 12.0
    for place, series in enumerate(plot.series):
        key_width = KEY + 8 + cells(series.name[lang]) * CELL
        if x + key_width > WIDTH - RIGHT and x > LEFT:
            x, y = float(LEFT), y + ROW
        parts += _path([(x, y - 4), (x + KEY, y - 4)], place) if plot.kind == "line" else ()
        if plot.kind == "bar":
            parts.append(f'<rect x="{x + 12:.1f}" y="{y - 10:.1f}" width="12" height="12" fill="{COLOURS[place]}"/>')
        elif marked:
            parts.append(_mark(x + KEY / 2, y - 4, place))
        parts.append(_text(x + KEY + 6, y, series.name[lang]))
        x += key_width + 20
    return parts, y + 20


def _svg_bars(plot: Plot, lang: Lang) -> tuple[list[str], float]:
    """Draw horizontal bars, so that long names fit, each followed by its number."""
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
            x, bar_width = margin + start * room, max(1.0, (end - start) * room)
            colour = COLOURS[index % len(COLOURS)]
            body.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar_width:.1f}" height="{BAR}" fill="{colour}"/>')
            body.append(_text(x + bar_width + 6, y + BAR - 3, number(series.y[place])))
            y += BAR + 2
        y += 10
    keys, bottom = _svg_legend(plot, lang, y)
    return [*body, *keys], bottom


def _svg_heat(plot: Plot, lang: Lang) -> tuple[list[str], float]:
    """Draw cells from white at the least value to dark blue at the greatest, with numbers if there are few."""
    low, high = min(map(min, plot.values)), max(map(max, plot.values))
    rows, columns = ([shown(label, lang) for label in labels] for labels in (plot.rows, plot.columns))
    margin = 24 + max(map(cells, rows)) * CELL
    cell_width = min(64.0, (WIDTH - margin - RIGHT) / len(columns))
    cell_height = min(26.0, max(10.0, cell_width))
    slanted = max(map(cells, columns)) * CELL > cell_width
    top = TOP + (max(map(cells, columns)) * CELL * 0.8 if slanted else 8.0)
    body = []
    for place, label in enumerate(columns):
        x, turn = margin + (place + 0.5) * cell_width, ""
        turn = f' transform="rotate(-55 {x:.1f} {top - 6:.1f})"' if slanted else ' text-anchor="middle"'
        body.append(_text(x, top - 6, label, turn.strip()))
    for row, (label, values) in enumerate(zip(rows, plot.values, strict=True)):
        y = top + row * cell_height
        body.append(_text(margin - 8, y + cell_height / 2 + 4, label, 'text-anchor="end"'))
        for column, value in enumerate(values):
            share = (value - low) / ((high - low) or 1.0)
            x = margin + column * cell_width
            size = f'width="{cell_width - 1:.1f}" height="{cell_height - 1:.1f}"'
            body.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{_shade(share)}"/>')
            if len(columns) <= MOST_NUMBERS:
                ink = 'fill="#fff" ' if share > 0.5 else ""
                body.append(
                    _text(x + cell_width / 2, y + cell_height / 2 + 4, number(value), f'{ink}text-anchor="middle"')
                )
    bottom = top + len(rows) * cell_height
    body.append(_text(margin, bottom + 18, f"□ {number(low)} … ■ {number(high)}"))
    return body, bottom + 36


def _shade(share: float) -> str:
    red, green, blue = (round(255 + (end - 255) * share) for end in (8, 48, 107))
    return f"rgb({red},{green},{blue})"


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{" " + more if more else ""}>{escape(printable(text))}</text>'


# Axes of both kinds of plots


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`; `ticks` are the labelled values."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return the place of `value`: 0 at the low end, 1 at the high end."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def axis(values: Sequence[float], log: bool, marks: Sequence[float] = ()) -> Axis:
    """Return an axis that includes all `values`; `marks` are labelled instead of round numbers."""
    low, high = min(values), max(values)
    if log:
        low, high = (low / 2, high * 2) if low == high else (low, high)
        ticks = tuple(marks) or _powers(low, high)
        return Axis(min(ticks[0], low), max(ticks[-1], high), True, ticks)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if marks:
        return Axis(low, high, False, tuple(marks))
    step = _step((high - low) / WANTED_TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Axis(min(ticks[0], low), max(ticks[-1], high), False, ticks)


def bar_axis(values: Sequence[float], log: bool) -> Axis:
    """Return an axis for bars: from zero, or from a power of ten below the least value if logarithmic."""
    if log:
        return axis([10.0 ** math.floor(math.log10(min(values)) - 1e-9), *values], True)
    return axis([0.0, *values], False)


def _step(wanted: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(wanted))
    return next(step for step in _STEPS if step * magnitude >= wanted * (1 - 1e-9)) * magnitude


def _powers(low: float, high: float) -> tuple[float, ...]:
    """Return a few powers of ten; if there are too few, 2 and 5 times those; if there is none, the ends."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < MANY_POWERS - 1:
        finer = [step * 10.0**power for power in range(first - 1, last + 1) for step in (1, 2, 5)]
        inside = tuple(tick for tick in finer if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9))
        return inside if len(inside) > 1 else (low, high)
    thin = max(1, math.ceil((last - first) / WANTED_TICKS))
    return tuple(10.0**power for power in range(first, last + 1, thin))


def number(value: float) -> str:
    """Return a number as the label of an axis: three significant digits, whole numbers in full."""
    if abs(value) < WHOLE_BELOW and float(value).is_integer():
        return str(int(value))
    if PLAIN_FROM <= abs(value) < WHOLE_BELOW:
        return f"{value:.3g}"
    mantissa, _, power = f"{value:.2e}".partition("e")
    return f"{float(mantissa):g}e{int(power)}"
