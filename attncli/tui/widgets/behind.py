"""What a key will show, laid out and drawn beforehand: the key only uncovers it.

A widget that is mounted, or displayed for the first time, is styled, laid out twice and drawn twice by Textual. Covered
(no lines high, and what it holds clipped) it has its place and its size already; neither a key nor Tab finds it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual.containers import Vertical
from textual.geometry import Region
from textual.widget import Widget

from attncli.tui.widgets.even import Even

MOST_LINES, AT_A_STEP = 60, 4
"""What is drawn ahead: more than most terminals show at once, so many widgets at a step."""
STEPS_TO_LAY_OUT = 2

Parts = Iterable[Widget]


class Behind(Even, Vertical):
    """Parts that are shown together once they are uncovered; `steps` mounts the groups that are still `coming`."""

    DEFAULT_CSS = "Behind { height: auto; width: 1fr; }"

    def __init__(self, *parts: Widget, covered: bool = True, coming: Iterable[Parts] = ()) -> None:
        super().__init__(*parts)
        self._coming = iter(coming)
        self.is_covered = covered
        if covered:
            self.styles.height = 0

    def allow_focus_children(self) -> bool:
        return not self.is_covered and super().allow_focus_children()

    def complete(self) -> None:
        """Mounts what no step has mounted yet."""
        if rest := [part for group in self._coming for part in group]:
            self.mount_all(rest)

    def cover(self, covered: bool) -> None:
        if covered is not self.is_covered:
            self.is_covered = covered
            self.styles.height = 0 if covered else "auto"

    def steps(self) -> Iterator[None]:
        """Mounts a group at each step, then draws some widgets at each: Textual keeps what it drew."""
        for group in self._coming:
            if not self.is_attached:
                return
            self.mount_all(group)
            yield
        for _ in range(STEPS_TO_LAY_OUT):
            yield
        for number, widget in enumerate(self._first_drawn()):
            if widget.is_attached:
                widget.render_lines(Region(0, 0, *widget.outer_size))
            if number % AT_A_STEP == 0:
                yield

    def _first_drawn(self) -> Iterator[Widget]:
        left = MOST_LINES
        for widget in self.walk_children(Widget):
            if not widget.children and widget.outer_size and left > 0:
                left -= widget.outer_size.height
                yield widget
