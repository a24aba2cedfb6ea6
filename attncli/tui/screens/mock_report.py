"""What a mock interview came to: the score by part, the times, and what was missed, to open."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from attncli.domain.mock_report import MissedItem, MockReport
from attncli.tui.markup import inline
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.option_rows import Rows, row_width
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say
from attncli.words.mock_texts import missed_lines, read_line, score_lines

_STYLES = {"head": "bold $primary", "note": "$text-muted"}


class MockReportScreen(AttnScreen):
    """Enter opens the card, or the challenge, under the cursor."""

    CSS_PATH = Path(__file__).with_name("mock_report.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "again", "key.new-mock"),
        Binding("enter", "back", "key.back", show=False),
    ]

    def __init__(self, report: MockReport) -> None:
        super().__init__()
        self.report = report

    def title_bar(self) -> TitleBar:
        return TitleBar(say("mock.title", self.lang), f"{self.report.begun_at.astimezone():%Y-%m-%d %H:%M}")

    def body(self) -> Iterable[Widget]:
        lines = [Content.styled(text, _STYLES.get(kind, "")) for kind, text in score_lines(self.report, self.lang)]
        if self.report.read:
            lines.insert(-1, Content(read_line(self.report, self.lang)))
        lines.insert(-1, Content(""))
        yield Plain(Content("\n").join(lines), id="score")
        if self.report.missed:
            yield Rows([(str(n), self._missed(one)) for n, one in enumerate(self.report.missed)], id="missed")

    def _missed(self, missed: MissedItem) -> Content:
        (_, head), *points = missed_lines(missed, self.lang)
        title = inline(head).truncate(row_width(self.app.size.width), ellipsis=True)
        told = [Content.assemble(("  · ", "$text-muted"), inline(text)) for _, text in points]
        return Content("\n").join([title, *told, Content("")])

    def focus_first(self) -> None:
        self.set_focus(self.query(Rows).first() if self.query(Rows) else None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        missed = self.report.missed[int(event.option_id or 0)]
        with self.attn.telling():
            if missed.is_code:
                self.workspace.library.challenge(missed.card)
                self.attn.open_challenge(missed.card)
            else:
                self.workspace.library.card(missed.card)
                self.attn.open_card(missed.card)

    def action_again(self) -> None:
        self.attn.open("mock")
