"""The screens by name, each imported when it is first opened: the first frame waits for none but its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from attncli.tui.screens.base import AttnScreen

Route = Literal["home", "review", "challenges", "search", "stats"]


def screen_at(route: Route) -> AttnScreen:
    """A new screen."""
    if route == "home":
        from attncli.tui.screens.home import HomeScreen

        return HomeScreen()
    if route == "review":
        from attncli.tui.screens.review import ReviewScreen

        return ReviewScreen()
    if route == "challenges":
        from attncli.tui.screens.challenges import ChallengesScreen

        return ChallengesScreen()
    if route == "search":
        from attncli.tui.screens.search import SearchScreen

        return SearchScreen()
    from attncli.tui.screens.stats import StatsScreen

    return StatsScreen()
