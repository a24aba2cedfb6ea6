"""The checks of a grading, each with what it asks beside its name; what a failed one says stands below it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from attncli.domain.grade_report import CheckResult
from attncli.domain.printable import printable
from attncli.domain.text import Lang
from attncli.tui.columns import beside, left
from attncli.tui.widgets.lined import Lined
from attncli.words.app_texts import TEXTS, say
from attncli.words.grade_report_texts import status_of, told

_STYLES = {
    "pass": "$success",
    "fail": "bold $error",
    "harden": "bold $warning",
    "skipped": "$text-muted",
    "info": "$primary",
    "running": "bold",
}
_NAME, _STATUS, _BELOW = 19, 11, 4


class CheckList(Lined):
    """`checks` are those of a report, or the judge's events."""

    DEFAULT_CSS = """
    CheckList { height: auto; width: 1fr; margin: 0 0 1 0; }
    """

    def __init__(self, checks: Sequence[CheckResult], lang: Lang) -> None:
        super().__init__()
        self.checks = checks
        self.lang: Lang = lang

    def show(self, checks: Sequence[CheckResult]) -> None:
        self.checks = checks
        self.refresh(layout=True)

    def lines(self, width: int) -> list[Content]:
        return [line for check in self.checks for line in self._check(check, width)]

    def _check(self, check: CheckResult, width: int) -> list[Content]:
        status, message = status_of(check), told(check, self.lang)
        told_below = check.status == "fail" and message
        head = Content.assemble(
            (left(say(f"status.{status}", self.lang), _STATUS), _STYLES[status]),
            left(check.name, _NAME),
        )
        about = Content.styled(printable(self._about(check, "" if told_below else message)), "$text-muted")
        lines = beside(head, about, width)
        return [*lines, *indented(message, width)] if told_below else lines

    def _about(self, check: CheckResult, message: str) -> str:
        key = f"check.{check.name}"
        about = message if message and check.status != "pass" else say(key, self.lang) if key in TEXTS else ""
        return about if check.required else f"{about}{say('status.badge', self.lang)}"


def indented(text: str, width: int) -> list[Content]:
    """Lines of `text` wrapped to `width`, set in by four cells."""
    lines = [part for line in text.splitlines() for part in Content(line).wrap(max(10, width - _BELOW))]
    return [Content(" " * _BELOW) + line for line in lines]
