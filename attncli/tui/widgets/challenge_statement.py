"""What a challenge asks for, and the help that was taken, as parts of its statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from attncli.domain.challenge import Challenge
from attncli.domain.text import Lang
from attncli.practice.hint import Hint
from attncli.tui.widgets.folded_text import Fold
from attncli.tui.widgets.plain import Plain, heading
from attncli.words.app_texts import say
from attncli.words.statement_texts import EVERYWHERE, HARDENED, Statement


def help_taken(hints: Sequence[Hint], reference: str, lang: Lang) -> Iterable[Widget]:
    """The hints that were asked for, and the reference where it was seen."""
    from attncli.tui.widgets.markdown import CardMarkdown

    for hint in hints:
        yield heading(say("challenge.hint", lang, n=hint.number, total=hint.total))
        yield CardMarkdown(hint.text[lang])
    if reference:
        yield heading(say("challenge.solution", lang))
        yield CardMarkdown(f"```python\n{reference.rstrip()}\n```")


def asked_for(challenge: Challenge, statement: Statement, lang: Lang, unfolded: bool) -> Iterable[Widget]:
    """What solves it, what all challenges ask, and, folded, what hardens it."""
    from attncli.tui.widgets.markdown import CardMarkdown

    yield CardMarkdown(statement.first[lang])
    yield heading(EVERYWHERE[lang])
    yield CardMarkdown(statement.everywhere[lang])
    if statement.hardened[lang]:
        yield Fold(HARDENED[lang], CardMarkdown(statement.hardened[lang]), lang, unfolded)
    yield Plain(say("challenge.needs", lang, checks=", ".join(challenge.required)))
    if challenge.forbidden:
        yield Plain(say("challenge.forbidden", lang, calls=", ".join(challenge.forbidden)))
