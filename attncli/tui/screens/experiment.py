"""The experiment behind a card's claim: run in its quick form, then its table, plots and conclusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import work
from textual.message import Message
from textual.widget import Widget

from attncli import paths
from attncli.errors import ExperimentFailed
from attncli.experiments.plots import WIDEST, lines
from attncli.experiments.runner import ChildRun, SeedOutcome, find
from attncli.i18n import _
from attncli.tui.screens.base import AttnScreen, error_text
from attncli.tui.widgets.basics import Page, Plain, TitleBar

BESIDE = 6


@dataclass
class Advanced(Message):
    """A share of the run, in 0…1, is done."""

    share: float


@dataclass
class Ended(Message):
    """The run has ended, with outcomes or the reason why there are none."""

    outcomes: Sequence[SeedOutcome]
    problem: str = ""


class ExperimentScreen(AttnScreen):
    """An experiment, which runs in a child process while the screen is open."""

    def __init__(self, id: str) -> None:
        super().__init__()
        self.experiment = find(paths.bundled_impl(), id)
        text = self.experiment.text[self.lang] if self.experiment.text else ""
        self.child_run = ChildRun(self.experiment, paths.bundled_impl(), self.experiment.seeds(quick=True), True, text)
        self.share, self.outcomes, self.problem = 0.0, list[SeedOutcome](), ""

    def title_bar(self) -> TitleBar:
        return TitleBar(self.experiment.title[self.lang], "", self.experiment.id)

    def body(self) -> Iterable[Widget]:
        yield Page(Plain(self._text(), id="result"))

    def focus_first(self) -> None:
        self.query_one(Page).focus()

    def on_mount(self) -> None:
        super().on_mount()
        self._wait_for(self.child_run)

    def on_unmount(self) -> None:
        self.child_run.kill()

    @work(thread=True)
    def _wait_for(self, run: ChildRun) -> None:
        """Wait for the child in a thread; leaving the screen kills it, and the message reaches nobody."""
        try:
            outcomes = run.outcomes(self._post_advanced)
        except ExperimentFailed as error:
            self.post_message(Ended([], error_text(error, self.lang)))
        else:
            self.post_message(Ended(outcomes))
        finally:
            run.close()

    def _post_advanced(self, share: float) -> None:
        self.post_message(Advanced(share))

    def on_advanced(self, message: Advanced) -> None:
        self.share = message.share
        self.lay_out()

    def on_ended(self, message: Ended) -> None:
        self.outcomes, self.problem = list(message.outcomes), message.problem
        self.lay_out()

    def lay_out(self) -> None:
        for result in self.query("#result").results(Plain):
            result.update(self._text())

    def _text(self) -> str:
        if self.problem:
            return self.problem
        if not self.outcomes:
            return _(
                "Claim: {claim}\n\nRunning… {share}", claim=self.experiment.claim[self.lang], share=f"{self.share:.0%}"
            )[self.lang]
        width = min(WIDEST, self.app.size.width - BESIDE)
        report = lines(self.experiment, self.outcomes, width, self.lang)
        return "\n".join(
            [*report, "", _("Quick version. Full run: attn experiment {id}", id=self.experiment.id)[self.lang]]
        )
