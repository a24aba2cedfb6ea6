"""Render ATTN_FORMULAS generated texts full of `$` in seconds; a formula of 300 characters used to take days."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from types import FrameType

import pytest

from attncli.anki import exporter
from attncli.bank.prose_rules import formula_findings
from attncli.export.render import _parser as page_parser
from attncli.export.render import drawn, sanitised
from attncli.tui.formulas import UnreadableLatex, draw_within, for_markdown, inline
from attncli.tui.widgets.markdown import _parser as terminal_parser

TEXTS = int(os.environ.get("ATTN_FORMULAS", "20"))
SECONDS = 8.0
PARTS = 24
LONGEST = 20_000
CFRAC = r"\cfrac{1}{" * 24 + "a" + "}{b}" * 24
KNOWN = [
    *(f"What is ${CFRAC}$ here?", f"$${CFRAC}$$", "$" * 20_000, "`" * 20_000),
    " ".join("`" * length for length in range(100)),
    *(f"${opened * 15}a{closed * 15}$" for opened, closed in (("{", "}"), (r"\sqrt{", "}"), (r"\frac{1}{", "}"))),
    *("[" * 20_000, "[a](b" * 4_000, "![" * 10_000, "**a" * 6_000, "$a" * 10_000, "> " * 5_000, "- " * 5_000),
    *("|" * 10_000 + "\n" + "|-" * 5_000, "<" * 20_000),
]
OPENED = r"{ \frac{1}{ \cfrac{1}{ \sqrt{ \sqrt[3]{ \hat{ x^{ x_{ \binom{a}{ \mathrm{ \text{ \sum_{i}^{".split()
NESTED = [(opened, "}{b}" if opened == r"\cfrac{1}{" else "}") for opened in OPENED]
NESTED += [(r"\left(", r"\right)"), (r"\begin{matrix}", r"\end{matrix}")]
LEAVES = [
    *r"a 1 + = ^ _ ' & | ( ) [ ] { } \ \\ \, 中 < % \frac \sqrt \hat \left( \right) \text \limits".split(" "),
    *[r"\alpha ", r"\quad ", r"\lim ", r"\sum ", " "],
]
SIGNS = [
    *r"$ $$ \$ ` `` ``` ]( ) ** * _ __ a 中 < | \( { } & ![ ! # \ <!-- &amp; ~ [".split(" "),
    *["~~~\n", "\n", "\n\n", " ", "- ", "> ", "1. ", "    ", "|-|\n", "<a "],
]


def formula(rng: Random) -> str:
    text = "".join(rng.choice(LEAVES) for _ in range(rng.randint(1, 6)))
    for _ in range(rng.randint(0, 6)):
        opened, closed = rng.choice(NESTED)
        times = rng.choice((1, 1, 2, 5, 12, 30))
        text = opened * times + text + closed * times
        if rng.random() < 0.3:
            text = (text + rng.choice(LEAVES)) * rng.choice((1, 2, 8, 60))
    return text[: rng.choice((200, 1990, LONGEST))]


def text(rng: Random) -> str:
    if rng.random() < 0.6:
        mark = rng.choice(("$", "$$"))
        return f"What is {mark}{formula(rng)}{mark} here?"
    parts = [rng.choice(SIGNS) * rng.choice((1, 1, 1, 2, 30)) for _ in range(rng.randint(1, PARTS))]
    return ("".join(parts) * rng.choice((1, 1, 3, 40, 1000)))[:LONGEST]


def drawn_in_terminal(source: str) -> None:
    for width in (60, 100):
        with suppress(UnreadableLatex):
            draw_within(source.strip("$"), width)


RENDERERS: dict[str, Callable[[str], object]] = {
    "terminal formula": drawn_in_terminal,
    "terminal line": inline,
    "terminal text": lambda source: terminal_parser().parse(for_markdown(source)),
    "page": lambda source: sanitised(page_parser().render(source)),
    "pdf": lambda source: drawn(sanitised(page_parser().render(source))),
    "anki": exporter.block,
    "bank check": lambda source: list(formula_findings({"en": source, "zh": source})),
}


@contextmanager
def processor_seconds(most: float, what: str) -> Iterator[None]:
    """Fail if the block takes more than `most` seconds of processor time."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"more than {most} processor seconds for {what[:300]!r} ({len(what)} characters)")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.slow
@pytest.mark.parametrize("renderer", RENDERERS)
def test_every_renderer_is_done_in_seconds(renderer: str) -> None:
    for source in (*KNOWN, *(text(Random(number)) for number in range(TEXTS))):
        with processor_seconds(SECONDS, source):
            RENDERERS[renderer](source)


def test_a_formula_that_is_nested_too_deep_is_named_and_shown_as_its_source() -> None:
    said = [finding.message.en for finding in formula_findings({"en": f"What is ${CFRAC}$?", "zh": "好"})]
    assert len(said) == 1 and "is nested deeper than 16; split it" in said[0]
    assert CFRAC in inline(f"${CFRAC}$").plain
    assert CFRAC in page_parser().render(f"${CFRAC}$").replace("&amp;", "&")
    with pytest.raises(UnreadableLatex):
        draw_within(CFRAC, 60)
