"""Reading the answer to a card line by line. An empty line gives up, and is told the answer."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from attncli.commands.printed.card_markdown import numbered
from attncli.commands.shared.stdout import echo
from attncli.domain.card import ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard
from attncli.domain.text import Lang
from attncli.errors import UsageError
from attncli.practice.cards.ask import Asked
from attncli.words.in_chinese import told_in
from attncli.words.plain_review_texts import QUESTIONS

ReadLine = Callable[[], str]
"""Returns the next line with its newline, or nothing at the end of input."""


class LearnerLeft(Exception):
    """The learner wants to stop, or there is no more input."""


def typed_line(read_line: ReadLine) -> str:
    """The next line as it is meant, full-width characters as ASCII. Raises LearnerLeft."""
    if line := read_line():
        return unicodedata.normalize("NFKC", line).strip()
    raise LearnerLeft


def read_answer(asked: Asked, lang: Lang, read_line: ReadLine, read_numbers: ReadLine) -> None:
    """Prints the question, reads the answer into `asked` and submits it; only prints a card that is not marked.

    `read_numbers` reads where only numbers make sense, so that it may treat letters as commands.
    """
    echo(asked.question[lang].strip())
    match asked.card:
        case ChoiceCard():
            _choice(asked, asked.card, lang, read_numbers)
        case NumericCard():
            _numeric(asked, lang, read_numbers)
        case ClozeCard():
            _cloze(asked, lang, read_line)
        case OrderingCard():
            _ordering(asked, asked.card, lang, read_numbers)
        case DebugCard():
            _debug(asked, asked.card, lang, read_numbers)


def _choice(asked: Asked, card: ChoiceCard, lang: Lang, read_line: ReadLine) -> None:
    _print([card.options[index].text[lang] for index in asked.option_order])
    echo(QUESTIONS["choose-many" if card.multiple else "choose"][lang])
    places = _numbers(read_line, len(asked.option_order), lang)
    asked.chosen = {asked.option_order[place] for place in places}
    asked.submit()


def _numeric(asked: Asked, lang: Lang, read_line: ReadLine) -> None:
    unit = f" ({asked.task.unit})" if asked.task and asked.task.unit else ""
    while not asked.revealed:
        echo(QUESTIONS["number"][lang].format(unit=unit))
        asked.texts = [read_line()]
        try:
            asked.submit()
        except UsageError as error:
            echo(told_in(lang, error.message))


def _cloze(asked: Asked, lang: Lang, read_line: ReadLine) -> None:
    for index in range(len(asked.texts)):
        echo(QUESTIONS["blank"][lang].format(n=index + 1))
        asked.texts[index] = read_line()
    asked.submit()


def _ordering(asked: Asked, card: OrderingCard, lang: Lang, read_line: ReadLine) -> None:
    keys, texts = asked.item_order, dict(card.items)
    _print([texts[key][lang] for key in keys])
    while not asked.revealed:
        echo(QUESTIONS["order"][lang])
        asked.item_order = [keys[place] for place in _numbers(read_line, len(keys), lang)]
        try:
            asked.submit()
        except UsageError:
            echo(QUESTIONS["numbers"][lang].format(n=len(keys)))


def _debug(asked: Asked, card: DebugCard, lang: Lang, read_line: ReadLine) -> None:
    echo(f"\n{numbered(card.code)}")
    while not asked.revealed:
        echo(QUESTIONS["line"][lang])
        if len(places := _numbers(read_line, len(card.code.rstrip().splitlines()), lang)) <= 1:
            asked.line = places[0] + 1 if places else 0
            asked.submit()


def read_points(total: int, read_line: ReadLine, ask: Callable[[], None], bad: Callable[[], None]) -> set[int]:
    """Zero-based points from `1 3`, `all` or `none`; asks until the line says one of these."""
    while total:
        ask()
        words = read_line().lower().replace(",", " ").split()
        if words in (["all"], ["a"]):
            return set(range(total))
        if words in ([], ["none"], ["0"]):
            return set()
        if all(word.isdecimal() and 1 <= int(word) <= total for word in words):
            return {int(word) - 1 for word in words}
        bad()
    return set()


def _print(items: list[str]) -> None:
    for number, item in enumerate(items, 1):
        echo(f"{number}. {item}")


def _numbers(read_line: ReadLine, most: int, lang: Lang) -> list[int]:
    """Zero-based places from a line such as `2 1 3` or `2,1,3`; none from an empty one."""
    while True:
        words = read_line().replace(",", " ").split()
        if all(word.isdecimal() and 1 <= int(word) <= most for word in words):
            return [int(word) - 1 for word in words]
        echo(QUESTIONS["numbers"][lang].format(n=most))
