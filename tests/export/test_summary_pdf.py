"""The PDF has the page's content, in real glyphs, and is the same for the same summary."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from datetime import date, timedelta

import pytest
from pypdf import PdfReader

from attncli import paths
from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import Rating
from attncli.errors import EnvironmentFailure
from attncli.export.render import _formula, _missing_font_message, drawn, sanitised, to_pdf
from attncli.export.summary import PARTS, summarise
from attncli.i18n import LANGS
from attncli.practice import record
from attncli.practice.grade import record_attempt

from .conftest import NOW

ONE_OF_EACH = {"qa": "att-18", "choice": "agent-08", "numeric": "kv-05", "cloze": "align-02", "ordering": "agent-15"}
ONE_OF_EACH["debug"] = "agent-13"


def _can_draw(text: str) -> bool:
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError):
        return False
    fonts = subprocess.run(["fc-list", f":charset={ord(text):x}"], capture_output=True, text=True, check=False)
    return bool(fonts.stdout.strip())


needs_fonts = pytest.mark.skipif(not _can_draw("面"), reason="no Pango, or no Chinese font (Debian: fonts-wqy-zenhei)")


def forget(workspace, *cards):
    for card in cards:
        record.answer(workspace, card, Rating.AGAIN, NOW - timedelta(days=3))


def read(document: bytes) -> tuple[PdfReader, str]:
    reader = PdfReader(io.BytesIO(document))
    return reader, "\n".join(page.extract_text() for page in reader.pages)


@needs_fonts
@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "parts"), [("zh", ["notes"]), *(pytest.param(lang, PARTS, marks=pytest.mark.full) for lang in LANGS)]
)
def test_the_document_has_the_answer_of_each_kind_all_fonts_and_no_way_out(workspace, lang, parts):
    forget(workspace, *ONE_OF_EACH.values())
    summary = summarise(workspace, lang, date(2026, 3, 20))
    assert {card.kind: card.id for card in summary.weak} == ONE_OF_EACH
    document = to_pdf(summary, parts=parts)
    assert to_pdf(summary, parts=parts) == document
    reader, text = read(document)
    squeezed = re.sub(r"\s", "", text)
    english, chinese = (
        ("Itcanreadprivatedata", "Rendermessages", "Collapsekills"),
        ("能读私有数据", "用对话模板", "坍缩使"),
    )
    for answer in (*(english if lang == "en" else chinese), "2.5GiB", "sigmoid", 'key="charge:"+args["order"]'):
        assert answer in squeezed
    assert "\ufffd" not in text
    assert b"/URI" not in document and b"/JavaScript" not in document and b"/Launch" not in document
    for page in reader.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            descriptor = font.get_object()["/DescendantFonts"][0].get_object()["/FontDescriptor"].get_object()
            assert {"/FontFile2", "/FontFile3"} & set(descriptor)


@needs_fonts
@pytest.mark.full
def test_the_cheat_sheet_is_one_page_even_where_every_topic_was_begun(workspace):
    for topic in workspace.library.topics():
        forget(workspace, *(card.id for card in workspace.library.cards(topic=topic.id)[:3]))
    for challenge in workspace.library.challenges():
        record_attempt(workspace, GradeReport(challenge=challenge.id, file="x.py", verdict="accepted"), "pass\n")
    for lang, starts in (("en", "Notes"), ("zh", "笔记")):
        summary = summarise(workspace, lang, date(2026, 3, 20))
        assert len(read(to_pdf(summary, parts=["sheet"]))[0].pages) == 1
        assert starts in read(to_pdf(summary))[0].pages[1].extract_text()


@needs_fonts
def test_a_character_that_no_font_has_is_an_error_that_names_it(workspace):
    source = "x = 1  # \U0001318e\n"
    record_attempt(workspace, GradeReport(challenge="sdpa", file="x.py", verdict="accepted", rung="solved"), source)
    with pytest.raises(EnvironmentFailure, match=r"no installed font has .*U\+1318E.*install one.*--format html"):
        to_pdf(summarise(workspace, "en"), parts=["notes"])
    assert "U+9762" in (said := str(_missing_font_message({"面", "试"}))) and "fonts-noto-cjk" in said
    assert "and 2 more" in str(_missing_font_message(set("abcdefghij")))


def test_without_the_extra_or_pango_one_line_names_it(workspace, monkeypatch):
    class NoPango:
        def find_spec(self, name, path=None, target=None):
            if name == "weasyprint":
                raise OSError("cannot load library 'libpango-1.0-0'")

    summary = summarise(workspace, "en")
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(EnvironmentFailure, match=r"pip install 'attncli\[pdf\]'") as caught:
        to_pdf(summary)
    assert caught.value.exit_code == 3
    monkeypatch.delitem(sys.modules, "weasyprint")
    monkeypatch.setattr(sys, "meta_path", [NoPango(), *sys.meta_path])
    with pytest.raises(EnvironmentFailure, match="libpango"):
        to_pdf(summary)


def test_a_formula_becomes_a_drawing_that_says_what_it_is():
    svg = drawn(sanitised(_formula(r"\frac{a}{b}_2", {"display_mode": True})))
    assert "<math" not in svg and svg.startswith('<span class="formula"><')
    assert "path" in svg and 'aria-label="ab2"' in svg
    depth = re.search(r"vertical-align: -([\d.]+)px", svg)
    assert depth and 3 < float(depth[1]) < 20
    assert "<svg" in drawn(sanitised(_formula(r"a:\ x_{<t}", {}))), "a space, and a sign that XML escapes"
    written_out = drawn(sanitised(_formula(r"\text{注意力}", {})))
    assert written_out == "<code>注意力</code>", "the font of formulas lacks it"


def test_brackets_around_a_sum_are_as_high_as_the_sum():
    for source in (r"\left(\sum_{j\ne i}r_j\right)", r"\left[\sum_{j=1}^n r_j\right]", r"\left|\prod^n x\right|"):
        assert _height(source) < 2 * _height(r"\sum_{j=1}^n r_j"), source


@pytest.mark.full
def test_every_displayed_formula_of_the_bank_is_drawn_and_none_fills_a_page():
    formulas = set()
    for file in paths.bundled_quizbank().glob("*.yaml"):
        formulas.update(re.findall(r"\$\$(.+?)\$\$", file.read_text(encoding="utf-8"), re.DOTALL))
    assert len(formulas) > 100
    assert {source for source in formulas if _height(source) > 120} == set()


def _height(source: str) -> float:
    box = re.search(r'viewBox="([^"]*)"', drawn(sanitised(_formula(" ".join(source.split()), {"display_mode": True}))))
    return float(box[1].split()[3]) if box else 0.0
