"""Sanitise page content: the bank's formulas stay unchanged, and nothing active passes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from attncli.bank.prose_rules import parts_of
from attncli.export.render import ATTRIBUTES, _formula, _parser, sanitised

ROOT = Path(__file__).parents[2]
FILES = [*(ROOT / "impl").glob("*/*/challenge.yaml"), *(ROOT / "quizbank").glob("*.yaml")]
FILES.sort(key=lambda path: path.name == "att.yaml")


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_in(inner)


def shape(markup: str) -> list[tuple[str, list[tuple[str, str]], str, str]]:
    parts = ElementTree.fromstring(markup.replace("&nbsp;", "\u00a0")).iter()
    return [(p.tag.rpartition("}")[2], sorted(p.attrib.items()), p.text or "", p.tail or "") for p in parts]


def test_a_displayed_formula_may_stand_within_a_paragraph_and_what_is_none_is_shown_as_its_source() -> None:
    page = sanitised(_parser().render("It falls by\n$$\\frac{a}{b}$$\nwhere $a$ is large."))
    assert "$" not in page and page.startswith("<p>It falls by") and page.endswith("is large.</p>\n")
    assert page.count('<math display="block">') == page.count('<math display="inline">') == 1
    for source in (r"\text{<mi onmouseover='x'>hover</mi>}", r"\text{<b>x</b>}"):
        assert sanitised(_formula(source, {})).startswith("<code>")


@pytest.mark.parametrize("files", [FILES[-1:], pytest.param(FILES, marks=pytest.mark.full)], ids=["some", "all"])
def test_every_formula_of_the_project_passes_unchanged(files: list[Path]) -> None:
    documents = [yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) for path in files]
    for tex in {tex for text in texts_in(documents) for tex in parts_of(text).formulas}:
        drawn = _formula(tex, {"display_mode": True})
        assert drawn.startswith("<math"), tex
        assert shape(sanitised(drawn)) == shape(drawn), tex


def test_what_a_text_may_hold_stays() -> None:
    for markdown, kept in (
        ("**b** *e* `c`", "<p><strong>b</strong> <em>e</em> <code>c</code></p>\n"),
        ("3. x", '<ol start="3">\n<li>x</li>\n</ol>\n'),
        ("| a |\n|--:|\n| 1 |", 'class="to-right"'),
        ("[t](https://a.example/b?c=1)", '<a href="https://a.example/b?c=1" rel="noopener noreferrer nofollow">t</a>'),
        ("![what it *shows*](https://a.example/p.png)", "<p>[what it shows]</p>\n"),
        ("![<b>](x)", "<p>[&lt;b&gt;]</p>\n"),
    ):
        assert kept in sanitised(_parser().render(markdown))


ACTIVE = [
    "<script>x</script>",
    *(f"<p {attribute}>x</p>" for attribute in ("style='color:red'", "onclick=x", "id=x", "title=x lang=x")),
    "<img src=https://a.example>",
    *(f"<a href='{target}'>x</a>" for target in ("javascript:x", "data:text/html,x", "//a.example", "x")),
    "<a href='https://a.example' target=x ping=y>x</a>",
    "<td class='to-right soft'>x</td>",
    "<math><mi onmouseover=x>x</mi></math>",
    "<math><mi href='javascript:x' xlink:href='javascript:x'>x</mi></math>",
    *(f"<math><mstyle math{of}='url(https://a.example)'><mi>x</mi></mstyle></math>" for of in ("background", "color")),
    *(f"<math><mspace width='{width}em'></mspace></math>" for width in (-99, 9999)),
    "<math><annotation-xml encoding='text/html'><script>x</script></annotation-xml></math>",
    "<svg><a xlink:href='javascript:x'>x</a></svg>",
    "<form action=x><input name=y></form>",
    "<!-- x -->",
]


def test_what_it_may_not_hold_goes() -> None:
    ours = r"script|style=|url\(|href=[^h]*[ >]|on\w+=|<svg|<img|<form|<!|9em|target|ping|soft|id="
    for fragment in ACTIVE:
        left = sanitised(fragment)
        assert not re.search(ours, left), left
        assert "title" not in left and "href" not in left.replace('href="https://a.example"', ""), left


@given(st.text(st.sampled_from("<>\"'=/ &;$\\{}`[]()!ahimgscriptonx:\n\t")))
def test_no_text_brings_in_more_than_the_list(markdown: str) -> None:
    left = sanitised(_parser().render(markdown))
    for tag, attributes in re.findall(r"<([a-z0-9]+)((?: [^<>]*)?)>", left):
        names = set(re.findall(r' ([a-z-]+)="', re.sub(r'="[^"]*"', '=""', attributes)))
        assert names <= ATTRIBUTES.get(tag, frozenset()) | {"rel", "class"}
    assert not re.search(r"<(?:script|img|svg|iframe|style)\b", left)
