"""A card as a sheet to scroll: the question, the answer widget of its kind, and after revealing everything else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from attncli.domain.card import ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard, Source
from attncli.domain.text import Lang
from attncli.tui.asking import Asked
from attncli.tui.markup import inline
from attncli.tui.widgets.marked_rows import MarkedRows
from attncli.tui.widgets.page import Page
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.typed_answer import TypedAnswer
from attncli.words.app_texts import say

if TYPE_CHECKING:
    from attncli.tui.widgets.follow_ups import FollowUps, Questions


class Sheet(Page):
    """A card on a page; `o` opens the answer of the next follow-up."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "open_next", "key.follow-up", show=False)]

    DEFAULT_CSS = """
    Sheet > * { max-width: 100; }
    Sheet > .question { text-style: bold; margin: 0 0 1 0; }
    Sheet > .heading { color: $primary; text-style: bold; margin: 0; height: 1; }
    Sheet > .note { color: $text-muted; margin: 0 0 1 0; }
    Sheet > .lines { margin: 0 0 1 0; height: auto; }
    Sheet > .pitfalls { border-left: thick $warning; padding: 0 1; }
    """

    def answer(self) -> MarkedRows | TypedAnswer | None:
        """The widget in which the learner answers or ticks."""
        for child in self.children:
            if isinstance(child, (MarkedRows, TypedAnswer)):
                return child
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "open_next" or any(shown.closed for shown in self._follow_ups)

    def action_open_next(self) -> None:
        for shown in self._follow_ups:
            shown.open_next()

    @property
    def _follow_ups(self) -> list[FollowUps]:
        from attncli.tui.widgets.follow_ups import FollowUps

        return [child for child in self.children if isinstance(child, FollowUps)]


def asked_parts(asked: Asked, lang: Lang, questions: Questions) -> Iterator[Widget]:
    """What the sheet of `asked` holds now. `questions` finds the question of another card, None if there is none."""
    yield Plain(inline(asked.question[lang]), classes="question")
    yield from _answer_widgets(asked, lang)
    if not asked.revealed:
        if not asked.is_marked_automatically:
            yield Plain(say("review.say-it", lang), classes="note")
        return
    if asked.marked is not None:
        from attncli.tui.widgets.verdict import CardVerdict

        card = asked.card
        told_above = isinstance(card, ChoiceCard)
        by_part = isinstance(card, ClozeCard) or (isinstance(card, ChoiceCard) and card.multiple)
        yield CardVerdict(asked.marked, asked.is_blank, lang, detail=not told_above, by_part=by_part)
    yield from answer_parts(asked, lang)
    yield from explanation_parts(asked, lang, questions)


def _answer_widgets(asked: Asked, lang: Lang) -> Iterator[Widget]:
    card = asked.card
    hint: str | None = None
    if isinstance(card, ChoiceCard):
        from attncli.tui.widgets.choice import ChoiceAnswer

        yield ChoiceAnswer(asked, card, lang)
        hint = "choice.several" if card.multiple else "choice.one"
    elif isinstance(card, OrderingCard):
        from attncli.tui.widgets.ordering import OrderingAnswer

        yield OrderingAnswer(asked, card, lang)
        hint = "ordering.prompt"
    elif isinstance(card, DebugCard):
        from attncli.tui.widgets.debug_code import DebugCode

        yield DebugCode(asked, card, lang)
        hint = "debug.prompt"
    elif isinstance(card, NumericCard):
        from attncli.tui.widgets.numeric import NumericAnswer

        yield NumericAnswer(asked, lang)
        hint = "numeric.hint"
    elif isinstance(card, ClozeCard):
        from attncli.tui.widgets.cloze import ClozeAnswer

        yield ClozeAnswer(asked, lang)
        hint = "cloze.hint"
    if hint and not asked.revealed:
        yield Plain(say(hint, lang), classes="note")


def answer_parts(asked: Asked, lang: Lang) -> Iterator[Widget]:
    """The short answer, the right order of an ordering card, and the points to tick."""
    card = asked.card
    if card.short is not None:
        yield _heading("review.answer", lang)
        yield _markdown(card.short[lang])
    if isinstance(card, OrderingCard) and asked.marked is not None and not asked.marked.correct:
        names = {key: text[lang] for key, text in card.items}
        lines = [Content.assemble(f"{n}. ", inline(names[key])) for n, key in enumerate(a_right_order(card), 1)]
        yield _heading("ordering.one-order", lang)
        yield Plain(Content("\n").join(lines), classes="lines")
    if card.points:
        from attncli.tui.widgets.points import Points

        yield _heading("review.points", lang)
        yield Points(card.points, lang, asked.ticked)


def explanation_parts(asked: Asked, lang: Lang, questions: Questions) -> Iterator[Widget]:
    """Explanation, pitfalls, follow-ups and sources."""
    card = asked.card
    if card.explain is not None:
        yield _heading("review.explain", lang)
        yield _markdown(card.explain[lang])
    if card.pitfalls:
        yield _heading("review.pitfalls", lang)
        lines = [Content.assemble(("! ", "bold $warning"), inline(pitfall.says[lang])) for pitfall in card.pitfalls]
        yield Plain(Content("\n").join(lines), classes="lines pitfalls")
    if card.unverifiable:
        yield Plain(say("review.unverifiable", lang), classes="note")
    if card.challenge:
        yield Plain(say("review.challenge", lang, id=card.challenge), classes="note")
    if card.follow_ups:
        from attncli.tui.widgets.follow_ups import FollowUps

        can_open = any(entry.answer for entry in card.follow_ups)
        yield _heading("review.follow-ups-open" if can_open else "review.follow-ups", lang)
        yield FollowUps(card.follow_ups, asked.opened, lang, questions)
    if card.as_of:
        yield Plain(say("review.as-of", lang, date=card.as_of), classes="note")
    if card.sources:
        yield _heading("review.sources", lang)
        yield Plain("\n".join(source_text(source) for source in card.sources), classes="lines")


def source_text(source: Source) -> str:
    """`arXiv:1706.03762 §3.2.1 (2017-06)`."""
    scheme, _, rest = source.id.partition(":")
    name = (
        rest if scheme == "url" else f"{ {'arxiv': 'arXiv', 'doi': 'doi', 'isbn': 'ISBN'}.get(scheme, scheme) }:{rest}"
    )
    return " ".join(part for part in (name, source.where, f"({source.date})" if source.date else "") if part)


def a_right_order(card: OrderingCard) -> list[str]:
    """The item keys in an order that breaks no pair of `before`, otherwise as the card lists them."""
    left = [key for key, _ in card.items]
    order: list[str] = []
    while left:
        ready = [key for key in left if not any(b == key and a in left for a, b in card.before)]
        order.append((ready or left)[0])
        left.remove(order[-1])
    return order


def _heading(key: str, lang: Lang) -> Plain:
    return Plain(say(key, lang), classes="heading")


def _markdown(text: str) -> Widget:
    from attncli.tui.widgets.markdown_card import CardMarkdown

    return CardMarkdown(text)
