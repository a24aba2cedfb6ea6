"""The keys of a learner from the first start to the summary, for any display of the app.

A station presses keys, waits for a visible change, and returns the screen's text. It reads only the screen, so the same
acts drive the app in a test, in a browser and on a terminal.
"""

import re
from collections.abc import Callable
from typing import Protocol

from attncli.domain.grade_report_text import REACHED
from attncli.domain.mock_interview import PART_NAMES
from attncli.domain.vocabulary import KIND_NAMES, LEVEL_NAMES
from attncli.i18n import Lang, _, ngettext
from attncli.tui.screens.editor import INDENT

MASK = """\
S = T if S is None else S
    if S < T:
        raise ValueError("fewer keys than queries")
    rows = torch.arange(S - T, S, device=device)
    return torch.arange(S, device=device) <= rows[:, None]"""
"""A solution of the first challenge, in place of its `raise NotImplementedError`."""

ATTENTION = """\
scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = q @ k.transpose(-2, -1) * scale
    if mask is None:
        return torch.softmax(scores, dim=-1) @ v
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return torch.softmax(scores, dim=-1).masked_fill(empty, 0.0) @ v"""
"""A solution of sdpa that reaches *solved*, but fails in 16 bits."""

HARDENED = (
    """\
import torch


def sdpa(q, k, v, mask=None, scale=None):
    if q.dtype in (torch.float16, torch.bfloat16):
        return sdpa(q.float(), k.float(), v.float(), mask, scale).to(q.dtype)
    """
    + ATTENTION
)

BACK = "\b"
CLOCK = re.compile(r"\d+:\d\d")

IN_A_FIELD, IN_NO_FIELD = " F1 ", " ? "
"""The help key in the key bar, which shows whether keys go to a text field."""


class Learner(Protocol):
    """The driver of a displayed app. Keys have Textual's names, or are one character each."""

    lang: Lang

    async def press(self, *keys: str) -> None: ...
    async def type(self, text: str) -> None:
        """Press each character's key, Backspace for BACK."""
        ...

    async def until(self, holds: Callable[[str], bool], waited_for: str) -> str:
        """Return the screen once `holds` accepts it. Raises AssertionError if it never does."""
        ...


