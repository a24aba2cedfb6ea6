"""The verdict on a marked card, in words and signs."""

from __future__ import annotations

from textual.content import Content

from attncli.domain.card import ChoiceCard
from attncli.domain.text import Lang
from attncli.practice.cards.ask import Asked
from attncli.tui.markup import inline
from attncli.tui.widgets.plain import Plain


class CardVerdict(Plain):
    """`✓ Right`, or what was wrong; never colour alone."""

    DEFAULT_CSS = """
    CardVerdict { height: auto; width: 1fr; margin: 0 0 1 0; padding: 0 1; border-left: thick $error; }
    CardVerdict.-right { border-left: thick $success; }
    """

    def __init__(self, asked: Asked, lang: Lang) -> None:
        head, detail = (text[lang] for text in asked.told)
        is_right = bool(asked.correct)
        whole = Content.styled(head, "bold $success" if is_right else "bold $error")
        # The options themselves tell why they are wrong.
        if detail and not isinstance(asked.card, ChoiceCard):
            whole = Content.assemble(whole, "  ", inline(detail))
        super().__init__(whole, classes="-right" if is_right else "")
