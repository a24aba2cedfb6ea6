"""One card, whole, to read: question, answer, explanation, pitfalls, follow-ups, sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from attncli.errors import AttnError
from attncli.practice import hold
from attncli.practice.ask import Asked
from attncli.practice.workspace import Workspace
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.card_sheet import Sheet, asked_parts
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say


class CardScreen(AttnScreen):
    """Reading changes no schedule; a suspended or buried card can be taken back into the queue."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("exclamation_mark", "suspend", "key.suspend", key_display="!"),
        Binding("equals_sign", "unsuspend", "key.unsuspend", key_display="="),
        Binding("x", "experiment", "key.experiment"),
    ]

    def __init__(self, id: str) -> None:
        super().__init__()
        self.card_id = id

    def title_bar(self) -> TitleBar:
        self.asked = Asked.of(self.workspace.library.card(self.card_id), self.attn.rng)
        self.asked.revealed = True
        card = self.asked.card
        detail = f"{say(f'review.kind-{card.kind}', self.lang)} · {say(f'review.level-{card.level}', self.lang)}"
        return TitleBar(self.workspace.library.topic(card.topic).title[self.lang], detail, card.id)

    def body(self) -> Iterable[Widget]:
        yield Sheet(*asked_parts(self.asked, self.lang, self.question_of))

    def focus_first(self) -> None:
        self.query_one(Sheet).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "experiment" or bool(self.asked.card.experiment)

    def action_experiment(self) -> None:
        self.attn.open_experiment(self.asked.card.experiment)

    def action_suspend(self) -> None:
        self._tell(hold.suspend, "review.suspended")

    def action_unsuspend(self) -> None:
        self._tell(hold.unsuspend, "review.unsuspended")

    def _tell(self, change: Callable[[Workspace, str], str], text: str) -> None:
        try:
            change(self.workspace, self.card_id)
        except AttnError as error:
            self.attn.tell(error)
        else:
            self.notify(say(text, self.lang, card=self.card_id))
