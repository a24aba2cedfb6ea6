"""Asking for the answer to an automatically marked card, line by line.

An empty line gives up, and is told the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from attncli.commands.card_markdown import numbered
from attncli.commands.stdout import echo
from attncli.domain.card import Card, ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard
from attncli.domain.text import Lang
from attncli.errors import UsageError
from attncli.practice import marking, numeric_answer
from attncli.practice.marking import Marked
from attncli.words.plain_texts import QUESTIONS

Marking = Marked
ReadLine = Callable[[], str]


def ask(card: Card, lang: Lang, rng: Random, read_line: ReadLine, read_numbers: ReadLine) -> Marking | None:
    """Prints the question, reads and marks the answer; None for a card that is rated by its points.

    `read_numbers` reads where only numbers make sense, so that it may treat letters as commands.
    """
    match card:
        case ChoiceCard():
            return _choice(card, lang, rng, read_numbers)
        case NumericCard():
            return _numeric(card, lang, rng, read_numbers)
        case ClozeCard():
            return _cloze(card, lang, read_line)
        case OrderingCard():
            return _ordering(card, lang, rng, read_numbers)
        case DebugCard():
            return _debug(card, lang, read_numbers)
    return None


def _choice(card: ChoiceCard, lang: Lang, rng: Random, read_line: ReadLine) -> Marking:
    shown = marking.shuffled_options(card, rng)
    _print(card.question[lang], [card.options[index].text[lang] for index in shown])
    echo(QUESTIONS["choose-many" if card.multiple else "choose"][lang])
    places = _numbers(read_line, len(shown), lang)
    return marking.mark_choice(card, {shown[place] for place in places})


def _numeric(card: NumericCard, lang: Lang, rng: Random, read_line: ReadLine) -> Marking:
    task = numeric_answer.draw(card, rng)
    echo(task.question[lang])
    unit = f" ({task.unit})" if task.unit else ""
    while True:
        echo(QUESTIONS["number"][lang].format(unit=unit))
        try:
            line = read_line()
            return numeric_answer.mark_numeric(task, line) if line else numeric_answer.give_up(task)
        except UsageError as error:
            echo(error.message)


def _cloze(card: ClozeCard, lang: Lang, read_line: ReadLine) -> Marking:
    echo(card.question[lang])
    answers = []
    for number, _ in enumerate(card.blanks, 1):
        echo(QUESTIONS["blank"][lang].format(n=number))
        answers.append(read_line())
    return marking.mark_cloze(card, answers)


def _ordering(card: OrderingCard, lang: Lang, rng: Random, read_line: ReadLine) -> Marking:
    keys, texts = marking.shuffled_items(card, rng), dict(card.items)
    _print(card.question[lang], [texts[key][lang] for key in keys])
    while True:
        echo(QUESTIONS["order"][lang])
        places = _numbers(read_line, len(keys), lang)
        if not places:
            return marking.give_up_ordering(card)
        try:
            return marking.mark_ordering(card, [keys[place] for place in places])
        except UsageError:
            echo(QUESTIONS["numbers"][lang].format(n=len(keys)))


def _debug(card: DebugCard, lang: Lang, read_line: ReadLine) -> Marking:
    echo(f"{card.question[lang]}\n\n{numbered(card.code)}")
    lines = len(card.code.rstrip().splitlines())
    while True:
        echo(QUESTIONS["line"][lang])
        if len(places := _numbers(read_line, lines, lang)) <= 1:
            return marking.mark_debug(card, places[0] + 1 if places else 0)


def _print(text: str, items: list[str]) -> None:
    echo(text)
    for number, item in enumerate(items, 1):
        echo(f"{number}. {item}")


def _numbers(read_line: ReadLine, most: int, lang: Lang) -> list[int]:
    """Zero-based places from a line such as `2 1 3` or `2,1,3`; none from an empty one."""
    while True:
        words = read_line().replace(",", " ").split()
        if all(word.isdecimal() and 1 <= int(word) <= most for word in words):
            return [int(word) - 1 for word in words]
        echo(QUESTIONS["numbers"][lang].format(n=most))
