"""Rebuild a terminal's screen as text from an app's output: only cursor moves and characters count."""

import re

from rich.cells import cell_len

_DRAWN = re.compile(
    r"\x1b\[(?P<row>\d+);(?P<column>\d+)H|(?P<home>\x1b\[H)|(?P<clear>\x1b\[2J)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]"
    r"|(?P<sign>.)",
    re.DOTALL,
)


class DrawnScreen:
    """The cells by row; the second cell of a wide character is empty."""

    def __init__(self) -> None:
        self.rows: dict[int, dict[int, str]] = {}
        self.row = self.column = 1

    def draw(self, drawn: str) -> None:
        for found in _DRAWN.finditer(drawn):
            match found.lastgroup:
                case "column":
                    self.row, self.column = int(found["row"]), int(found["column"])
                case "home":
                    self.row = self.column = 1
                case "clear":
                    self.rows.clear()
                case "sign":
                    self._put(found["sign"])

    def _put(self, sign: str) -> None:
        match sign:
            case "\r":
                self.column = 1
            case "\n":
                self.row += 1
            case _ if sign.isprintable():
                cells, width = self.rows.setdefault(self.row, {}), cell_len(sign)
                for place in range(width):
                    cells[self.column + place] = "" if place else sign
                self.column += width

    def text(self, columns: int, rows: int) -> str:
        """Return the text on a screen of this size, line by line."""
        lines = []
        for row in range(1, rows + 1):
            cells = self.rows.get(row, {})
            lines.append("".join(cells.get(column, " ") for column in range(1, columns + 1)).rstrip())
        return "\n".join(lines)
