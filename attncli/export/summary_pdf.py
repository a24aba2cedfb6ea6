"""The summary as PDF, laid out by WeasyPrint from the page that a browser would print; nothing is fetched for it."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from attncli.errors import EnvironmentFailure
from attncli.export.formula_drawings import drawn
from attncli.export.render import to_print
from attncli.export.summary import Summary

CHARACTERS_NAMED = 8
_EXTRA = "PDF needs WeasyPrint and ziamath, which are not installed: pip install 'attncli[pdf]', or take --format html"
_HAN = "Debian has fonts-noto-cjk, Fedora google-noto-sans-cjk-fonts"
_OTHER = "Debian has fonts-noto-core and fonts-dejavu, Fedora dejavu-sans-fonts"


def to_pdf(*parts: Summary) -> bytes:
    """One document with the summary in one language or several; the same summary gives the same bytes.

    Raises EnvironmentFailure without the engine, without Pango, and where no font here has a character of the text:
    a row of boxes is no summary.
    """
    weasyprint = _engine()
    page = to_print(parts, drawn)
    with _missing_characters() as missing:
        document = weasyprint.HTML(string=page, url_fetcher=_refuse).write_pdf(pdf_tags=True)
    if missing:
        raise EnvironmentFailure(_without_font(missing))
    return bytes(document)


def _engine() -> Any:
    try:
        import weasyprint
        import ziamath  # noqa: F401 - asked for here, so that both are missed at once
    except ImportError as error:
        raise EnvironmentFailure(_EXTRA) from error
    except OSError as error:
        raise EnvironmentFailure(
            "WeasyPrint finds no Pango here: Debian has libpango-1.0-0 and libpangoft2-1.0-0, Homebrew pango; "
            "or take --format html and print it"
        ) from error
    return weasyprint


def _refuse(url: str, *args: object, **kwargs: object) -> NoReturn:
    raise ValueError(f"the summary fetches nothing, not {url}")


@contextmanager
def _missing_characters() -> Iterator[set[str]]:
    """Collects the characters that no font has; the engine says so while it draws."""
    missing = set[str]()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.msg.startswith(".notdef") and isinstance(record.args, tuple):
                missing.add(str(record.args[0]))

    logger, listener = logging.getLogger("weasyprint"), Listener(logging.WARNING)
    spoke = logger.propagate
    logger.addHandler(listener)
    logger.propagate = False
    try:
        yield missing
    finally:
        logger.removeHandler(listener)
        logger.propagate = spoke


def _without_font(missing: set[str]) -> str:
    named = sorted(missing)[:CHARACTERS_NAMED]
    shown = ", ".join(f"{sign} (U+{ord(sign):04X})" if sign.isprintable() else f"U+{ord(sign):04X}" for sign in named)
    more = f" and {len(missing) - len(named)} more" if len(missing) > len(named) else ""
    is_han = any("CJK" in unicodedata.name(sign, "") for sign in missing)
    return f"no font here has {shown}{more}; install one ({_HAN if is_han else _OTHER}), or take --format html"
