"""The experiment behind a card's claim: run in its quick form, then its table, plots and what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual import work
from textual.message import Message
from textual.widget import Widget

from attncli import paths
from attncli.domain.text import Lang
from attncli.errors import ExperimentFailed
from attncli.experiments.plots import WIDEST, lines
from attncli.experiments.runner import ChildRun, SeedOutcome, find
from attncli.tui.screens.base import AttnScreen, fault_text
from attncli.tui.widgets.basics import Page, Plain, TitleBar
from attncli.words.app_texts import say

BESIDE = 6


class Advanced(Message):
    """A share of the run is done."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share


class Ended(Message):
    """The run has ended, with what it gave or why it gave nothing."""

    def __init__(self, outcomes: Sequence[SeedOutcome], fault: str = "") -> None:
        super().__init__()
        self.outcomes, self.fault = outcomes, fault


class ExperimentScreen(AttnScreen):
    """The run is begun when the screen opens, and ended when it is left."""

    def __init__(self, id: str, lang: Lang) -> None:
        super().__init__()
        self.experiment = find(paths.bundled_impl(), id)
        text = self.experiment.text[lang] if self.experiment.text else ""
        self.underway = ChildRun(self.experiment, paths.bundled_impl(), self.experiment.seeds(quick=True), True, text)
        self.share, self.outcomes, self.fault = 0.0, list[SeedOutcome](), ""

    def title_bar(self) -> TitleBar:
        return TitleBar(self.experiment.title[self.lang], "", self.experiment.id)

    def body(self) -> Iterable[Widget]:
        yield Page(Plain(self._text(), classes="told"))

    def focus_first(self) -> None:
        self.query_one(Page).focus()

    def on_mount(self) -> None:
        super().on_mount()
        self._wait_for(self.underway)

    def on_unmount(self) -> None:
        self.underway.kill()

    @work(thread=True)
    def _wait_for(self, run: ChildRun) -> None:
        """In a thread of its own; where the screen is left the run has been ended, and nobody is told."""
        try:
            outcomes = run.outcomes(self._advanced)
        except ExperimentFailed as error:
            self.post_message(Ended([], fault_text(error, self.lang)))
        else:
            self.post_message(Ended(outcomes))
        finally:
            run.close()

    def _advanced(self, share: float) -> None:
        self.post_message(Advanced(share))

    def on_advanced(self, message: Advanced) -> None:
        self.share = message.share
        self.lay_out()

    def on_ended(self, message: Ended) -> None:
        self.outcomes, self.fault = list(message.outcomes), message.fault
        self.lay_out()

    def lay_out(self) -> None:
        for told in self.query(".told").results(Plain):
            told.update(self._text())

    def _text(self) -> str:
        if self.fault:
            return self.fault
        if not self.outcomes:
            return say(
                "experiment.running", self.lang, claim=self.experiment.claim[self.lang], share=f"{self.share:.0%}"
            )
        width = min(WIDEST, self.app.size.width - BESIDE)
        told = lines(self.experiment, self.outcomes, width, self.lang)
        return "\n".join([*told, "", say("experiment.quick", self.lang, id=self.experiment.id)])
