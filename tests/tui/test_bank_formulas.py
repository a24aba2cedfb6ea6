"""Render every formula of the bundled bank and challenges as drawing and as text, within 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

import yaml
from rich.cells import cell_len

from attncli.domain.text import part_pattern
from attncli.paths import bundled_impl, bundled_quizbank
from attncli.tui.formulas import draw_within, one_line, unfolded

FILES = [*bundled_quizbank().glob("*.yaml"), *bundled_impl().glob("*/*/challenge.yaml")]
WIDEST = 70


def strings_of(document: object) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for value in document.values():
            yield from strings_of(value)
    elif isinstance(document, list):
        for value in document:
            yield from strings_of(value)


def formulas_in(text: str) -> Iterator[tuple[str, bool]]:
    """Return every formula of a Markdown text, and whether it is a display formula."""
    for match in part_pattern().finditer(unfolded(text)):
        if match["display"] is not None:
            yield " ".join(match["display"].split()), True
        elif match["inline"] is not None:
            yield match["inline"], False


def test_every_formula_is_shown_as_one() -> None:
    documents = [yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) for path in FILES]
    formulas = {formula for text in strings_of(documents) for formula in formulas_in(text)}
    assert len(formulas) > 500
    for tex, display in formulas:
        if display:
            assert max(map(cell_len, draw_within(tex, WIDEST))) <= WIDEST, tex
        else:
            assert one_line(tex), tex
