"""Convert the HTML of Anki's fields to Markdown, and cloze templates to gaps."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.anki.importer import texts_of, topic_of, usable
from attncli.anki.markdown import LONGEST_TEXT, _read_again, _Reader, _unspaced, markdown_of, written
from attncli.anki.package import AnkiCard, Note
from attncli.anki.read_package import LONGEST_SIDE, sides
from attncli.domain.log_row import EARLIEST
from attncli.domain.text import hidden_in, printable
from attncli.errors import UsageError
from processor_time import processor_seconds

PIECES = st.sampled_from(
    "<b> </b> <i> </i> <sup> </sup> <sub> </sub> <a\thref='https://x'> </a> <p\thidden> </p> <p> <!-- --> <![x]> "
    "&amp;lt; &nbsp;&nbsp; ~~ | --- === [x]: ![ （ ） “ ” 。 🎉\u200d👩 م\u200cم <summary> </summary> </details> "
    " <ul> <li> </ul> <ol> </ol> <pre> </pre> <code> </code> <br> <div> </div> <table> <td> "
    "\\( \\) \\[ \\] [$] [/$] $ $$ ` ``` * _ ____ {{ }} {{x}} \\ # > - 1. [a](b) <img> <details> <script> </script> "
    "&lt; &#x202e; &#0; &#xe000; \n : \" ' 中文 \ue000 \ue0007\ue001 \x00 a 1".split(" ")
)
parts = st.lists(PIECES | st.text(max_size=8), max_size=20)
QUADRATIC = "\\( [latex] <a\t <! </ <!-- <anki-mathjax> [$] <b> <ul><li> &# [sound: \t* <code>`</code> <i>a\t < <a\tb='"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("plain", "plain"),
        ("a &lt; b &amp; c&nbsp;d", "a < b & c d"),
        ("one<br>two<br><br>three", "one  \ntwo\n\nthree"),
        ("<div>a</div><div>b</div>", "a  \nb"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("say <b>this </b>twice", "say **this** twice"),
        ("&lt;b&gt; [a](b) 2 * 3 f(*x)", "\\<b> [a\\](b) 2 * 3 f(\\*x)"),
        ("<i></i><b> </b>x", "x"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<pre>x = 1\n\n  y = `2`</pre>", "```text\nx = 1\n\n  y = `2`\n```"),
        ("<pre><div>a</div>b</pre>", "```text\na\nb\n```"),
        ("call <code>a_b()</code>", "call `a_b()`"),
        ("over \\(\\sqrt{d}\\) and \\(x&lt;y\\)", "over $\\sqrt{d}$ and $x<y$"),
        ("\\(x\\)2", "$x$ 2"),
        ("so \\[a<br>+ b\\] it is", "so\n\n$$\na + b\n$$\n\nit is"),
        ("[$]a[/$] [latex]$b$[/latex] <anki-mathjax>c</anki-mathjax>", "$a$ $b$ $c$"),
        ("\\(\\frac{1\\)", "`\\frac{1`"),
        ("5 $ and *stars* and y_w and _u_ and {{x}}", "5 \\$ and \\*stars\\* and y_w and \\_u\\_ and {{x}}"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("<script>alert(1)</script><style>p {}</style>ok", "ok"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 · 2  \n3"),
        ("\\(a\\) &#xe000;0&#xe001; \ue0000\ue001x", "$a$ 0 0x"),
        ("\x1b[31mred\u202e", "red"),
        ("What is 2<sup>10</sup>, O(n<sup>2</sup>), x<sub>i</sub>?", "What is 2¹⁰, O(n²), xᵢ?"),
        ("10<sup>-3</sup> W<sup>T</sup> x<sub>i,j</sub> e<sup>\\(x\\)</sup>", "10⁻³ Wᵀ x\\_(i,j) e^$x$"),
        ("<code>2<sup>10</sup></code>", "`2¹⁰`"),
        ("&amp;nbsp; and a tag is &amp;lt;p&amp;gt;", "\\&nbsp; and a tag is \\&lt;p\\&gt;"),
        ("AT&amp;T &amp; R&amp;D;", "AT&T & R\\&D;"),
        ("<div>if x:</div><div>&nbsp; &nbsp; return 1</div>", "if x:  \n\xa0\xa0\xa0\xa0return 1"),
        ("a<p>&nbsp; b<br>&nbsp; c", "a\n\n&nbsp;\xa0b  \n\xa0\xa0c"),
        ("it prints {{ x }}", "it prints {{ x }}"),
        ("می\u200cخواهم 👩\u200d💻 a\u200db", "می\u200cخواهم 👩\u200d💻 ab"),
        ('see <a href="https://x.org/a_(b)?q=1&amp;r=2">here</a>!', "see [here](https://x.org/a_%28b%29?q=1&r=2)!"),
        ("<a href=\"javascript:x\">a</a> !<a href='mailto:a@b.c'>[1]</a>", "a \\![\\[1\\]](mailto:a@b.c)"),
        ("The <b><pre>x\n y</pre></b> then", "The\n\n```text\nx\n y\n```\n\nthen"),
        ("<ul><li><p>a</p><pre>x</pre></li></ul>b", "- a\n\n  ```text\n  x\n  ```\n\nb"),
        ("<ol start=3><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "3. a\n   - b\n4. c"),
        ("用<b>“多头”</b>机制，<b>（归一）</b>后。<b>注意：</b>下", "用“**多头**”机制，（**归一**）后。**注意**：下"),
        ("x<b><code>a</code></b>y", "x`a`y"),
        ('Which? <div style="display: none">THE ANSWER <div>x</div> y</div>b', "Which? b"),
        ("<p hidden>no</p>a <button>Toggle Masks</button>", "a"),
        ("<!-- <b> -->a<![if !x]>b<![endif]> < 3 <!-- no end", "ab < 3"),
        ("<img alt='a>b' src=x>c <a title=it's>d</a>", "c d"),
        ("a <b>b", "a **b**"),
        ("--- | ---<br>===<br>+ x", "\\--- | ---  \n\\===  \n\\+ x"),
    ],
)
def test_html_becomes_markdown(source: str, said: str) -> None:
    assert markdown_of(source)[0] == said


def test_closed_details_stay_closed_in_front_and_pictures_and_sounds_are_left_out_and_counted() -> None:
    source = "<details><summary>Why?</summary>HIDDEN</details>then"
    assert markdown_of(source, asked=True)[0] == "Why?  \nthen"
    assert markdown_of(source)[0] == "Why?  \nHIDDEN  \nthen"
    found = markdown_of("see <img src='../../etc/passwd'> and [sound:a.mp3] <video src=x></video> here")
    assert found == ("see and here", 3)


def test_what_is_written_says_what_the_html_said() -> None:
    for source in (
        *("<b>a</b>*<i>b</i>", "<i>a</i><b>b</b><i>c</i>", "<a href='https://x'>`</a>`", "<b>a</b>~<b>~b~</b>~c"),
        *("<ol><li>a</li></ol><ol start=7><li>b</li></ol>", "x<ol><li>a<ol start=4><li>b</li></ol></li></ol>"),
        *("&amp;<i>lt;</i>", "!<b>[a]</b>(b)", "1<b>. x</b>"),
    ):
        lines = _Reader(asked=False)
        lines.read(source)
        assert _read_again(written(lines.lines)) == _unspaced(re.sub("<[^<>]*>", "", html.unescape(source))), source


def new_card(deck: str, question: str = "q", answer: str = "a") -> AnkiCard:
    return AnkiCard("g", "0123456789ab", deck, False, EARLIEST, (), (), question, answer)


@given(parts.map(lambda parts: (" " if len(parts) % 2 else "").join(parts).replace("/", " ")))
def test_whatever_a_field_holds_its_text_can_stand_on_a_card(source: str) -> None:
    text, _left_out = markdown_of(source)
    assert not hidden_in(text) and len(text) <= LONGEST_TEXT
    reader = _Reader(asked=False)
    reader.read(reader.without_formulas(printable(source)))
    assert _read_again(text) == _unspaced(printable("".join(run.text for line in reader.lines for run in line.runs)))
    if text.strip():
        assert usable([new_card("Deck", text, text)])


def card(question: str, answer: str, fields: dict[str, str], ord: int = 0, is_cloze: bool = False) -> Note:
    return Note(question, answer, fields, ord + 1 if is_cloze else 0)


def test_a_template_is_filled_with_the_fields_and_nothing_else() -> None:
    fields = {"Front": "Q", "Back": "A", "Empty": "<br>"}
    question = "{{Front}}{{#Empty}}no{{/Empty}}{{^Empty}}yes{{/Empty}}{{#Back}}[{{text:Back}}]{{/Back}}"
    question += "{{Deck}}{{tts en:Front}}"
    both = ("Qyes[A]", "<hr id=answer>AA")
    assert sides(card(question, "{{FrontSide}}<hr id=answer>{{Back}}{{type:Back}}", fields)) == both
    assert sides(card("{{type:Front}}{{Back", "{{#a}}{{#b}}x{{/b}}", fields))[0] == "{{Back"


def test_a_gap_is_hidden_where_it_is_asked_for_and_a_hint_in_front() -> None:
    fields = {"Text": "{{c1::keys::axis}} and {{c2::rows {{c1::inside}}}}", "Extra": "E"}
    first = card("{{cloze:Text}}", "{{cloze:Text}} {{Extra}}", fields, 0, True)
    assert sides(first) == ("[axis] and rows […]", "<b>keys</b> and rows <b>inside</b> E")
    second = card("{{cloze:Text}}", "{{cloze:Text}}", fields, 1, True)
    assert sides(second) == ("keys and […]", "keys and <b>rows inside</b>")
    occluded = card("{{cloze:Text}}", "x", {"Text": "{{c1::image-occlusion:rect:left=.1}}"}, 0, True)
    assert sides(occluded)[0] == ""
    fields = {"Front": "Q", "Hint": "NOT YET", "Back": "A"}
    assert sides(card("{{Front}}{{hint:Hint}}", "{{Back}}", fields)) == ("Q", "A<p>Hint: NOT YET</p>")
    assert sides(card("{{Front}}{{hint:Hint}}", "{{Back}}{{hint:Hint}}", fields)) == ("Q", "ANOT YET")
    assert sides(card("{{Front}}{{hint:Hint}}", "{{Back}}", {**fields, "Hint": "<br>"})) == ("Q", "A")


def test_a_side_is_bounded_while_it_is_put_together() -> None:
    for question, fields in (
        ("{{Front}}{{" + " " * 200_000, {"Front": "q"}),
        ("{{" * 100_000, {}),
        ("{{#Front}}What{{/Front}}" * 10_000, {"Front": "<" * 2**20}),
        ("{{Front}}" * 25_000, {"Front": "a" * 2**20}),
    ):
        with processor_seconds(20):
            asked, _ = sides(card(question, "", fields))
        assert len(asked) <= LONGEST_SIDE


QUADRATIC += " <sup> [ ]( **a $$ &nbsp; <td> x_ <p>-\t"


@pytest.mark.parametrize("unit", QUADRATIC.split(" "))
def test_no_html_takes_long(unit: str) -> None:
    source = unit.replace("\t", " ") * (2**18 // len(unit))
    with processor_seconds(20):
        assert len(markdown_of(source)[0]) <= LONGEST_TEXT


def test_a_topic_is_one_deck_and_no_other(tmp_path: Path) -> None:
    decks = [f"Machine Learning Interview Preparation::Chapter {number}" for number in (1, 2)]
    decks += ["机器学习 ML", "深度学习 ML", "深度学习", "Deep Learning", "Deep::Learning", "deep-learning", "A" * 500]
    decks += ["--", "", "a", "../../x\u202e\x1b[31m::/etc", "\ud800"]
    assert len({topic_of(deck) for deck in decks}) == len(decks)
    assert topic_of("Deep Learning") == "anki-deep-learning"
    assert all(usable([new_card(deck)]) for deck in decks)
    ((path, text),) = texts_of(tmp_path, [new_card("evil\u202e\x1b[31m::/etc/x")]).items()
    assert path.parent == tmp_path and 'title: "evil::/etc/x"' in text
    file = tmp_path / "anki-deck.yaml"
    file.write_text('topic: anki-deck\ncards: [{id: anki-deck-1, question: "q", short: "a"}]\n', "utf-8")
    with pytest.raises(UsageError, match=r"does not end with a list of cards; move it away and import again"):
        texts_of(tmp_path, [new_card("Deck")])
