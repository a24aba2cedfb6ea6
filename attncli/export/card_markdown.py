"""Render a card as Markdown: the whole card, its question, its solution, or the blocks after it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from attncli.domain.card import Card, FollowUp
from attncli.domain.parts import Code, FindLine, Paragraph, Part, Row, Rows
from attncli.domain.text import code_block
from attncli.i18n import NOTHING, Lang, Localised, _


def whole_card(card: Card, lang: Lang) -> str:
    """Return the whole card."""
    parts = [f"# {card.id} · {card.topic} · {card.kind} · {card.level}", question(card, lang)]
    if solution := markdown(card.definition(), lang):
        parts.append("## " + _("Answer")[lang] + f"\n\n{solution}")
    return "\n\n".join([*parts, *revealed(card, lang)]) + "\n"


def question(card: Card, lang: Lang) -> str:
    """Return the question with all that is needed to answer it; parameters of numeric cards appear as names."""
    parts = [re.sub(r"\{\{\s*(\w+)\s*\}\}", r"*\1*", card.question[lang]).strip()]
    entry = card.entry()
    if isinstance(entry, FindLine):
        parts.append(code_block(numbered(entry.code), "python"))
    elif entry.rows:
        parts.append("\n".join(f"- {row.text[lang]}" for row in entry.rows))
    return "\n\n".join(parts)


def markdown(parts: Iterable[Part], lang: Lang) -> str:
    """Return the parts of a solution, right options first."""
    return "\n\n".join(_part(part, lang) for part in parts)


def _part(part: Part, lang: Lang) -> str:
    match part:
        case Paragraph(text):
            return text[lang].strip()
        case Code(source, language, marked):
            return code_block(numbered(source[lang], marked) if marked else source[lang].strip("\n"), language)
        case Rows(rows, ordered):
            rows = tuple(sorted(rows, key=lambda row: row.right is False))
            return "\n".join(
                f"{n}. {_row(row, lang)}" if ordered else f"- {_row(row, lang)}" for n, row in enumerate(rows, 1)
            )


def _row(row: Row, lang: Lang) -> str:
    text = " ".join(row.text[lang].split())
    if row.right is not None:
        text = f"✓ **{text}**" if row.right else f"✗ {text}"
    return text + (f" — {' '.join(row.why[lang].split())}" if row.why else "")


def numbered(code: str, marked: Collection[int] = ()) -> str:
    """Return `code` with line numbers, and with a sign before the `marked` lines."""
    signs = dict.fromkeys(marked, ">")
    lines = enumerate(code.rstrip().splitlines(), 1)
    return "\n".join(f"{signs.get(n, ' ') if marked else ''}{n:>{3 if marked else 2}}  {line}" for n, line in lines)


def revealed(card: Card, lang: Lang) -> Iterator[str]:
    """Yield the blocks that follow the solution: explanation, points, pitfalls, follow-ups, sources."""
    asked = [_follow_up(follow_up, lang) for follow_up in card.follow_ups if follow_up.ask]
    linked = [follow_up.card for follow_up in card.follow_ups if not follow_up.ask]
    blocks: list[tuple[Localised, str]] = [
        (_("Answer"), card.answer[lang].strip() if card.answer else ""),
        (_("Points"), "\n".join(f"{n}. {point[lang]}" for n, point in enumerate(card.points, 1))),
        (_("Why"), card.explain[lang].strip() if card.explain else ""),
        (_("Pitfalls"), "\n".join(f"- {pitfall[lang]}" for pitfall in card.pitfalls)),
        (NOTHING, _("Nobody has published this; it cannot be checked.")[lang] if card.unverifiable else ""),
        (NOTHING, _("Challenge")[lang] + f": {', '.join(card.challenges)}" if card.challenges else ""),
        (NOTHING, _("Experiment")[lang] + f": `attn experiment {card.experiment}`" if card.experiment else ""),
        (_("Follow-ups"), "\n\n".join(asked)),
        (NOTHING, _("See also")[lang] + f": {', '.join(linked)}" if linked else ""),
        (NOTHING, _("As of {date}.", date=card.as_of)[lang] if card.as_of else ""),
        (_("Sources"), "\n".join(f"- {source.text}" for source in card.sources)),
    ]
    yield from (f"## {heading[lang]}\n\n{text}" if heading else text for heading, text in blocks if text)


def _follow_up(follow_up: FollowUp, lang: Lang) -> str:
    assert follow_up.ask and follow_up.answer
    more = f" ({follow_up.card})" if follow_up.card else ""
    return f"**{follow_up.ask[lang].strip()}**\n\n{follow_up.answer[lang].strip()}{more}"
