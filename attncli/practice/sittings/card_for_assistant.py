"""A card as data in one language: what may be told before an attempt, and what only after it."""

from __future__ import annotations

from typing import Any

from attncli.domain.card import Card, ChoiceCard, ClozeCard, DebugCard, OrderingCard
from attncli.domain.rating import Rating
from attncli.domain.text import Lang
from attncli.practice.cards.answer_sections import Section, sections
from attncli.practice.cards.ask import Asked
from attncli.practice.review import SittingItem
from attncli.words.assistant_texts import HOW
from attncli.words.interval_texts import interval_text


def question_document(asked: Asked, lang: Lang) -> dict[str, Any]:
    """The question with whatever has to be seen to answer it, and `how` to hand the answer in."""
    card = asked.card
    told = {"card": card.id, "topic": card.topic, "kind": card.kind, "level": card.level}
    return {**told, "question": asked.question[lang].strip(), **_to_see(asked, lang), "how": how_to_answer(asked, lang)}


def how_to_answer(asked: Asked, lang: Lang) -> str:
    """Which argument of an attempt this card wants."""
    card = asked.card
    unit = asked.task.unit if asked.task else ""
    kind: str = card.kind
    if isinstance(card, ChoiceCard) and card.multiple:
        kind = "choice-many"
    elif unit:
        kind = "numeric-unit"
    return HOW[kind][lang].format(unit=unit, n=len(asked.texts))


def answer_document(asked: Asked, item: SittingItem, lang: Lang) -> dict[str, Any]:
    """The answer and everything else behind the question, the marking, and what each rating would do."""
    card = asked.card
    document: dict[str, Any] = {"card": card.id, "correct": asked.correct}
    if asked.marked is not None:
        document |= {"said": " ".join(text[lang] for text in asked.told if text[lang])}
        document |= {"suggested_rating": asked.suggestion.word}
    document |= {section.replace("-", "_"): _told(section, card, lang) for section in sections(card)}
    intervals = {rating.word: interval_text(item.interval(rating), lang) for rating in Rating}
    return {**document, "intervals": intervals}


def _to_see(asked: Asked, lang: Lang) -> dict[str, Any]:
    match asked.card:
        case ChoiceCard() as card:
            return {"options": _numbered([card.options[index].text[lang] for index in asked.option_order])}
        case OrderingCard() as card:
            texts = dict(card.items)
            return {"items": _numbered([texts[key][lang] for key in asked.item_order])}
        case DebugCard() as card:
            return {"code": _numbered(card.code.rstrip().splitlines())}
        case ClozeCard() as card:
            return {"blanks": len(card.blanks)}
    return {}


def _numbered(lines: list[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _told(section: Section, card: Card, lang: Lang) -> Any:
    match section:
        case "answer" | "explain":
            text = card.short if section == "answer" else card.explain
            return text[lang].strip() if text else ""
        case "points":
            return _numbered([point[lang] for point in card.points])
        case "pitfalls":
            return [pitfall.says[lang] for pitfall in card.pitfalls]
        case "follow-ups":
            return [_follow_up(asked.card, asked.ask, asked.answer, lang) for asked in card.follow_ups]
        case "sources":
            return [source.text for source in card.sources]
        case "challenge":
            return list(card.challenges)
        case "unverifiable":
            return True
        case "experiment":
            return card.experiment
        case "as-of":
            return card.as_of


def _follow_up(card: str, ask: Any, answer: Any, lang: Lang) -> dict[str, str]:
    told = {"card": card, "ask": ask[lang].strip() if ask else "", "answer": answer[lang].strip() if answer else ""}
    return {key: text for key, text in told.items() if text}
