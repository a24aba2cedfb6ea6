"""Treat pasted content as text: it presses no key, and hidden characters are removed."""

from __future__ import annotations

import sys
from itertools import pairwise
from unicodedata import category

from hypothesis import example, given
from hypothesis import strategies as st
from textual import events
from textual.widgets import Input, TextArea

from attncli.domain.text import hidden_in
from attncli.tui.screens.cards import SearchScreen
from attncli.tui.screens.editor import EditorScreen
from attncli.tui.textual_fixes import BEGIN, END, KEY, PastedEscapes, as_text, install_pasting

from .conftest import MakeApp, running
from .test_challenge import in_editor

COLOURED = "a\x1b[31mred\x1b[0m b\x1bc " + "long enough to be looked at as keys " * 3
SENT = f"x{BEGIN}{COLOURED}{END}y"
EVERY_SIGN = "".join(map(chr, range(sys.maxunicode + 1)))
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories of invisible characters, except for:"""
DRAWN = "\n\t\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"


def read(pieces: list[str]) -> list[events.Event]:
    """Return Textual's events for a terminal's input."""
    from textual._xterm_parser import XTermParser

    install_pasting()
    parser = XTermParser()
    found: list[events.Event] = []
    for piece in pieces:
        found += [event for event in parser.feed(piece) if isinstance(event, events.Event)]
    found += [event for event in parser.tick() if isinstance(event, events.Event)]
    return found


@given(st.lists(st.integers(1, len(SENT) - 1), max_size=6))
def test_no_escape_in_a_paste_is_a_key_however_it_arrives(cuts: list[int]) -> None:
    places = [0, *sorted(set(cuts)), len(SENT)]
    pieces = [SENT[first:last] for first, last in pairwise(places)]
    begins, ends = SENT.index(BEGIN), SENT.index(END)
    if any(begins < cut < begins + len(KEY) or SENT[cut - 1] == "\x1b" for cut in cuts if cut < ends):
        return  # an Escape, or Alt with a bracket, is a key by itself
    keys = [event.key for event in read(pieces) if isinstance(event, events.Key)]
    pasted = [event.text for event in read(pieces) if isinstance(event, events.Paste)]
    assert keys == ["x", "y"] and len(pasted) == 1
    assert as_text(pasted[0]) == "ared bc " + "long enough to be looked at as keys " * 3


def test_outside_of_a_paste_escapes_are_keys_and_escape_ends_a_paste_without_its_mark() -> None:
    assert [event.key for event in read(["\x1b[A", "a"]) if isinstance(event, events.Key)] == ["up", "a"]
    stream = PastedEscapes()
    assert stream.without(f"{BEGIN}half") == f"{BEGIN}half"
    assert stream.without("\x1b") == "\x1b" and stream.without("\x1b[A") == "\x1b[A"


@given(st.integers(0, 60))
def test_what_an_input_method_commits_arrives_whole_under_kittys_protocol(cut: int) -> None:
    commit = "面试准备注意力机制"
    sent = f"\x1b[0;;{':'.join(str(ord(sign)) for sign in commit)}u"
    pieces = [piece for piece in (sent[:cut], sent[cut:]) if piece] if cut != 1 else [sent]
    assert "".join(event.character or "" for event in read(pieces) if isinstance(event, events.Key)) == commit


@given(st.text())
@example(EVERY_SIGN)
def test_what_is_pasted_is_printable(text: str) -> None:
    kept = as_text(text)
    assert not hidden_in(kept) and "\xa0" not in kept
    assert [sign for sign in kept if category(sign) in HIDDEN and sign not in DRAWN] == []


async def test_hidden_signs_never_reach_a_solution(make_app: MakeApp) -> None:
    async with in_editor(make_app, "") as (app, pilot):
        assert isinstance(app.screen, EditorScreen)
        app.post_message(events.Paste("x\xa0= 1\u200b\x07  # 注释\u202e\r\n\ty = 2\ufeff"))
        await pilot.pause(0.3)
        assert app.screen.query_one(TextArea).text == "x = 1  # 注释\n\ty = 2"


async def test_ten_thousand_lines_in_a_search_are_one_and_of_a_longer_text_the_beginning(make_app: MakeApp) -> None:
    async with running(make_app("search", lang="zh")) as (app, pilot):
        field = app.screen.query_one(Input)
        app.post_message(events.Paste("softmax\x07\n" * 10_000))
        await pilot.pause(0.3)
        assert isinstance(app.screen, SearchScreen) and field.value == "softmax"
        field.value = ""
        app.post_message(events.Paste("注意力机制" * 2000))
        await pilot.pause(0.3)
        assert field.value == "注意力机制" * 40
        assert any("10000 个字符，最多 200" in notice.message for notice in app._notifications)
        await pilot.press("x")
        assert len(field.value) == 200
