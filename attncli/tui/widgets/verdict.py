"""A verdict in words and signs: of a marked card, of a graded submission."""

from __future__ import annotations

from textual.content import Content

from attncli.domain.text import Lang
from attncli.practice.marking import Marked
from attncli.tui.markup import inline
from attncli.tui.widgets.plain import Plain
from attncli.words.app_texts import say


class CardVerdict(Plain):
    """`✓ Right`, or what was wrong; never colour alone."""

    DEFAULT_CSS = """
    CardVerdict { height: auto; width: 1fr; margin: 0 0 1 0; padding: 0 1; border-left: thick $error; }
    CardVerdict.-right { border-left: thick $success; }
    """

    def __init__(self, marked: Marked, blank: bool, lang: Lang, *, detail: bool, by_part: bool) -> None:
        """`detail` adds what marking says; `by_part` counts the blanks or options that were right."""
        right, total = sum(marked.parts), len(marked.parts)
        if marked.correct:
            head = say("mark.right", lang)
        elif blank:
            head = say("mark.no-answer", lang)
        elif by_part and total > 1 and right:
            head = say("mark.partly", lang, right=right, total=total)
        else:
            head = say("mark.wrong", lang)
        style = "bold $success" if marked.correct else "bold $error"
        whole = Content.styled(head, style)
        if detail:
            whole = Content.assemble(whole, "  ", inline(marked.detail[lang]))
        super().__init__(whole, classes="-right" if marked.correct else "")
