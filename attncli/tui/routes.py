"""The ways between screens: what a screen may ask of the app, so that no screen knows the app or another screen."""

from __future__ import annotations

from random import Random
from typing import Literal, Protocol

from textual.screen import Screen

from attncli.domain.text import Lang
from attncli.errors import AttnError
from attncli.practice.choose_cards import Wish
from attncli.practice.grader import Grader
from attncli.practice.workspace import Workspace

Route = Literal["home", "review", "drill", "quiz", "challenges", "search", "stats"]


class Routes(Protocol):
    """The app, as its screens see it."""

    workspace: Workspace
    rng: Random
    grader: Grader
    lang: Lang

    def tell(self, error: AttnError) -> None: ...
    def open(self, route: Route) -> None: ...
    def open_review(self, topic: str | None = None, limit: int | None = None) -> None: ...
    def open_drill(self, wish: Wish) -> None: ...
    def start_drill(self, wish: Wish) -> None: ...
    def open_quiz(self, topic: str | None = None) -> None: ...
    def open_challenge(self, id: str) -> None: ...
    def open_card(self, id: str) -> None: ...
    def open_experiment(self, id: str) -> None: ...
    def open_help(self, below: Screen[None]) -> None: ...
    def go_back(self) -> None: ...