def keys_for(code: str, indent: int = INDENT) -> str:
    """Return the keys for `code`, whose first line starts at `indent`; the editor indents the others."""
    typed, before = [], " " * indent
    for place, line in enumerate(code.split("\n")):
        text = line.lstrip(" ")
        if place:
            given = len(before) - len(before.lstrip(" ")) + INDENT * before.endswith(":")
            due = len(line) - len(text) if text else given
            text = "\n" + BACK * ((given - due) // INDENT) + " " * (due - given) + text
            indent = due
        typed.append(text)
        before = " " * indent + line.lstrip(" ")
    return "".join(typed)


async def until(learner: Learner, *texts: str) -> str:
    """Return the screen once it shows all the texts, in any case, since a text may start a sentence."""
    wanted = [text.casefold() for text in texts]
    return await learner.until(lambda screen: all(text in screen.casefold() for text in wanted), " and ".join(texts))


def _keys(learner: Learner, *labels: str) -> list[str]:
    return [_(label)[learner.lang] for label in labels]


async def first_run(learner: Learner, date: str = "", minutes: str = "15") -> str:
    """Answer the four questions, the first in English; return the Home screen."""
    await until(learner, "‹ English ›")
    if learner.lang == "zh":
        await learner.press("right")
    await until(learner, _("Four questions, then press r to start. Enter accepts the value shown.")[learner.lang][:12])
    await learner.press("enter")
    await until(learner, IN_A_FIELD)
    await learner.type(date)
    await until(learner, date)
    await learner.press("enter")
    await until(learner, IN_NO_FIELD)
    await learner.press("right")
    await until(learner, f"‹ {LEVEL_NAMES['screen'][learner.lang]} ›")
    await learner.press("enter")
    await until(learner, IN_A_FIELD)
    await learner.press("backspace", "backspace")
    await learner.type(minutes)
    await learner.press("enter")
    return await at_home(learner)


def _home(learner: Learner) -> tuple[str, str]:
    return _("Today")[learner.lang], _("All topics")[learner.lang]


async def at_home(learner: Learner) -> str:
    return await until(learner, *_home(learner))


async def reveal(learner: Learner) -> str:
    """Answer any kind of card with nothing; return the screen with the answer."""
    say_it, submit, rate, leave_field = _keys(learner, "Show answer", "Submit", "Rate", "Leave the field")
    say_it, rate = f"Space {say_it}", f"1-4 {rate}"
    screen = await learner.until(lambda shown: any(word in shown for word in (say_it, submit, rate)), "a card")
    while rate not in screen:
        if leave_field in screen:
            await learner.press("escape")
            screen = await learner.until(lambda shown: leave_field not in shown, "keys for the screen")
        else:
            await learner.press("space" if say_it in screen else "enter")
            screen = await learner.until(lambda shown: rate in shown or leave_field in shown, "the answer")
    return screen


async def rate(learner: Learner, rating: str, answered: int) -> str:
    """Show the next card's answer and rate it; return the screen once the rating counts."""
    await reveal(learner)
    await learner.press(rating)
    return await until(learner, f" {answered}/")


async def review(learner: Learner, cards: int) -> str:
    """Rate cards, undo the last rating, rate again, and go Home; return the screen after the undo."""
    await learner.press("r")
    for answered in range(1, cards + 1):
        await rate(learner, "4", answered)
    await learner.press("u")
    screen = await until(learner, f" {cards - 1}/")
    await rate(learner, "4", cards)
    await leave(learner)
    return screen


async def solve_first(learner: Learner, code: str = MASK) -> str:
    """Write the first challenge in the app's editor and grade it; return the screen with the verdict."""
    await learner.press("c")
    await until(learner, *_keys(learner, "Next track"))
    await learner.press("enter")
    await until(learner, *_keys(learner, "Write here"))
    await learner.press("w")
    await until(learner, "raise NotImplementedError")
    await learner.press("ctrl+k")
    await learner.type(keys_for(code))
    await until(learner, code.splitlines()[-1][-25:])
    await learner.press("ctrl+g")
    return await until(learner, REACHED["hardened"][learner.lang])


async def interview(learner: Learner) -> str:
    """Run a mock interview of 15 minutes, answering only one question; return the report's screen."""
    await learner.press("m")
    await until(learner, _("Mock interview")[learner.lang], "‹ 45 ›")
    await learner.press("down", "right", "right")
    await until(learner, "‹ 15 ›")
    await learner.press("s")
    screen = await learner.until(lambda shown: shown.startswith(parts(learner)), "the first part")
    await answer_in_interview(learner, screen)
    screen = await part_or_report(learner)
    while screen.startswith(parts(learner)):
        screen = await leave_part(learner, screen)
    return screen


def parts(learner: Learner) -> tuple[str, ...]:
    """Return the first words of an interview's screen titles."""
    return tuple(f" {named[learner.lang]} " for named in PART_NAMES.values())


async def part_or_report(learner: Learner, but: str = "\0") -> str:
    """Return the screen of another interview part than the one titled `but`, or of the report."""
    (new_mock,) = _keys(learner, "New interview")

    def is_drawn(shown: str) -> bool:
        return not shown.startswith(but) and (
            shown.startswith(parts(learner)) or new_mock.casefold() in shown.casefold()
        )

    return await learner.until(is_drawn, "another part, or the report")


async def leave_part(learner: Learner, screen: str) -> str:
    """Go on to the next part of an interview; return its screen."""
    leave_field, next_part = _keys(learner, "Leave the field", "Next part")
    title = screen.split("  ")[0]
    if leave_field in screen:
        await learner.press("escape")
        screen = await learner.until(lambda shown: leave_field not in shown, "keys for the screen")
    await learner.press("n" if next_part in screen else "s")
    return await part_or_report(learner, title)


async def answer_in_interview(learner: Learner, screen: str) -> str:
    """Answer with nothing, or give a shown answer full score; return the screen with the next question."""
    say_it, credit, leave_field = _keys(learner, "Show answer", "Score", "Leave the field")
    say_it, credit = f"Space {say_it}", f"0-2 {credit}"
    question = screen.splitlines()[0]
    while screen.splitlines()[0] == question:
        key = (
            "escape" if leave_field in screen else "space" if say_it in screen else "2" if credit in screen else "enter"
        )
        await learner.press(key)
        screen = await learner.until(_other_than(screen), "another screen")
    return screen


async def leave(learner: Learner) -> str:
    """Press Escape until Home is shown; return its screen."""
    home = _home(learner)
    screen = await learner.until(bool, "a screen")
    while not all(text in screen for text in home):
        await learner.press("escape")
        screen = await learner.until(_other_than(screen), "another screen")
    return screen


async def export(learner: Learner) -> str:
    """Export the summary from Stats; return the screen that names the file."""
    await learner.press("s")
    await until(learner, _("Statistics")[learner.lang])
    await learner.press("e")
    return await until(learner, _("Interview summary: {file}", file="")[learner.lang].strip())


async def mixed_review(learner: Learner, cards: int) -> set[str]:
    """Rate all cards, undo the last rating and rate again; return the kinds asked."""
    await learner.press("r")
    kinds = {name[learner.lang] for name in KIND_NAMES.values()}
    asked = set()
    for answered in range(1, cards + 1):
        screen = await reveal(learner)
        asked |= {kind for kind in kinds if f"  {kind} · " in screen.splitlines()[0]}
        await learner.press("4")
        await until(learner, f" {answered}/{cards}")
    await until(learner, _("Session done")[learner.lang])
    await learner.press("u")
    await until(learner, f" {cards - 1}/{cards}")
    await rate(learner, "4", cards)
    return asked


async def drill(learner: Learner) -> str:
    """Start a custom drill and leave it after one card."""
    await learner.press("d")
    await until(learner, "▶ ")
    await learner.press("s")
    await rate(learner, "4", 1)
    return await leave(learner)


async def quiz(learner: Learner) -> str:
    """Take a quiz, only pressing Enter; return the screen with the score."""
    await learner.press("z")
    new_quiz, submit, leave_field = _keys(learner, "New quiz", "Submit", "Leave the field")
    screen = await until(learner, f"Enter {submit}")
    while new_quiz not in screen:
        await learner.press("escape" if leave_field in screen else "enter")
        screen = await learner.until(_other_than(screen), "another screen")
    return screen


async def open_challenge(learner: Learner, place: int) -> str:
    """Open the challenge at this place of the list; return its screen."""
    await learner.press("c")
    await until(learner, *_keys(learner, "Next track"))
    await learner.press(*["down"] * place, "enter")
    return await until(learner, *_keys(learner, "Write here"))


async def write_and_grade(learner: Learner, code: str, verdict: str) -> str:
    """Write `code` in the app's editor, in place of the stub or the whole file; grade it and return the screen."""
    await learner.press("w")
    is_whole = code.startswith("import")
    await until(learner, "Ctrl+G" if is_whole else "raise NotImplementedError")
    await learner.press("f7" if is_whole else "ctrl+k")
    await learner.type(keys_for(code, 0 if is_whole else INDENT))
    await until(learner, code.splitlines()[-1][-25:])
    await learner.press("ctrl+g")
    return await until(learner, verdict)


async def repair(learner: Learner, bugs: int, code: str, verdict: str) -> str:
    """Start a round with `bugs` bugs and fix them; return the screen with the verdict."""
    await learner.press("r")
    await until(learner, _("How many bugs?")[learner.lang])
    await learner.press(str(bugs))
    await until(learner, ngettext("Find {count} bug", "Find {count} bugs", bugs)[learner.lang])
    return await write_and_grade(learner, code, verdict)


def _other_than(before: str) -> Callable[[str], bool]:
    """Return a check for a changed screen that ignores the clock."""
    return lambda screen: CLOCK.sub("", screen) != CLOCK.sub("", before)
