"""Check the bundled bank."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from attncli.bank.check import Report, check
from attncli.bank.checked_files import Surroundings
from attncli.bank.loader import GLOSSARY, bank_files, load_file, load_glossary
from attncli.bank.prose_rules import localised, parts_of
from attncli.domain.card_kinds import card_of
from attncli.paths import bundled_impl, bundled_quizbank
from attncli.tui.formulas import UnreadableLatex, draw

from .conftest import bundled_documents


@pytest.fixture(scope="module")
def report() -> Report:
    return check([], Surroundings(bundled_quizbank(), bundled_impl()))


def test_the_check_is_clean_and_its_notes_are_about_style_alone(report: Report) -> None:
    assert [str(problem) for problem in report.problems] == []
    assert all(note.message.en.startswith(("no space", '"')) for note in report.notes)


def test_topics_have_titles_and_there_is_a_glossary() -> None:
    files = [load_file(path) for path in bank_files(bundled_quizbank())]
    assert len(files) == 26
    assert all(file.title for file in files)
    terms = {term["en"]: term["zh"] for term in load_glossary(bundled_quizbank() / GLOSSARY).documents}
    assert terms["grouped-query attention"] == "分组查询注意力"


PLACEHOLDER = re.compile(r"\{\{\s*\w+\s*\}\}")


def formulas() -> Iterator[tuple[str, str]]:
    for document in bundled_documents():
        for _, text in localised(document):
            for lang in ("en", "zh"):
                yield from ((document["id"], formula) for formula in parts_of(text[lang]).formulas)


def test_every_formula_is_drawn_by_the_app() -> None:
    failed = []
    for card, formula in formulas():
        try:
            draw(PLACEHOLDER.sub("2", formula))
        except UnreadableLatex:
            failed.append((card, formula))
    assert failed == []


def test_no_text_leans_on_an_experiment_that_a_reader_cannot_run() -> None:
    leaning = re.compile(
        r"[Tt]he experiment (?:on|measures|shows)|[Ii]n our run\b|[Ii]n (?:our|the) experiment\b|对应实验|我们的实验"
    )
    found = [
        (document["id"], way)
        for document in bundled_documents()
        for way, text in localised(document)
        if leaning.search(text["en"] + text["zh"])
    ]
    assert found == []


# The systems that interviews ask for most.
WHAT_INTERVIEWERS_ASK_TO_WRITE = (
    "sdpa causal-mask padding-mask attention-dropout mha gpt-causal-self-attention cross-attention "
    "attention-visualise input-embedding sinusoidal-pe learned-pe rope layer-norm ffn kv-cache mqa gqa "
    "mla encoder-decoder-generate decoder-only-generate flash-attention sparse-attention linear-attention "
    "moe-router moe-layer moe-load-balance-loss adam adamw bf16-round int8-quant int4-group-quant nf4 "
    "lora qlora dora lora-plus mixit frozen-qk "
).split()


def test_what_interviewers_ask_to_write_is_led_to_by_three_cards() -> None:
    linked = Counter(id for document in bundled_documents() for id in card_of(document).challenges)
    assert [id for id in WHAT_INTERVIEWERS_ASK_TO_WRITE if linked[id] < 3] == []
