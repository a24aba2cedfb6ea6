"""A card as Markdown, for `attn show` and for the plain review."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attncli.domain.card import Card, ChoiceCard, ClozeCard, DebugCard, FollowUp, NumericCard, OrderingCard
from attncli.domain.text import Lang, Localised
from attncli.practice.cards.answer_sections import Section, sections
from attncli.words.shared_review_texts import AS_OF, HEADINGS, UNVERIFIABLE


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
    if solution := _solution(card, lang):
        yield f"## {HEADINGS['answer'][lang]}\n\n{solution}"
    yield from revealed(card, lang)


def revealed(card: Card, lang: Lang) -> Iterator[str]:
    """The same without the solution, which is told when an answer has been marked."""
    for section in sections(card):
        yield from _blocks(section, card, lang)


def _blocks(section: Section, card: Card, lang: Lang) -> Iterator[str]:
    match section:
        case "answer" | "explain":
            text = card.short if section == "answer" else card.explain
            yield f"## {HEADINGS[section][lang]}\n\n{text[lang].strip() if text else ''}"
        case "points":
            points = "\n".join(f"{number}. {point[lang]}" for number, point in enumerate(card.points, 1))
            yield f"## {HEADINGS['points'][lang]}\n\n{points}"
        case "pitfalls":
            yield _section("pitfalls", [pitfall.says[lang] for pitfall in card.pitfalls], lang)
        case "unverifiable":
            yield UNVERIFIABLE[lang]
        case "challenge":
            yield f"{HEADINGS['challenge'][lang]}: {', '.join(card.challenges)}"
        case "experiment":
            yield f"{HEADINGS['experiment'][lang]}: `attn experiment {card.experiment}`"
        case "follow-ups":
            if asked := [_follow_up(follow_up, lang) for follow_up in card.follow_ups if follow_up.ask]:
                yield "\n\n".join([f"## {HEADINGS['follow-ups'][lang]}", *asked])
            if linked := [follow_up.card for follow_up in card.follow_ups if not follow_up.ask]:
                yield f"{HEADINGS['see'][lang]}: {', '.join(linked)}"
        case "as-of":
            yield AS_OF[lang].format(date=card.as_of)
        case "sources":
            yield _section("sources", [source.text for source in card.sources], lang)


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
