"""A card as Markdown, for `attn show` and for the plain review."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attncli.domain.card import Card, ChoiceCard, ClozeCard, DebugCard, FollowUp, NumericCard, OrderingCard
from attncli.domain.text import Lang, Localised
from attncli.words.card_texts import AS_OF, HEADINGS, UNVERIFIABLE


def whole_card(card: Card, lang: Lang) -> str:
    """Question, answer, and everything else the card has."""
    head = f"# {card.id} · {card.topic} · {card.kind} · {card.level}"
    return "\n\n".join([head, question(card, lang), *answer(card, lang)]) + "\n"


def question(card: Card, lang: Lang) -> str:
    """The question with whatever has to be seen to answer it; parameters of numeric cards as their names."""
    parts = [re.sub(r"\{\{\s*(\w+)\s*\}\}", r"*\1*", card.question[lang]).strip()]
    if isinstance(card, DebugCard):
        parts.append(f"```python\n{numbered(card.code)}\n```")
    if isinstance(card, ChoiceCard):
        parts.append("\n".join(f"- {option.text[lang]}" for option in card.options))
    if isinstance(card, OrderingCard):
        parts.append("\n".join(f"- {text[lang]}" for _, text in card.items))
    return "\n\n".join(parts)


def numbered(code: str) -> str:
    """Code with its line numbers."""
    return "\n".join(f"{number:>2}  {line}" for number, line in enumerate(code.rstrip().splitlines(), 1))


def answer(card: Card, lang: Lang) -> Iterator[str]:
    """The blocks of everything behind the question."""
    if card.short:
        yield f"## {HEADINGS['answer'][lang]}\n\n{card.short[lang].strip()}"
    if solution := _solution(card, lang):
        yield f"## {HEADINGS['answer'][lang]}\n\n{solution}"
    yield from background(card, lang)


def background(card: Card, lang: Lang) -> Iterator[str]:
    """Explanation, points, pitfalls, sources and links."""
    if card.explain:
        yield f"## {HEADINGS['explain'][lang]}\n\n{card.explain[lang].strip()}"
    if card.points:
        points = "\n".join(f"{number}. {point[lang]}" for number, point in enumerate(card.points, 1))
        yield f"## {HEADINGS['points'][lang]}\n\n{points}"
    if card.pitfalls:
        yield _section("pitfalls", [pitfall.says[lang] for pitfall in card.pitfalls], lang)
    if card.unverifiable:
        yield UNVERIFIABLE[lang]
    if card.as_of:
        yield AS_OF[lang].format(date=card.as_of)
    if card.sources:
        yield _section("sources", [" ".join(filter(None, (s.id, s.where, s.date))) for s in card.sources], lang)
    if asked := [follow_up for follow_up in card.follow_ups if follow_up.ask]:
        yield "\n\n".join([f"## {HEADINGS['follow-ups'][lang]}", *(_follow_up(follow_up, lang) for follow_up in asked)])
    see = ", ".join(follow_up.card for follow_up in card.follow_ups if not follow_up.ask)
    links = {"see": see, "challenge": card.challenge, "experiment": card.experiment}
    if lines := [f"{HEADINGS[word][lang]}: {value}" for word, value in links.items() if value]:
        yield "  \n".join(lines)


def _section(word: str, lines: list[str], lang: Lang) -> str:
    return f"## {HEADINGS[word][lang]}\n\n" + "\n".join(f"- {line}" for line in lines)


def _follow_up(follow_up: FollowUp, lang: Lang) -> str:
    assert follow_up.ask and follow_up.answer
    more = f" ({follow_up.card})" if follow_up.card else ""
    return f"**{follow_up.ask[lang].strip()}**\n\n{follow_up.answer[lang].strip()}{more}"


def _solution(card: Card, lang: Lang) -> str:
    match card:
        case ChoiceCard():
            return "\n".join(_option(option.text, option.correct, option.why_not, lang) for option in card.options)
        case NumericCard():
            drawn = [f"- *{name}*: {', '.join(label for label, _ in choices)}" for name, choices in card.parameters]
            formula = f"`{card.compute}` {card.compute_unit} → {card.unit or '1'} ± {card.tolerance}"
            return "\n".join([formula, *drawn]) + _slips(card, lang)
        case ClozeCard():
            return "\n".join(f"{number}. `{blank.answer}`" for number, blank in enumerate(card.blanks, 1))
        case OrderingCard():
            texts = dict(card.items)
            return "\n".join(f"- {texts[first][lang]} → {texts[second][lang]}" for first, second in card.before)
        case DebugCard():
            where = f"{HEADINGS['line'][lang]} {', '.join(map(str, card.lines))}: {card.symptom[lang]}"
            return f"{where}\n\n{HEADINGS['fix'][lang]}: `{card.fix[lang].strip()}`" if card.fix else where
    return ""


def _slips(card: NumericCard, lang: Lang) -> str:
    lines = [f"- `{slip.compute}` — {slip.says[lang].strip()}" for slip in card.slips]
    return "\n\n" + "\n".join([f"{HEADINGS['slips'][lang]}:", "", *lines]) if lines else ""


def _option(text: Localised, correct: bool, why_not: Localised | None, lang: Lang) -> str:
    mark = "✓" if correct else "✗"
    return f"- {mark} {text[lang]}" + (f" — {HEADINGS['why'][lang]}: {why_not[lang]}" if why_not else "")
