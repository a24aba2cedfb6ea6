"""What answers a card of each kind, as Markdown: the card has to be understood on paper, where nothing is asked."""

from __future__ import annotations

from attncli.domain.card import BLANK, Card, ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard
from attncli.domain.text import Lang
from attncli.export.markdown_writing import code_block, code_span
from attncli.practice.cards.marking import right_order
from attncli.practice.cards.worked_number import worked
from attncli.words.summary_texts import ANSWERS


def question(card: Card, lang: Lang) -> str:
    """The question with the numbers that `answer` works with."""
    return card.listed[lang].strip()


def answer(card: Card, lang: Lang) -> str:
    """What is right, and of a kind with wrong answers why they are; then the short answer, where there is one."""
    match card:
        case ChoiceCard():
            solution = _options(card, lang)
        case NumericCard():
            solution = _number(card, lang)
        case ClozeCard():
            solution = _filled(card, lang)
        case OrderingCard():
            texts = dict(card.items)
            solution = "\n".join(f"{n}. {texts[key][lang]}" for n, key in enumerate(right_order(card), 1))
        case DebugCard():
            solution = _mended(card, lang)
        case _:
            solution = ""
    short = card.short[lang].strip() if card.short else ""
    return "\n\n".join(part for part in (solution, short) if part)


def _options(card: ChoiceCard, lang: Lang) -> str:
    lines = []
    for option in sorted(card.options, key=lambda option: not option.correct):
        text = " ".join(option.text[lang].split())
        why = f" — {' '.join(option.why_not[lang].split())}" if option.why_not else ""
        lines.append(f"- ✓ **{text}**" if option.correct else f"- ✗ {text}{why}")
    return "\n".join(lines)


def _number(card: NumericCard, lang: Lang) -> str:
    found = worked(card)
    *steps, result = found.steps
    shown = "\n".join([steps[0] if steps else "", *(f"  = {step}" for step in steps[1:]), f"  = {result}"]).lstrip("\n")
    tolerance = ANSWERS["tolerance"][lang].format(tolerance=found.task.tolerance)
    slips = [
        f"- {ANSWERS['slip'][lang].format(number=f'{slip.value:.6g} {card.unit}'.strip())}{slip.says[lang].strip()}"
        for slip in found.task.slips
        if not found.task.fits(slip.value)
    ]
    return "\n\n".join([f"**{result}**{tolerance}", code_block(shown), *(["\n".join(slips)] if slips else [])])


def _filled(card: ClozeCard, lang: Lang) -> str:
    """The sentence with its blanks filled; a list where a blank stands in a formula or in code."""
    text = card.question[lang].strip()
    answers = [code_span(blank.answer) for blank in card.blanks]
    if "$" in text or "`" in text or text.count(BLANK) != len(answers):
        return "\n".join(f"{number}. {found}" for number, found in enumerate(answers, 1))
    first, *rest = text.split(BLANK)
    return first + "".join(f"**{found}**{after}" for found, after in zip(answers, rest, strict=True))


def _mended(card: DebugCard, lang: Lang) -> str:
    code = card.code.rstrip().splitlines()
    listing = "\n".join(
        f"{'>' if number in card.lines else ' '}{number:>3}  {line}" for number, line in enumerate(code, 1)
    )
    lines = ANSWERS["between"][lang].join(map(str, card.lines))
    told = ANSWERS["line"][lang].format(lines=lines, symptom=card.symptom[lang].strip())
    parts = [code_block(listing), told]
    if card.fix:
        parts.append(f"{ANSWERS['fix'][lang]}\n\n{code_block(card.fix[lang].strip(), 'python')}")
    return "\n\n".join(parts)
