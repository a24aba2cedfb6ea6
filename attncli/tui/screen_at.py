"""The screen behind each name that the command palette and the command line know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attncli.domain.card import Level
from attncli.domain.seeds import SITTINGS
from attncli.practice.cards.choose_cards import Wish
from attncli.tui.routes import Route
from attncli.tui.screens.base import AttnScreen

if TYPE_CHECKING:
    from random import Random

    from attncli.domain.mock_report import MockReport
    from attncli.practice.compose_mock import MockWish
    from attncli.practice.mock import MockInterview
    from attncli.practice.workspace import Workspace


def screen_at(route: Route, level: Level | None = None) -> AttnScreen:
    """A new screen, a drill beginning with the `level` that is set.

    Each is imported when it is first opened: the first frame waits for none but its own.
    """
    if route == "home":
        from attncli.tui.screens.home import HomeScreen

        return HomeScreen()
    if route == "review":
        from attncli.tui.screens.review import ReviewScreen

        return ReviewScreen()
    if route == "drill":
        from attncli.tui.screens.drill import DrillScreen

        return DrillScreen(Wish(level=level))
    if route == "challenges":
        from attncli.tui.screens.challenges import ChallengesScreen

        return ChallengesScreen()
    if route == "search":
        from attncli.tui.screens.search import SearchScreen

        return SearchScreen()
    if route == "settings":
        from attncli.tui.screens.settings import SettingsScreen

        return SettingsScreen()
    if route == "first-run":
        from attncli.tui.screens.first_run import FirstRunScreen

        return FirstRunScreen()
    if route == "plan":
        from attncli.tui.screens.plan import PlanScreen

        return PlanScreen()
    from attncli.tui.screens.stats import StatsScreen

    return StatsScreen()


def mock_screen(wish: MockWish | None, rng: Random, level: Level | None) -> AttnScreen:
    """Where an interview is chosen: beginning with a wish, or with one that is drawn, at the level that is set."""
    from attncli.practice.compose_mock import MOCK_LEVEL, MockWish
    from attncli.tui.screens.mock import MockScreen

    return MockScreen(wish or MockWish(level=level or MOCK_LEVEL, seed=rng.randrange(SITTINGS)))


def interview_screen(workspace: Workspace, interview: MockInterview) -> AttnScreen:
    """What an interview asks now, or what it came to. Raises AttnError where a file cannot be handed out."""
    if interview.item is None:
        from attncli.practice.score_mock import report_of

        return report_screen(report_of(workspace, interview.state))
    if interview.item.is_code:
        from attncli.tui.screens.mock_code import MockCodeScreen

        return MockCodeScreen(interview)
    from attncli.tui.screens.mock_interview import MockInterviewScreen

    return MockInterviewScreen(interview)


def report_screen(report: MockReport) -> AttnScreen:
    """What an interview came to."""
    from attncli.tui.screens.mock_report import MockReportScreen

    return MockReportScreen(report)
