"""A card as the fields of an Anki note: what is asked and what is told, for each kind, in one language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from attncli.domain.card import Card, ChoiceCard, ClozeCard, DebugCard, FollowUp, NumericCard, OrderingCard
from attncli.domain.text import Lang, Localised
from attncli.errors import NotFound
from attncli.export.anki_markup import block, code, inline, plain
from attncli.practice.cards.marking import right_order, shuffled_items, shuffled_options
from attncli.practice.marking import draw, shown
from attncli.words import anki_texts as words
from attncli.words.marking_texts import BETWEEN_LINES, FIX, LINE
from attncli.words.shared_review_texts import AS_OF, HEADINGS, UNVERIFIABLE

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NUMBERS = "①②③④⑤⑥⑦⑧"
ALTERNATIVES_SHOWN = 3
_BLANK = re.compile(r"_{4,}")
AskedOf = Callable[[str], Localised]


@dataclass(frozen=True, slots=True)
class NoteSide:
    """The fields of one language; empty where a card has nothing to say."""

    question: str
    answer: str
    why: str
    points: str
    pitfalls: str
    follow_ups: str

    @property
    def fields(self) -> list[str]:
        return [self.question, self.answer, self.why, self.points, self.pitfalls, self.follow_ups]


EMPTY = NoteSide("", "", "", "", "", "")


def side(card: Card, lang: Lang, asked_of: AskedOf) -> NoteSide:
    """The card in one language; `asked_of` gives the question of a card that a follow-up names.

    Numbers and orders are drawn by the card's id, so that they are the same in every export.
    """
    question, answer = _asked_and_told(card, lang)
    short = block(card.short[lang]) if card.short else ""
    return NoteSide(
        question=question,
        answer=short if not answer else answer + short,
        why=_why(card, lang),
        points=_listed([inline(point[lang]) for point in card.points], "ol"),
        pitfalls=_listed([inline(pitfall.says[lang]) for pitfall in card.pitfalls]) + _slips(card, lang),
        follow_ups="".join(_follow_up(follow_up, lang, asked_of) for follow_up in card.follow_ups),
    )


def sources(card: Card) -> str:
    return _listed([plain(source.text) for source in card.sources])


def _asked_and_told(card: Card, lang: Lang) -> tuple[str, str]:
    rng = Random(card.id)
    match card:
        case ChoiceCard():
            return _choice(card, lang, rng)
        case NumericCard():
            return _numeric(card, lang, rng)
        case ClozeCard():
            return _cloze(card, lang)
        case OrderingCard():
            return _ordering(card, lang, rng)
        case DebugCard():
            return _debug(card, lang)
    return block(card.question[lang]), ""


def _choice(card: ChoiceCard, lang: Lang, rng: Random) -> tuple[str, str]:
    options = [card.options[index] for index in shuffled_options(card, rng)]
    several = f"<p>{words.MARK_SEVERAL[lang]}</p>" if card.multiple else ""
    told = []
    for letter, option in zip(LETTERS, options, strict=False):
        mark = "✓" if option.correct else "✗"
        why = f"<br>{inline(option.why_not[lang])}" if option.why_not else ""
        text = inline(option.text[lang])
        told.append(f"{mark} {letter}. " + (f"<strong>{text}</strong>" if option.correct else text) + why)
    right = ", ".join(letter for letter, option in zip(LETTERS, options, strict=False) if option.correct)
    choices = "".join(f"<li>{inline(option.text[lang])}</li>" for option in options)
    asked = f'{block(card.question[lang])}{several}<ol type="A">{choices}</ol>'
    lines = "".join(f"<li>{line}</li>" for line in told)
    return asked, f'<p><strong>{right}</strong></p><ul class="marked">{lines}</ul>'


def _numeric(card: NumericCard, lang: Lang, rng: Random) -> tuple[str, str]:
    task = draw(card, rng)
    unit = f"<p>{words.ASKED_IN[lang].format(unit=plain(task.unit))}</p>" if task.unit else ""
    expected = plain(f"{shown(task.expected)} {task.unit}".strip())
    right = words.WITHIN[lang].format(expected=f"<strong>{expected}</strong>", tolerance=plain(task.tolerance))
    values = ", ".join(f"{name} = {label}" for name, label in task.values.items())
    formula = f"<code>{plain(card.compute)}</code>" + (f" ({plain(values)})" if values else "")
    computed = words.COMPUTED[lang].format(formula=formula)
    return block(task.question[lang]) + unit, f"<p>{right}</p><p>{computed}</p>"


def _cloze(card: ClozeCard, lang: Lang) -> tuple[str, str]:
    several = len(card.blanks) > 1
    numbers = iter(NUMBERS[: len(card.blanks)] if several else "")
    asked = block(_BLANK.sub(lambda _: next(numbers, "") + r"\_\_\_\_", card.question[lang]))
    told = []
    for blank_ in card.blanks:
        answer = f"<code>{plain(blank_.answer)}</code>"
        others = ", ".join(f"<code>{plain(other)}</code>" for other in blank_.accept[:ALTERNATIVES_SHOWN])
        told.append(words.ALSO_RIGHT[lang].format(answer=answer, others=others) if others else answer)
    return asked, _listed(told, "ol") if several else f"<p>{told[0]}</p>"


def _ordering(card: OrderingCard, lang: Lang, rng: Random) -> tuple[str, str]:
    texts = dict(card.items)
    asked = _listed([inline(texts[key][lang]) for key in shuffled_items(card, rng)])
    told = _listed([inline(texts[key][lang]) for key in right_order(card)], "ol")
    pairs = _listed([f"{inline(texts[a][lang])} → {inline(texts[b][lang])}" for a, b in card.before])
    free = len(card.before) < len(card.items) - 1
    head = words.ONE_ORDER[lang] if free else ""
    more = f"<p>{words.BEFORE[lang]}</p>{pairs}" if free else ""
    return (
        f"{block(card.question[lang])}<p>{words.PUT_IN_ORDER[lang]}</p>{asked}",
        (f"<p>{head}</p>" if head else "") + told + more,
    )


def _debug(card: DebugCard, lang: Lang) -> tuple[str, str]:
    lines = BETWEEN_LINES[lang].join(map(str, card.lines))
    told = f"<p>{LINE[lang].format(lines=f'<strong>{lines}</strong>', symptom=inline(card.symptom[lang]))}</p>"
    fix = f"<p>{FIX[lang].format(fix='').strip()}</p>{code(card.fix[lang])}" if card.fix else ""
    return block(card.question[lang]) + code(card.code, numbered=True), told + fix


def _why(card: Card, lang: Lang) -> str:
    told = block(card.explain[lang]) if card.explain else ""
    notes = [UNVERIFIABLE[lang]] if card.unverifiable else []
    notes += [AS_OF[lang].format(date=plain(card.as_of))] if card.as_of else []
    return told + "".join(f"<p><em>{note}</em></p>" for note in notes)


def _slips(card: Card, lang: Lang) -> str:
    if not isinstance(card, NumericCard) or not card.slips:
        return ""
    told = [f"<code>{plain(slip.compute)}</code>: {inline(slip.says[lang])}" for slip in card.slips]
    return f"<p><strong>{HEADINGS['slips'][lang]}</strong></p>" + _listed(told)


def _follow_up(follow_up: FollowUp, lang: Lang, asked_of: AskedOf) -> str:
    more = f" ({plain(follow_up.card)})" if follow_up.card else ""
    if follow_up.ask and follow_up.answer:
        return f"<p><strong>{inline(follow_up.ask[lang])}</strong></p>{block(follow_up.answer[lang])}"
    try:
        return f"<p>{inline(asked_of(follow_up.card)[lang])}{more}</p>"
    except NotFound:
        return ""


def _listed(items: Iterable[str], tag: str = "ul") -> str:
    lines = "".join(f"<li>{item}</li>" for item in items)
    return f"<{tag}>{lines}</{tag}>" if lines else ""
