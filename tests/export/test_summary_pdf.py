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
from attncli.export.render import _formula, drawn, sanitised, to_pdf
from attncli.export.summary import summarise
from attncli.practice import record
from attncli.practice.grade import record_attempt

from .conftest import NOW

ONE_OF_EACH = {
    "qa": "att-18",
    "choice": "agent-08",
    "numeric": "kv-05",
    "cloze": "align-02",
    "ordering": "agent-15",
    "debug": "agent-13",
}


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
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_kind_has_its_answer_in_the_document(workspace, lang):
    forget(workspace, *ONE_OF_EACH.values())
    summary = summarise(workspace, lang, date(2026, 3, 20))
    assert {card.kind: card.id for card in summary.weak} == ONE_OF_EACH
    _, text = read(to_pdf(summary))
    squeezed = re.sub(r"\s", "", text)
    for expected in (
        {"en": "Itcanreadprivatedata", "zh": "能读私有数据"}[lang],
        "2.5GiB",
        "sigmoid",
        {"en": "Rendermessages", "zh": "用对话模板"}[lang],
        'key="charge:"+args["order"]',
        {"en": "Collapsekills", "zh": "坍缩使"}[lang],
    ):
        assert expected in squeezed
    assert "\ufffd" not in text


@needs_fonts
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
def test_the_same_summary_gives_the_same_bytes(workspace):
    forget(workspace, "att-02")
    assert to_pdf(summarise(workspace, "zh")) == to_pdf(summarise(workspace, "zh"))


@needs_fonts
def test_nothing_in_it_leads_out_and_all_fonts_are_inside(workspace):
    forget(workspace, "att-02")
    document = to_pdf(summarise(workspace, "zh"))
    assert b"/URI" not in document and b"/JavaScript" not in document and b"/Launch" not in document
    reader, _ = read(document)
    for page in reader.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            descriptor = font.get_object()["/DescendantFonts"][0].get_object()["/FontDescriptor"].get_object()
            assert {"/FontFile2", "/FontFile3"} & set(descriptor)


@needs_fonts
def test_a_character_that_no_font_has_is_an_error_that_names_it(workspace):
    source = "x = 1  # \U0001318e\n"
    record_attempt(workspace, GradeReport(challenge="sdpa", file="x.py", verdict="accepted", rung="solved"), source)
    with pytest.raises(EnvironmentFailure, match=r"no installed font has .*U\+1318E.*install one.*--format html"):
        to_pdf(summarise(workspace, "en"))


def test_a_chinese_character_without_a_font_names_the_package_of_chinese_fonts():
    from attncli.export.render import _missing_font_message

    assert "fonts-noto-cjk" in str(_missing_font_message({"面", "试"}))
    assert "U+9762" in str(_missing_font_message({"面"}))
    assert "and 2 more" in str(_missing_font_message(set("abcdefghij")))


def test_without_the_extra_one_line_names_it(workspace, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(EnvironmentFailure, match=r"pip install 'attncli\[pdf\]'") as caught:
        to_pdf(summarise(workspace, "en"))
    assert caught.value.exit_code == 3


def test_without_pango_one_line_names_it(workspace, monkeypatch):
    class NoPango:
        def find_spec(self, name, path=None, target=None):
            if name == "weasyprint":
                raise OSError("cannot load library 'libpango-1.0-0'")

    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoPango(), *sys.meta_path])
    with pytest.raises(EnvironmentFailure, match="libpango"):
        to_pdf(summarise(workspace, "en"))


def test_a_formula_becomes_a_drawing_that_says_what_it_is():
    svg = drawn(sanitised(_formula(r"\frac{a}{b}_2", {"display_mode": True})))
    assert "<math" not in svg and svg.startswith('<span class="formula"><')
    assert "path" in svg and 'aria-label="ab2"' in svg
    depth = re.search(r"vertical-align: -([\d.]+)px", svg)
    assert depth and 3 < float(depth[1]) < 20


@pytest.mark.parametrize(
    "source", [r"\left(\sum_{j\ne i}r_j\right)", r"\left[\sum_{j=1}^n r_j\right]", r"\left|\prod^n x\right|"]
)
def test_brackets_around_a_sum_are_as_high_as_the_sum(source):
    assert _height(source) < 2 * _height(r"\sum_{j=1}^n r_j")


def test_a_formula_with_a_space_and_a_smaller_sign_is_drawn():
    assert "<svg" in drawn(sanitised(_formula(r"a:\ x_{<t}", {})))


def test_every_displayed_formula_of_the_bank_is_drawn_and_none_fills_a_page():
    formulas = set()
    for file in paths.bundled_quizbank().glob("*.yaml"):
        formulas.update(re.findall(r"\$\$(.+?)\$\$", file.read_text(encoding="utf-8"), re.DOTALL))
    assert len(formulas) > 100
    assert {source for source in formulas if _height(source) > 120} == set()


def _height(source: str) -> float:
    svg = drawn(sanitised(_formula(" ".join(source.split()), {"display_mode": True})))
    box = re.search(r'viewBox="([^"]*)"', svg)
    return float(box[1].split()[3]) if box else 0.0


def test_a_formula_with_a_sign_that_its_font_lacks_is_written_out():
    assert drawn(sanitised(_formula(r"\text{注意力}", {}))) == "<code>注意力</code>"
