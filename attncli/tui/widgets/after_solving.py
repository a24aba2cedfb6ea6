"""What comes after a challenge is solved: the learner's code beside the reference, what is asked next, the next one."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from attncli.domain.challenge import Challenge
from attncli.domain.text import Lang
from attncli.practice.challenges import next_unsolved
from attncli.practice.own_solutions import solving_source
from attncli.practice.solution import reference
from attncli.practice.starter_docstring import without_docstring
from attncli.practice.workspace import Workspace
from attncli.tui.widgets.follow_ups import FollowUps, Questions
from attncli.tui.widgets.plain import Plain, heading
from attncli.words.after_solving_texts import YOUR_CODE
from attncli.words.app_texts import say

LEAST_BESIDE = 70


def after_solving(
    workspace: Workspace, challenge: Challenge, lang: Lang, opened: set[int], questions: Questions
) -> Iterator[Widget]:
    """What comes once a challenge is solved; nothing before. Code stands beside code: the statement is above."""
    source = solving_source(workspace, challenge.id)
    if source is not None:
        sources = without_docstring(source), without_docstring(reference(challenge))
        yield AfterSolving(challenge, sources, next_unsolved(workspace, challenge.id), lang, opened, questions)


class AfterSolving(Vertical):
    """`opened` holds the places of the answers that are open; it outlives this widget."""

    DEFAULT_CSS = """
    AfterSolving { height: auto; width: 1fr; }
    AfterSolving .heading { color: $primary; text-style: bold; height: auto; }
    AfterSolving .next { height: auto; margin: 0 0 1 0; }
    AfterSolving > Horizontal { height: auto; }
    AfterSolving > Horizontal > Vertical { height: auto; width: 1fr; }
    AfterSolving.-narrow > Horizontal { layout: vertical; }
    """

    def __init__(
        self,
        challenge: Challenge,
        sources: tuple[str, str],
        following: Challenge | None,
        lang: Lang,
        opened: set[int],
        questions: Questions,
    ) -> None:
        super().__init__()
        self._challenge, self._sources, self._following = challenge, sources, following
        self._lang, self._opened, self._questions = lang, opened, questions

    def compose(self) -> ComposeResult:
        from attncli.tui.widgets.markdown import CardMarkdown

        if self._challenge.follow_ups:
            yield heading(say("after.asked-next", self._lang))
            yield FollowUps(self._challenge.follow_ups, self._opened, self._lang, self._questions)
        if self._following is not None:
            yield Plain(say("after.next", self._lang, title=self._following.title[self._lang]), classes="next")
        with Horizontal():
            for title, source in zip(
                (YOUR_CODE[self._lang], say("challenge.solution", self._lang)), self._sources, strict=True
            ):
                with Vertical():
                    yield heading(title)
                    yield CardMarkdown(f"```python\n{source.rstrip()}\n```")

    def on_resize(self, event: events.Resize) -> None:
        """Code stands side by side where there is room for it."""
        self.set_class(event.size.width < LEAST_BESIDE, "-narrow")

    def open_next_answer(self) -> None:
        """Opens the first answer that is still closed."""
        for follow_ups in self.query(FollowUps):
            follow_ups.open_next()
