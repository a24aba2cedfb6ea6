"""The note type of the exported deck: its fields, what the two sides of a card show, and how that looks."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING

from attncli.domain.text import LANGS, Lang
from attncli.words.shared_review_texts import HEADINGS

if TYPE_CHECKING:
    import genanki

NOTE_TYPE = 1_795_020_117
"""For ever: by this number Anki knows the note type again."""
PARTS = ("Question", "Answer", "Why", "Points", "Pitfalls", "Follow-ups")
FIELDS = ("Id", *(f"{part} ({lang})" for lang in LANGS for part in PARTS), "About", "Sources", "First language")
_TOLD = {"Why": "explain", "Points": "points", "Pitfalls": "pitfalls", "Follow-ups": "follow-ups"}


def note_type() -> genanki.Model:
    """One card a note: the question in each language that is there, then the answer, short before long."""
    import genanki

    question = _each_language(_question)
    template = {
        "name": "attn",
        "qfmt": f'<div class="about">{{{{About}}}}</div>{question}',
        "afmt": f'{{{{FrontSide}}}}<hr id="answer">{_each_language(_answer)}{_optional("Sources", _sources())}',
    }
    css = files("attncli.export").joinpath("templates/anki.css").read_text(encoding="utf-8")
    return genanki.Model(NOTE_TYPE, "attn", [{"name": name} for name in FIELDS], [template], css)


def _each_language(shown: Callable[[Lang], str]) -> str:
    sections = "".join(
        _optional(f"Question ({lang})", f'<section class="{lang}">{shown(lang)}</section>') for lang in LANGS
    )
    return f'<div class="attn first-{{{{First language}}}}">{sections}</div>'


def _question(lang: Lang) -> str:
    return f"{{{{Question ({lang})}}}}"


def _answer(lang: Lang) -> str:
    told = "".join(
        _optional(f"{part} ({lang})", f"<h2>{HEADINGS[word][lang]}</h2>{{{{{part} ({lang})}}}}")
        for part, word in _TOLD.items()
    )
    return f"{{{{Answer ({lang})}}}}{told}"


def _sources() -> str:
    head = " · ".join(HEADINGS["sources"][lang] for lang in LANGS)
    return f'<div class="sources">{head}{{{{Sources}}}}</div>'


def _optional(field: str, shown: str) -> str:
    return f"{{{{#{field}}}}}{shown}{{{{/{field}}}}}"
