"""A learner who uses the app in a browser page."""

from collections.abc import Callable

from attncli.i18n import Lang
from served_page import ServedPage


class LearnerInBrowser:
    """Presses keyboard keys in a Chromium page."""

    def __init__(self, page: ServedPage, lang: Lang) -> None:
        self.page, self.lang = page, lang

    async def press(self, *keys: str) -> None:
        self.page.press(*keys)

    async def type(self, text: str) -> None:
        self.page.press(*({"\n": "enter", "\b": "backspace"}.get(sign, sign) for sign in text))

    async def until(self, holds: Callable[[str], bool], waited_for: str) -> str:
        return self.page.wait(holds, waited_for)
