"""The quiz screen: one question after the other, then the score, with the missed cards to open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from attncli.domain.vocabulary import SITTINGS
from attncli.i18n import N_, _
from attncli.practice.marking import Asked
from attncli.practice.queue import default_level
from attncli.practice.quiz import Missed, Quiz, QuizOptions
from attncli.tui.formulas import inline
from attncli.tui.screens.review import AskingScreen
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.basics import Plain, TitleBar
from attncli.tui.widgets.card import Sheet, asked_parts
from attncli.tui.widgets.session import Progress


class QuizScreen(AskingScreen):
    """A quiz. Leaving in the middle first shows the score of the questions answered."""

    CSS_PATH = "quiz.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", N_("Submit"), key_display="Enter"),
        Binding("d", "drill", N_("Drill the missed cards")),
        Binding("n", "again", N_("New quiz")),
        Binding("enter", "back", N_("Back"), show=False),
    ]

    def __init__(self, quiz: Quiz | None = None, topic: str | None = None) -> None:
        super().__init__()
        self.quiz = quiz or self._drawn(QuizOptions(topic, level=default_level(self.workspace)))
        self.is_over = False

    def _drawn(self, options: QuizOptions) -> Quiz:
        """Return a quiz of a new draw. Raises NoCardMatches."""
        return Quiz(self.workspace, replace(options, seed=self.attn.rng.randrange(SITTINGS)))

    @property
    def asked(self) -> Asked | None:  # type: ignore[override]
        """Return the question to answer, None once the score is shown."""
        return None if self.is_over else self.quiz.current

    def title_bar(self) -> TitleBar:
        return TitleBar(*self._titles())

    def _titles(self) -> tuple[str, str, str]:
        if self.asked is None:
            return (_("Quiz")[self.lang], _("Repeat: {command}", command=self.quiz.options.command)[self.lang], "")
        card = self.asked.card
        title = _("Quiz")[self.lang] + f" · {self.topic_title(card.topic)}"
        return title, self.kind_and_level(card), card.id

    def body(self) -> Iterable[Widget]:
        if self.asked is None:
            yield Plain(self._score(), id="score")
            if missed := self.quiz.score.missed:
                yield Rows([(one.card, self._missed(one)) for one in missed], id="missed")
        else:
            yield Progress(*self.quiz.progress)
            yield Sheet(*asked_parts(self.asked, self.lang, self.question_of, in_quiz=True), id="sheet")

    def _score(self) -> Content:
        score, lang = self.quiz.score, self.lang
        head = _("{right} of {answered} right", right=score.right, answered=score.answered)[lang]
        left = "  ·  " + _("{left} not asked", left=score.left)[lang] if score.left else ""
        topics = [f"{self.topic_title(id)} {right}/{answered}" for id, (right, answered) in score.topics.items()]
        below = _("Missed") if score.missed else _("Every answer was right.")
        return Content("\n").join(
            [
                Content.assemble((head, "bold $primary"), (left, "$text-muted")),
                Content("  ·  ".join(topics)),
                Content(""),
                Content.styled(below[lang], "bold"),
            ]
        )

    def _missed(self, missed: Missed) -> Content:
        question = inline(" ".join(missed.question[self.lang].split()))
        answer = inline(" ".join(missed.answer[self.lang].split()))
        head = Content.assemble((f"{missed.card}  ", "bold $primary"), question)
        return Content.assemble(head, "\n", ("✓ ", "bold $success"), answer, "\n")

    def focus_first(self) -> None:
        if self.asked is None:
            self.set_focus(self.query(Rows).first() if self.query(Rows) else None)
        else:
            super().focus_first()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "submit":
                return self.asked is not None
            case "drill":
                return self.asked is None and bool(self.quiz.score.missed)
        return action != "again" or self.asked is None

    async def action_submit(self) -> None:
        """Submit the answer; an empty one needs a second Enter."""
        if (asked := self.asked) is None:
            return
        with self.attn.showing_errors():
            if not self.is_blank(asked) and self.submit_answer(asked):
                self.quiz.count_current()
                await self._show_current()

    async def _show_current(self) -> None:
        self.is_over = self.is_over or self.quiz.current is None
        self.app.clear_notifications()
        await self._recompose()
        self.refresh_bindings()

    def action_drill(self) -> None:
        self.drill(missed.card for missed in self.quiz.score.missed)

    async def action_again(self) -> None:
        """Start another quiz of the same topic and length."""
        self.quiz = self._drawn(self.quiz.options)
        self.is_over = False
        await self._show_current()

    def action_back(self) -> None:
        if self.asked is None or not self.quiz.score.answered:
            self.attn.go_back()
            return
        self.is_over = True
        self.run_worker(self._show_current())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None and self.question_of(event.option_id) is not None:
            self.attn.show("card", event.option_id)
