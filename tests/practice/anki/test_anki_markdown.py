"""HTML of Anki's fields as Markdown, and templates with their gaps."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.anki import ForeignCard, Template
from attncli.domain.printable import hidden_in
from attncli.errors import UsageError
from attncli.practice.anki.anki_bank import NewOwnCard, texts_of, usable
from attncli.practice.anki.anki_markdown import LONGEST_TEXT, markdown_of
from attncli.practice.anki.anki_templates import sides


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("plain", "plain"),
        ("a &lt; b &amp; c&nbsp;d", "a < b & c d"),
        ("one<br>two<br><br>three", "one  \ntwo\n\nthree"),
        ("<div>a</div><div>b</div>", "a\n\nb"),
        ("say <b>this </b>twice", "say **this** twice"),
        ("&lt;b&gt; [a](b) 2 * 3 f(*x)", "\\<b> [a\\](b) 2 * 3 f(\\*x)"),
        ("<i></i><b> </b>x", "x"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<pre>x = 1\n\n  y = `2`</pre>", "```text\nx = 1\n\n  y = `2`\n```"),
        ("call <code>a_b()</code>", "call `a_b()`"),
        ("over \\(\\sqrt{d}\\) and \\(x&lt;y\\)", "over $\\sqrt{d}$ and $x<y$"),
        ("\\(x\\)2", "$x$ 2"),
        ("so \\[a<br>+ b\\] it is", "so\n\n$$\na + b\n$$\n\nit is"),
        ("[$]a[/$] [latex]$b$[/latex] <anki-mathjax>c</anki-mathjax>", "$a$ $b$ $c$"),
        ("\\(\\frac{1\\)", "`\\frac{1`"),
        ("5 $ and *stars* and y_w and _u_ and {{x}}", "5 \\$ and \\*stars\\* and y_w and \\_u\\_ and { {x}}"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("<script>alert(1)</script><style>p {}</style>ok", "ok"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 · 2\n\n3"),
        ("&#xe000;7&#xe001;&#xe000;99999999999&#xe001;x", "99999999999x"),
        ("\x1b[31mred\u202e", "red"),
    ],
)
def test_html_becomes_markdown(source: str, said: str) -> None:
    assert markdown_of(source) == said


def test_pictures_and_sounds_are_left_out_and_counted() -> None:
    found = markdown_of("see <img src='../../etc/passwd'> and [sound:a.mp3] <video src=x></video> here")
    assert (found, found.left_out) == ("see and here", 3)


PIECES = st.sampled_from(
    "<b> </b> <i> </i> <ul> <li> </ul> <ol> </ol> <pre> </pre> <code> </code> <br> <div> </div> <table> <td> "
    "\\( \\) \\[ \\] [$] [/$] $ $$ ` ``` * _ ____ {{ }} {{x}} \\ # > - 1. [a](b) <img> <script> </script> "
    "&lt; &#x202e; &#0; &#xe000; \n : \" ' 中文 \ue000 \ue0007\ue001 \x00 a 1".split(" ")
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=20).map(" ".join))
def test_whatever_a_field_holds_its_text_can_stand_on_a_card(source: str) -> None:
    text = markdown_of(source)
    assert not hidden_in(text) and len(text) <= LONGEST_TEXT
    if text.strip():
        assert usable([NewOwnCard("0123456789ab", "Deck", text, text)])


def card(question: str, answer: str, fields: dict[str, str], ord: int = 0, is_cloze: bool = False) -> ForeignCard:
    return ForeignCard("g", ord, "D", Template(question, answer, is_cloze), fields, False, datetime.now(UTC), ())


def test_a_template_is_filled_with_the_fields_and_nothing_else() -> None:
    fields = {"Front": "Q", "Back": "A", "Empty": "<br>"}
    question = "{{Front}}{{#Empty}}no{{/Empty}}{{^Empty}}yes{{/Empty}}{{#Back}}[{{text:Back}}]{{/Back}}"
    question += "{{Deck}}{{tts en:Front}}"
    assert sides(card(question, "{{FrontSide}}<hr id=answer>{{Back}}{{type:Back}}", fields)) == (
        "Qyes[A]",
        "<hr id=answer>AA",
    )
    assert sides(card("{{type:Front}}{{Back", "{{#a}}{{#b}}x{{/b}}", fields))[0] == "{{Back"


def test_a_gap_is_hidden_where_it_is_asked_for() -> None:
    fields = {"Text": "{{c1::keys::axis}} and {{c2::rows {{c1::inside}}}}", "Extra": "E"}
    first = card("{{cloze:Text}}", "{{cloze:Text}} {{Extra}}", fields, 0, True)
    assert sides(first) == ("[axis] and rows […]", "<b>keys</b> and rows <b>inside</b> E")
    second = card("{{cloze:Text}}", "{{cloze:Text}}", fields, 1, True)
    assert sides(second) == ("keys and […]", "keys and <b>rows inside</b>")
    occluded = card("{{cloze:Text}}", "x", {"Text": "{{c1::image-occlusion:rect:left=.1}}"}, 0, True)
    assert sides(occluded)[0] == ""


def test_a_deck_without_latin_letters_is_a_topic_too() -> None:
    topics = {NewOwnCard("k", deck, "q", "a").topic for deck in ("深度学习", "注意力", "Deep Learning::Attention")}
    assert len(topics) == 3 and "anki-deep-learning-attention" in topics
    assert all(usable([NewOwnCard("0123456789ab", deck, "q", "a")]) for deck in ("深度学习", "A" * 500, "--", ""))


def test_a_file_that_cannot_be_added_to_is_named(tmp_path: Path) -> None:
    file = tmp_path / "anki-deck.yaml"
    file.write_text('topic: anki-deck\ncards: [{id: anki-deck-1, question: "q", short: "a"}]\n', "utf-8")
    with pytest.raises(UsageError, match=r"does not end in a list of cards to add to; move it away and import again"):
        texts_of(tmp_path, [NewOwnCard("k", "Deck", "q", "a")])
