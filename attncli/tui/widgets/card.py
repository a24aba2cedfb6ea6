"""A card as a sheet to scroll: the question, the answer widget of its kind, and once revealed everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from attncli.domain.card import FollowUp
from attncli.domain.parts import Arrange, Choose
from attncli.i18n import N_, Lang, Localised, _
from attncli.practice.marking import Asked
from attncli.tui.formulas import inline
from attncli.tui.widgets.answers import ANSWER_WIDGETS, MarkedRows, TypedAnswer, hint
from attncli.tui.widgets.basics import LineWidget, Page, Plain, PointsTicked, SolidBackground, beside, heading

Questions = Callable[[str], Localised | None]
"""Returns the question of the card with an id, None if there is no such card."""


class Sheet(Page):
    """A card on a page; `o` opens the answer of the next follow-up."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "open_next", N_("Open the next follow-up"), show=False)]

    DEFAULT_CSS = """
    Sheet > * { max-width: 100; }
    Sheet > .question { text-style: bold; margin: 0 0 1 0; }
    Sheet > .heading { color: $primary; text-style: bold; margin: 0; height: 1; }
    Sheet > .note { color: $text-muted; margin: 0 0 1 0; }
    Sheet > .lines { margin: 0 0 1 0; height: auto; }
    Sheet > .pitfalls { border-left: thick $warning; padding: 0 1; }
    """

    @property
    def rows(self) -> list[MarkedRows]:
        return list(self.query_children(MarkedRows))

    def answer(self) -> MarkedRows | TypedAnswer | None:
        """Return the first widget for an answer or for ticks, if there is one."""
        return next((part for part in self.children if isinstance(part, (MarkedRows, TypedAnswer))), None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "open_next" or any(shown.closed for shown in self._follow_ups)

    def action_open_next(self) -> None:
        for shown in self._follow_ups:
            shown.open_next()

    @property
    def _follow_ups(self) -> list[FollowUps]:
        return list(self.query_children(FollowUps))


def asked_parts(asked: Asked, lang: Lang, questions: Questions, in_quiz: bool = False) -> Iterator[Widget]:
    """Yield the parts of the sheet of `asked`. In a quiz no hint promises an answer before the end."""
    yield from front_parts(asked, lang, in_quiz)
    if asked.revealed:
        yield from behind_parts(asked, lang, questions)


def front_parts(asked: Asked, lang: Lang, in_quiz: bool = False) -> Iterator[Widget]:
    """Yield the question, the answer widget, and the verdict once it is revealed."""
    yield Plain(inline(asked.question[lang]), classes="question")
    yield from _answer_widgets(asked, lang, in_quiz)
    if not asked.revealed:
        if not asked.is_marked_automatically:
            yield Plain(_("Answer aloud in 30 to 45 seconds, then press Space.")[lang], classes="note")
        return
    if asked.marked is not None:
        yield CardVerdict(asked, lang)
    elif not isinstance(asked.entry, Choose | Arrange) and (answer := asked.right_answer[lang]):
        yield heading(_("Answer")[lang])
        yield Plain(inline(answer), classes="lines")
    if isinstance(asked.entry, Arrange) and not asked.correct:
        texts = asked.rows(lang)
        lines = [Content.assemble(f"{n}. ", inline(texts[place])) for n, place in enumerate(asked.entry.order, 1)]
        yield heading(_("Correct order")[lang])
        yield Plain(Content("\n").join(lines), classes="lines")


def behind_parts(asked: Asked, lang: Lang, questions: Questions) -> Iterator[Widget]:
    """Yield the parts behind the question; they do not depend on the answer."""
    from attncli.tui.widgets.markdown import CardMarkdown

    card = asked.card
    if card.answer:
        yield heading(_("Answer")[lang])
        yield CardMarkdown(card.answer[lang])
    if card.points:
        yield heading(_("Points you made")[lang])
        yield Points(card.points, lang, asked.ticked)
    if card.explain:
        yield heading(_("Why")[lang])
        yield CardMarkdown(card.explain[lang])
    if card.pitfalls:
        yield heading(_("Pitfalls")[lang])
        lines = [Content.assemble(("! ", "bold $warning"), inline(pitfall[lang])) for pitfall in card.pitfalls]
        yield Plain(Content("\n").join(lines), classes="lines pitfalls")
    if card.unverifiable:
        yield Plain(_("Nobody has published this; it cannot be checked.")[lang], classes="note")
    if card.challenges:
        yield Plain(_("Implement it: challenge {id}", id=", ".join(card.challenges))[lang], classes="note")
    if card.experiment:
        yield Plain(_("Press x to run the experiment: {id}", id=card.experiment)[lang], classes="note")
    if card.follow_ups:
        can_open = any(entry.answer for entry in card.follow_ups)
        yield heading((_("Follow-ups (o opens the next answer)") if can_open else _("Follow-ups"))[lang])
        yield FollowUps(card.follow_ups, asked.opened, lang, questions)
    if card.as_of:
        yield Plain(_("As of {date}.", date=card.as_of)[lang], classes="note")
    if card.sources:
        yield heading(_("Sources")[lang])
        yield Plain("\n".join(source.text for source in card.sources), classes="lines")


def _answer_widgets(asked: Asked, lang: Lang, in_quiz: bool) -> Iterator[Widget]:
    if (widget := ANSWER_WIDGETS.get(type(asked.entry))) is None:
        return
    if asked.entry.rows or asked.marked or not asked.revealed:
        yield widget(asked, lang)
    if not asked.revealed:
        yield Plain(hint(asked.entry, in_quiz)[lang], classes="note")


# Follow-ups, points and verdict


class AskedNext(Plain, can_focus=True):
    """One follow-up with an answer; Enter, Space or a click opens and closes it."""

    DEFAULT_CSS = """
    AskedNext { height: auto; width: 1fr; }
    AskedNext:focus { background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "turn", N_("Open"), show=False),
        Binding("space", "turn", N_("Open"), show=False),
    ]

    @dataclass
    class Turned(Message):
        """Posted when a follow-up is to be opened or closed."""

        index: int

    def __init__(self, index: int, text: Content) -> None:
        super().__init__(text)
        self.index = index

    def action_turn(self) -> None:
        self.post_message(self.Turned(self.index))

    def on_click(self) -> None:
        self.action_turn()


class LinkedCards(LineWidget):
    """Follow-ups that are cards: the id of each, and its question beside it."""

    def __init__(self, cards: Sequence[tuple[Content, Content]]) -> None:
        super().__init__()
        self._cards = cards

    def lines(self, width: int) -> list[Content]:
        return [line for card, question in self._cards for line in beside(card, question, width)]


class FollowUps(SolidBackground, Vertical):
    """The follow-ups of a card. `opened` holds the indices of the open ones; it outlives this widget."""

    DEFAULT_CSS = """
    FollowUps { height: auto; width: 1fr; margin: 0 0 1 0; }
    FollowUps > Plain { height: auto; }
    """

    def __init__(self, entries: Sequence[FollowUp], opened: set[int], lang: Lang, questions: Questions) -> None:
        super().__init__()
        self._entries, self._opened = tuple(entries), opened
        self._lang, self._questions = lang, questions

    def compose(self) -> ComposeResult:
        for has_answer, entries in groupby(enumerate(self._entries), lambda numbered: bool(numbered[1].answer)):
            if has_answer:
                yield from (AskedNext(index, self._asked(index)) for index, _ in entries)
            else:
                yield LinkedCards([self._linked(entry) for _, entry in entries])

    @property
    def closed(self) -> list[int]:
        """Return the indices of the answers that are still closed."""
        return [index for index, entry in enumerate(self._entries) if entry.answer and index not in self._opened]

    def open_next(self) -> None:
        """Open the first answer that is still closed."""
        if closed := self.closed:
            self._turn(closed[0])

    def on_asked_next_turned(self, message: AskedNext.Turned) -> None:
        message.stop()
        self._turn(message.index)

    def _turn(self, index: int) -> None:
        self._opened ^= {index}
        row = next(row for row in self.query(AskedNext) if row.index == index)
        row.update(self._asked(index))
        self.call_after_refresh(row.scroll_visible, animate=False)

    def _asked(self, index: int) -> Content:
        entry, is_open = self._entries[index], index in self._opened
        assert entry.ask and entry.answer
        question = Content.assemble(("▾ " if is_open else "▸ ", "$primary"), inline(entry.ask[self._lang]))
        if not is_open:
            return question
        more = Content.styled(f"  → {entry.card}", "$text-muted") if entry.card else Content()
        return Content("\n").join([question.stylize("bold"), inline(entry.answer[self._lang]) + more])

    def _linked(self, entry: FollowUp) -> tuple[Content, Content]:
        question = self._questions(entry.card)
        text = inline(question[self._lang]) if question else Content()
        indent = "  " if any(other.answer for other in self._entries) else ""
        return Content.assemble(indent, (f"{entry.card}  ", "$text-muted")), text


class Points(MarkedRows):
    """Points that an interviewer would tick off: with the letters a to g, the mouse, or arrows and Space."""

    def __init__(self, points: Sequence[Localised], lang: Lang, ticked: Iterable[int] = ()) -> None:
        super().__init__([inline(point[lang]) for point in points])
        self.ticked = set(ticked)

    def mark(self, index: int) -> str:
        return f"{chr(ord('a') + index)} [{'x' if index in self.ticked else ' '}]"

    def choose(self, index: int) -> None:
        self.ticked ^= {index}
        self.post_message(PointsTicked())


class CardVerdict(Plain):
    """The verdict on a marked card, in words and signs, never by colour alone."""

    DEFAULT_CSS = """
    CardVerdict { height: auto; width: 1fr; margin: 0 0 1 0; padding: 0 1; border-left: thick $error; }
    CardVerdict.-right { border-left: thick $success; }
    """

    def __init__(self, asked: Asked, lang: Lang) -> None:
        head, detail = (text[lang] for text in asked.told)
        is_right = bool(asked.correct)
        whole = Content.styled(head, "bold $success" if is_right else "bold $error")
        # Wrong options say themselves why they are wrong.
        if detail and not isinstance(asked.entry, Choose):
            whole = Content.assemble(whole, "  ", inline(detail))
        super().__init__(whole, classes="-right" if is_right else "")
