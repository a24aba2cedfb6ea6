"""Check hostile banks: `attn bank check` names each problem, and the readable cards load."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.bank.loader import load_file

BANKS = Path(__file__).with_name("banks")
OVERRIDE = "hidden characters U+202E (right-to-left override), U+2066 (left-to-right isolate); remove them"
NO_ID = "is not a valid id; use lower-case letters, digits and single hyphens"
# bank: cards that load, then some of what is said of it, with the line.
VERDICTS: dict[str, tuple[int, list[tuple[int, str]]]] = {
    "bidi_terminal": (1, [(line, OVERRIDE) for line in (2, 7, 8, 9, 10)]),
    "controls": (0, [(3, "character U+001B in this text cannot be shown"), (3, "character U+009B in this text")]),
    "html_script": (1, [(7, "(\\href)"), (7, "is not valid LaTeX"), (8, "(\\style)")]),
    "markup_everywhere": (
        6,
        [
            (3, "U+202E (right-to-left override), U+200B (zero width space)"),
            (3, "hidden character U+2066 (left-to-right isolate); remove it"),
            (14, "U+E0041 (tag latin capital letter a), U+3164 (hangul filler)"),
            (64, "hidden character U+202E (right-to-left override); remove it"),
        ],
    ),
    "tui_markup_crash": (0, [(1, f'"[/x]" {NO_ID}')]),
    "tui_markup_inject": (0, [(1, f'"[bold red @click=app.quit]CLICK" {NO_ID}')]),
}


def test_every_bank_has_a_verdict() -> None:
    assert {path.stem for path in BANKS.glob("*.yaml")} == set(VERDICTS)


@pytest.mark.parametrize("name", VERDICTS)
def test_the_check_names_what_is_wrong_and_where_and_what_can_be_read_is_read(name: str, tmp_path: Path) -> None:
    loaded, problems = VERDICTS[name]
    report = check([BANKS / f"{name}.yaml"], Surroundings(tmp_path, tmp_path))
    said = [(problem.line, problem.message.en) for problem in report.problems]
    for line, message in problems:
        assert any(where == line and message in text for where, text in said), (line, message, said)
    assert all(text.isprintable() for _, text in said)
    assert len(load_file(BANKS / f"{name}.yaml").documents) == loaded
