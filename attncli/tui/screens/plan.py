"""The plan for the interview: days left, today's list, the days until then, and expected recall by topic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from attncli.domain.dates import date_words
from attncli.errors import UsageError
from attncli.i18n import N_, _
from attncli.practice import plan_text
from attncli.practice.plan import Plan, StudyDay, TopicPlan, make_plan
from attncli.tui.screens.base import AttnScreen, error_text
from attncli.tui.widgets.basics import Page, Plain, TitleBar, bar, heading, left, right

DAYS_SHOWN = 28
_DAY, _MINUTES, _TOPIC, _BAR = 14, 9, 38, 16


class PlanScreen(AttnScreen):
    """The plan on one page; r studies today's list. Without an interview date it says how to set one."""

    CSS_PATH = "plan.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "study", N_("Study today's list"), key_display="r"),
        Binding("comma", "settings", N_("Settings"), key_display=","),
    ]

    plan: Plan | None = None
    problem = ""

    def _load(self) -> None:
        try:
            self.plan, self.problem = make_plan(self.workspace), ""
        except UsageError as error:
            self.plan, self.problem = None, error_text(error, self.lang)

    def title_bar(self) -> TitleBar:
        self._load()
        date = date_words(self.plan.interview)[self.lang] if self.plan else ""
        return TitleBar(_("Plan for the interview")[self.lang], status=date)

    def body(self) -> Iterable[Widget]:
        yield Page(*self._parts(), id="plan")

    def focus_first(self) -> None:
        self.query_one("#plan").focus()

    async def reload(self) -> None:
        await self._recompose()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "study" or bool(self.plan and self.plan.days[0].cards)

    def action_study(self) -> None:
        self.attn.show("review", replace=True)

    def action_settings(self) -> None:
        self.attn.show("settings")

    def _parts(self) -> Iterable[Widget]:
        if self.plan is None:
            yield Plain(self.problem)
            return
        plan, lang = self.plan, self.lang
        yield Plain(Content.styled(plan_text.countdown_sentence(plan, lang), "bold $accent"))
        yield Plain(plan_text.expected_line(plan, lang))
        for line in plan_text.left_out_lines(plan, lang):
            yield Plain(Content.styled(f"! {line}", "$warning"))
        rules = plan_text.rules_lines(plan, self.workspace.settings.level, lang)
        for line in (plan_text.basis_line(plan, lang), *plan_text.studied_line(plan, lang), *rules):
            yield Plain(Content.styled(line, "$text-muted"))
        yield heading(_("Day by day")[lang])
        yield Plain(Content("\n").join(self._day(day) for day in plan.days[:DAYS_SHOWN]))
        if len(plan.days) > DAYS_SHOWN:
            yield Plain(_("… and {count} more days", count=len(plan.days) - DAYS_SHOWN)[lang])
        for line in plan_text.last_pass_line(plan, lang):
            yield Plain(Content.styled(line, "$text-muted"))
        yield heading(_("Expected recall by topic")[lang])
        titles = {topic.id: topic.title[lang] for topic in self.workspace.library.topics()}
        yield Plain(Content("\n").join(self._topic(titles.get(id, id), plan.topics[id]) for id in plan.topics))

    def _day(self, day: StudyDay) -> Content:
        minutes = _("{minutes:.0f} min", minutes=day.minutes)[self.lang]
        is_today = self.plan is not None and day.date == self.plan.today
        return Content.assemble(
            (left(plan_text.day_name(day.date, self.lang), _DAY), "bold $primary" if is_today else "$text-muted"),
            (right(minutes, _MINUTES), "$text-muted"),
            "  ",
            (" · ".join(plan_text.day_parts(day, self.lang)), "bold" if is_today else ""),
        )

    def _topic(self, title: str, topic: TopicPlan) -> Content:
        expected = topic.expected
        return Content.assemble(
            left(title, _TOPIC),
            " ",
            bar(expected.recall, _BAR, "$success"),
            right(f"{expected.recall:.0%}", 5),
            (f"  {expected.low:.0%}–{expected.high:.0%}", "$text-muted"),
        )
