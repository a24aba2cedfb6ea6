"""`attn review --plain`: the review sitting line by line, for screen readers and dumb terminals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from attncli.commands.plain_answers import LearnerLeft, ReadLine, read_answer, read_points, typed_line
from attncli.commands.printed.card_markdown import revealed
from attncli.commands.shared.stdout import echo
from attncli.domain.rating import Rating
from attncli.domain.text import Lang
from attncli.errors import NotFound, Outdated, UsageError
from attncli.practice.cards.ask import Asked
from attncli.practice.review import ReviewSitting, SittingItem
from attncli.practice.workspace import Workspace
from attncli.words.interval_texts import interval_text
from attncli.words.plain_review_texts import SITTING
from attncli.words.shared_review_texts import GONE, OUTDATED, RATINGS


class TakenAway(Exception):
    """A command took the current card away while its answer was awaited."""


@dataclass
class PlainReview:
    """One sitting on a pair of text streams."""

    workspace: Workspace
    drill: ReviewSitting
    rng: Random
    read_line: ReadLine

    def run(self) -> None:
        """Asks until the queue is empty, the learner quits or the input ends; every answer is kept at once."""
        try:
            while item := self.drill.next():
                try:
                    self._ask(item)
                except NotFound:
                    self.drill.drop()
                    echo(GONE[self.workspace.lang].format(card=item.card.id))
        except LearnerLeft:
            pass
        progress = self.drill.progress
        key = "done" if self.drill.is_recorded else "done-cram"
        self._say(key, n=progress.answered, left=progress.remaining)

    def _ask(self, item: SittingItem) -> None:
        lang = self.workspace.lang
        self._say("left", n=item.number, card=item.card.id, topic=item.card.topic, left=self.drill.progress.remaining)
        asked = Asked.of(item.card, self.rng)
        try:
            read_answer(asked, lang, self._line, self._number_line)
            if not asked.is_marked_automatically:
                self._say("reveal")
                self._number_line()
                asked.submit()
        except TakenAway:
            return
        self._tell(asked)
        if not asked.is_marked_automatically:
            asked.ticked = read_points(
                len(item.card.points), self._line, lambda: self._say("points"), lambda: self._say("bad")
            )
        self._rate(item, asked)

    def _tell(self, asked: Asked) -> None:
        lang = self.workspace.lang
        if asked.marked is not None:
            echo("  ".join(text[lang] for text in asked.told if text[lang]))
        echo("\n\n".join(revealed(asked.card, lang)))

    def _rate(self, item: SittingItem, asked: Asked) -> None:
        lang, suggested = self.workspace.lang, asked.suggestion
        while True:
            item = self.drill.refresh()
            self._say("rate", choices=self._choices(item), suggested=_word(suggested, lang))
            line = self._line()
            if self._settled(line):
                return
            if (rating := _rating(line) if line else suggested) is not None:
                try:
                    self.drill.rate(rating, points=asked.points, correct=asked.correct)
                except Outdated as error:
                    echo(OUTDATED[error.reason][self.workspace.lang])
                    continue
                interval = interval_text(item.interval(rating), lang)
                key = "saved" if self.drill.is_recorded else "noted"
                self._say(key, card=item.card.id, rating=_word(rating, lang), interval=interval)
                return
            self._say("bad")

    def _choices(self, item: SittingItem) -> str:
        lang = self.workspace.lang
        named = {rating: f"{int(rating)} {_word(rating, lang)}" for rating in Rating}
        if not self.drill.is_recorded:
            return ", ".join(named.values())
        return ", ".join(f"{name} ({interval_text(item.interval(rating), lang)})" for rating, name in named.items())

    def _settled(self, line: str) -> bool:
        """Whether `line` was a command that took the current card away."""
        command = line.lower()
        if command in ("q", "quit"):
            raise LearnerLeft
        if command == "s":
            self.drill.suspend()
        elif command == "b":
            self.drill.bury()
        elif command == "u":
            return self._undo()
        return command in ("s", "b")

    def _undo(self) -> bool:
        try:
            self._say("undone", card=self.drill.undo().card.id)
        except UsageError as error:
            echo(error.message)
            return False
        return True

    def _number_line(self) -> str:
        """The next line where no text is awaited, so that a letter can be a command."""
        line = self._line()
        if self._settled(line):
            raise TakenAway
        return line

    def _line(self) -> str:
        return typed_line(self.read_line)

    def _say(self, key: str, **values: object) -> None:
        echo(SITTING[key][self.workspace.lang].format(**values))


def _rating(line: str) -> Rating | None:
    named: Iterator[Rating] = (
        rating for rating in Rating if line.lower() in (str(int(rating)), rating.word, RATINGS[rating].zh)
    )
    return next(named, None)


def _word(rating: Rating, lang: Lang) -> str:
    return RATINGS[rating][lang].lower()
