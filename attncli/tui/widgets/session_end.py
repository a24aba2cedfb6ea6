"""What a sitting came to."""

from __future__ import annotations

from datetime import datetime, timedelta

from textual.content import Content

from attncli.domain.rating import Rating
from attncli.domain.text import Lang
from attncli.practice.queue import due_counts
from attncli.practice.review import ReviewSitting
from attncli.tui.markup import inline
from attncli.tui.widgets.plain import Plain
from attncli.words.app_texts import say
from attncli.words.command_texts import counted
from attncli.words.interval_texts import interval_text


class SessionEnd(Plain):
    """Reviews, the share that was recalled, minutes, what is still due, and the cards to look at again."""

    DEFAULT_CSS = """
    SessionEnd { height: auto; width: 1fr; padding: 1 0; }
    """

    def __init__(self, drill: ReviewSitting, began_at: datetime, lang: Lang) -> None:
        self.drill = drill
        self.lang: Lang = lang
        super().__init__(Content("\n").join(self._lines(drill.workspace.clock() - began_at)))

    def _lines(self, spent: timedelta) -> list[Content]:
        answers, lang = self.drill.answers, self.lang
        if not answers:
            lines = [Content.styled(say("done.nothing", lang), "bold")]
        else:
            recalled = sum(answer.rating is not Rating.AGAIN for answer in answers) / len(answers)
            count = counted(len(answers), "review")[lang]
            parts = [
                count if self.drill.is_recorded else say("done.answered", lang, count=len(answers)),
                say("done.recalled", lang, percent=round(100 * recalled)),
                say("done.minutes", lang, minutes=max(1, round(spent.total_seconds() / 60))),
            ]
            lines = [Content.styled(say("done.title", lang), "bold $success"), Content("  ·  ".join(parts))]
        if self.drill.is_recorded:
            lines += self._waiting()
        else:
            lines.append(Content.styled(say("done.not-recorded", lang), "$text-muted"))
        lines += self._again()
        return [*lines, Content(""), Content.styled(say("done.leave", lang), "$text-muted")]

    def _waiting(self) -> list[Content]:
        workspace = self.drill.workspace
        due = due_counts(workspace)
        lines = [Content(say("done.still-due", self.lang, due=due.due))] if due.due else []
        coming = [answer.due_at for answer in self.drill.answers if answer.due_at is not None]
        soonest = min(coming) - workspace.clock() if coming else timedelta(0)
        if timedelta(0) < soonest < timedelta(hours=12):
            lines.append(Content(say("done.waiting", self.lang, interval=interval_text(soonest, self.lang))))
        return lines

    def _again(self) -> list[Content]:
        failed = dict.fromkeys(answer.card for answer in self.drill.answers if answer.rating is Rating.AGAIN)
        if not failed:
            return []
        library = self.drill.workspace.library
        lines = [Content(""), Content.styled(say("done.again", self.lang), "bold $primary")]
        for card in failed:
            lines.append(Content.assemble((f"{card}  ", "$text-muted"), inline(library.card(card).listed[self.lang])))
        return lines
