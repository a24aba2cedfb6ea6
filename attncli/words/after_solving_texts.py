"""What is said once a challenge is solved: what interviewers ask next, and which challenge comes next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attncli.i18n import Lang, _

if TYPE_CHECKING:
    from attncli.domain.challenge import Challenge

ASKED_NEXT = _("What interviewers ask next")


def asked_next(challenge: Challenge, lang: Lang) -> Iterator[str]:
    """The follow-ups of a challenge with their answers, line by line; nothing where it has none."""
    told = [(asked.ask, asked.answer, asked.card) for asked in challenge.follow_ups if asked.ask and asked.answer]
    if told:
        yield f"{ASKED_NEXT[lang]}:" if lang == "en" else f"{ASKED_NEXT[lang]}："
    for number, (ask, answer, card) in enumerate(told, 1):
        yield f"  {number}. {ask[lang]}"
        yield f"     {answer[lang]}" + (f"  → {card}" if card else "")


def after_solving(challenge: Challenge, following: Challenge | None, lang: Lang) -> Iterator[str]:
    """What a learner reads who has just solved a challenge for the first time."""
    yield from asked_next(challenge, lang)
    yield f"  {_('`attn solution {id}` shows the reference beside which to put yours.', id=challenge.id)[lang]}"
    if following is not None:
        yield f"  {_('Next: {title}: `attn start {id}`', title=following.title[lang], id=following.id)[lang]}"
