"""Bytes of a terminal that are no text end nothing and press no key.

What is no UTF-8 (a Latin-1 é, Alt with an eighth bit) is shown as `�`. The mouse of a terminal that knows only the
oldest codes is dropped: its coordinates are any three bytes, and Textual would read an Escape before them.
"""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from typing import Any

DRIVERS = ("textual.drivers.linux_driver", "textual.drivers.web_driver")
_OLD_MOUSE = re.compile(rb"\x1b\[M[\x20-\xff]{3}")


class ForgivingDecoder:
    """An incremental decoder, of the kind `decoder` makes, that raises nothing."""

    def __init__(self, decoder: Any) -> None:
        self._decode = decoder(errors="replace").decode

    def decode(self, data: bytes, final: bool = False) -> str:
        return str(self._decode(_OLD_MOUSE.sub(b"", data), final))


def install() -> None:
    """Make Textual's drivers read so (a private name); in a later Textual without it, nothing is changed."""
    for name in DRIVERS:
        driver: Any = import_module(name)
        lookup = getattr(driver, "getincrementaldecoder", None)
        if lookup is not None and not isinstance(lookup, partial):
            driver.getincrementaldecoder = partial(_forgiving, lookup)


def _forgiving(lookup: Any, encoding: str) -> Any:
    return partial(ForgivingDecoder, lookup(encoding))
