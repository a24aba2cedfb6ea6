"""What the screen of a challenge hands out to be mended: one wrong solution, or a reference with several bugs."""

from __future__ import annotations

from pathlib import Path

from attncli.domain.text import Lang, Localised
from attncli.errors import AttnError
from attncli.practice.repair_round import offers_rounds
from attncli.practice.start import Started, start_challenge
from attncli.tui.screens.base import AttnScreen
from attncli.words.app_texts import say
from attncli.words.command_texts import counted


async def hand_out_bug(screen: AttnScreen, id: str, file: Path) -> Started | None:
    """A wrong solution; a file that is there is kept, after asking. None where nothing was written."""
    from attncli.tui.screens.confirm import ConfirmScreen

    texts = [say(key, screen.lang) for key in ("challenge.keep-file", "challenge.yes-bug", "challenge.no")]
    if file.exists() and not await screen.app.push_screen_wait(ConfirmScreen(*texts)):
        return None
    return _started(screen, id, None, "challenge.bug-written")


async def hand_out_repair(screen: AttnScreen, id: str, file: Path) -> Started | None:
    """The reference with as many bugs as are asked for, if it has any; a file that is there is kept."""
    challenge = screen.workspace.library.challenge(id)
    if not offers_rounds(challenge):
        screen.notify(say("challenge.no-repair", screen.lang, title=challenge.title[screen.lang]))
        return None
    from attncli.tui.screens.bug_count import BugCountScreen

    question = "challenge.how-many-kept" if file.exists() else "challenge.how-many"
    bugs = await screen.app.push_screen_wait(BugCountScreen(say(question, screen.lang), screen.lang))
    return _started(screen, id, bugs, "challenge.repair-written") if bugs else None


def _started(screen: AttnScreen, id: str, repair: int | None, written: str) -> Started | None:
    try:
        started = start_challenge(screen.workspace, id, bug=repair is None, repair=repair, force=True)
    except AttnError as error:
        screen.attn.tell(error)
        return None
    if started.kept is not None:
        screen.notify(say("challenge.bug-kept", screen.lang, file=started.kept))
    bugs = counted(started.bugs, "bug")[screen.lang]
    screen.notify(say(written, screen.lang, file=started.path, bugs=bugs))
    return started


def task_of(started: Started, file: Path, lang: Lang) -> tuple[str, Localised]:
    """What is to be done with it: a heading, and what stands below."""
    if started.symptom is not None:
        return say("challenge.symptom", lang), started.symptom
    bugs = counted(started.bugs, "bug")
    texts = [say("challenge.repair-task", other, file=file) for other in ("en", "zh")]
    return say("challenge.repair", lang, bugs=bugs[lang]), Localised(*texts)
