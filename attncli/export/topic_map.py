"""The map of topics as a picture: one bar a topic in two columns, drawn as SVG that needs no style and no script."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width
from xml.etree import ElementTree

from attncli.domain.text import Lang
from attncli.export.summary import TopicLine
from attncli.export.summary_phrases import percent

WIDTH = 680
GAP = 36
ROW = 26
BAR = 5
TEXT = 12
FIGURE_WIDTH = 44
ACCENT = "#2f7d5b"
FONTS = (
    "Noto Sans, Liberation Sans, Helvetica Neue, Segoe UI, DejaVu Sans, Noto Sans CJK SC, PingFang SC, "
    "Microsoft YaHei, WenQuanYi Zen Hei, sans-serif"
)


def topic_map(topics: Sequence[TopicLine], lang: Lang, says: str) -> str:
    """A bar for each topic that was begun, down the left column first; `says` is read out in place of the picture."""
    rows = -(-len(topics) // 2)
    height = max(rows, 1) * ROW
    svg = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {height}",
            "width": str(WIDTH),
            "height": str(height),
            "role": "img",
            "aria-label": says,
            "font-family": FONTS,
            "font-size": str(TEXT),
        },
    )
    column = (WIDTH - GAP) / 2
    for number, topic in enumerate(topics):
        left = (number // rows) * (column + GAP)
        _draw(svg, topic, left, (number % rows) * ROW, column, lang)
    return ElementTree.tostring(svg, encoding="unicode")


def _draw(svg: ElementTree.Element, topic: TopicLine, x: float, y: float, width: float, lang: Lang) -> None:
    base = y + TEXT
    title = _text(svg, shortened(topic.title, width - FIGURE_WIDTH), x, base)
    title.set("data-topic", topic.id)
    figure = _text(svg, percent(topic.readiness_on_day, lang).replace(" ", "\u00a0"), x + width, base)
    figure.set("text-anchor", "end")
    for share, colour, opacity in (
        (1.0, "currentColor", "0.12"),
        (topic.seen / topic.total if topic.total else 0.0, ACCENT, "0.35"),
        (topic.readiness_on_day, ACCENT, "1"),
    ):
        if share > 0:
            size = {"x": f"{x:g}", "y": f"{base + 4:g}", "width": f"{width * min(share, 1):.1f}", "height": str(BAR)}
            ElementTree.SubElement(svg, "rect", {**size, "fill": colour, "fill-opacity": opacity})


def _text(svg: ElementTree.Element, text: str, x: float, y: float) -> ElementTree.Element:
    element = ElementTree.SubElement(svg, "text", {"x": f"{x:g}", "y": f"{y:g}", "fill": "currentColor"})
    element.text = text
    return element


def shortened(text: str, width: float) -> str:
    """`text` as far as it fits into `width`, at the usual widths of letters."""
    if _width(text) <= width:
        return text
    while text and _width(text + "…") > width:
        text = text[:-1]
    return text.rstrip(" ,:：、，") + "…"


def _width(text: str) -> float:
    return TEXT * sum(1.0 if east_asian_width(sign) in "WF" else 0.57 for sign in text)
