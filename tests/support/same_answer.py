"""Give one answer in two ways: with keys in the app, and as the lines that `--plain` reads."""

from typing import Any

from textual.pilot import Pilot

from attncli.practice.marking import Asked


async def answer_in_app(pilot: Pilot[Any], asked: Asked) -> list[str]:
    """Answer a marked card in the app with its first choice; return the same answer as lines."""
    match asked.card.kind:
        case "choice":
            await pilot.press("a", "enter")
            return ["1"]
        case "ordering":
            await pilot.press("enter")
            return [" ".join(str(n + 1) for n in range(len(asked.entry.rows)))]
        case "debug":
            await pilot.press("down", "down", "enter")
            return ["3"]
    fields = list(pilot.app.screen.query("AnswerField"))
    for field in fields:
        field.value = "7"  # type: ignore[attr-defined]
    await pilot.pause()
    await pilot.press(*["enter"] * len(asked.answer.texts))
    return ["7"] * len(fields)
