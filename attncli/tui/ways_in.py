"""The ways into the screens: one call for each, however it is asked for (a key, the palette, the command line)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from attncli.domain.seeds import SITTINGS
from attncli.domain.text import Lang
from attncli.errors import AttnError
from attncli.practice.cards.choose_cards import Wish, level_wished, require_fitting
from attncli.practice.workspace import Workspace
from attncli.tui.app_errors import fault_text
from attncli.tui.routes import Route
from attncli.tui.screen_at import interview_screen, mock_screen, report_screen, screen_at

if TYPE_CHECKING:
    from attncli.domain.mock_report import MockReport
    from attncli.practice.compose_mock import MockWish
    from attncli.practice.mock import MockInterview
    from attncli.practice.quiz import Quiz, QuizWish


class WaysIn(App[None]):
    """Screens know routes, not each other: whoever leads from one to the next asks here."""

    workspace: Workspace
    rng: Random
    lang: Lang
    mock_wish: MockWish | None = None

    def tell(self, error: AttnError) -> None:
        """Says in one line what went wrong; the app goes on."""
        self.notify(fault_text(error, self.lang), severity="warning", markup=False)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """What goes wrong inside is told; the app goes on behind it."""
        try:
            yield
        except AttnError as error:
            self.tell(error)

    def open(self, route: Route) -> None:
        """Shows the screen of this name."""
        if route == "quiz":
            self.open_quiz()
        elif route == "mock":
            wish, self.mock_wish = self.mock_wish, None
            self.push_screen(mock_screen(wish, self.rng, level_wished(self.workspace)))
        else:
            self.push_screen(screen_at(route, level_wished(self.workspace)))

    def open_review(self, topic: str | None = None, limit: int | None = None) -> None:
        from attncli.tui.screens.review import ReviewScreen

        self.push_screen(ReviewScreen(topic, limit))

    def open_planned(self, cards: Sequence[str]) -> None:
        """A review of these cards in this order, in the place of the screen on which they were listed."""
        from attncli.tui.screens.review import ReviewScreen

        self.switch_screen(ReviewScreen(planned=cards))

    def open_drill(self, wish: Wish) -> None:
        """Where a drill is chosen, beginning with `wish`."""
        from attncli.tui.screens.drill import DrillScreen

        self.push_screen(DrillScreen(wish))

    def start_drill(self, wish: Wish) -> None:
        """The drill itself, in the place of the screen on which it was chosen. Raises NothingFits."""
        from attncli.tui.screens.review import ReviewScreen

        require_fitting(self.workspace, wish)
        self.switch_screen(ReviewScreen(wish=wish))

    def open_quiz(self, topic: str | None = None) -> None:
        """A quiz drawn now, or a line where there is no card for one."""
        from attncli.practice.quiz import QuizWish

        wish = QuizWish(topic, seed=self.rng.randrange(SITTINGS), level=level_wished(self.workspace))
        with self.telling():
            self.show_quiz(drawn_quiz(self.workspace, wish))

    def show_quiz(self, quiz: Quiz) -> None:
        from attncli.tui.screens.quiz import QuizScreen

        self.push_screen(QuizScreen(quiz))

    def show_interview(self, interview: MockInterview) -> None:
        """What an interview asks now, or what it came to, in the place of the screen that is shown."""
        self.switch_screen(interview_screen(self.workspace, interview))

    def open_mock_report(self, report: MockReport) -> None:
        self.push_screen(report_screen(report))

    def open_challenge(self, id: str) -> None:
        from attncli.tui.screens.challenge import ChallengeScreen

        self.push_screen(ChallengeScreen(id))

    def open_card(self, id: str, question_first: bool = False) -> None:
        from attncli.tui.screens.cards import CardScreen

        self.push_screen(CardScreen(id, question_first))

    def open_add_card(self, topic: str | None = None) -> None:
        from attncli.tui.screens.add_card import AddCardScreen

        self.push_screen(AddCardScreen(topic))

    def open_experiment(self, id: str) -> None:
        from attncli.tui.screens.experiment import ExperimentScreen

        self.push_screen(ExperimentScreen(id, self.lang))

    def open_help(self, below: Screen[Any]) -> None:
        from attncli.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen(below, self.lang))

    def go_back(self) -> None:
        """To the screen below; from a lone screen to Home; from Home out of the app."""
        from attncli.tui.screens.home import HomeScreen

        if isinstance(self.screen, HomeScreen):
            self.exit()
        elif len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.switch_screen(HomeScreen())


def drawn_quiz(workspace: Workspace, wish: QuizWish) -> Quiz:
    """A quiz of what is wished for. Raises NothingFits."""
    from attncli.practice.quiz import Quiz

    return Quiz(workspace, wish)
