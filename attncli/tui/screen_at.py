"""The screen behind each name that the command palette and the command line know."""

from __future__ import annotations

from attncli.practice.choose_cards import Wish
from attncli.tui.routes import Route
from attncli.tui.screens.base import AttnScreen


def screen_at(route: Route) -> AttnScreen:
    """A new screen; each is imported when it is first opened: the first frame waits for none but its own."""
    if route == "home":
        from attncli.tui.screens.home import HomeScreen

        return HomeScreen()
    if route == "review":
        from attncli.tui.screens.review import ReviewScreen

        return ReviewScreen()
    if route == "drill":
        from attncli.tui.screens.drill import DrillScreen

        return DrillScreen(Wish())
    if route == "challenges":
        from attncli.tui.screens.challenges import ChallengesScreen

        return ChallengesScreen()
    if route == "search":
        from attncli.tui.screens.search import SearchScreen

        return SearchScreen()
    if route == "settings":
        from attncli.tui.screens.settings import SettingsScreen

        return SettingsScreen()
    if route == "plan":
        from attncli.tui.screens.plan import PlanScreen

        return PlanScreen()
    from attncli.tui.screens.stats import StatsScreen

    return StatsScreen()
