"""Each kind of card prints its answer, so that the summary can be read where nothing can be asked."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from attncli import paths
from attncli.domain.vocabulary import KINDS
from attncli.export.summary import answer, asked, question
from attncli.i18n import LANGS
from attncli.practice.marking import mark_ordering, right_order, worked
from attncli.practice.workspace import Workspace


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    home = paths.Home(tmp_path_factory.mktemp("home"))
    with Workspace.open(home, lambda: datetime(2026, 3, 1, tzinfo=UTC), "en") as workspace:
        ids = [card.id for card in workspace.library.cards()]
        yield [workspace.library.card(id) for id in ids]


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_card_of_a_kind_has_its_answer(bank, kind, lang):
    cards = [card for card in bank if card.kind == kind]
    assert cards
    for card in cards:
        told = answer(card, lang)
        assert told.strip(), card.id
        assert "{{" not in told + question(card, lang), card.id
        if card.kind == "choice":
            assert told.count("✓") == sum(option.correct for option in card.options)
            assert all(" ".join(option.text[lang].split()) in told for option in card.options)
            assert all(" ".join(o.why_not[lang].split()) in told for o in card.options if o.why_not)
        elif card.kind == "cloze":
            assert all(blank.answer in told for blank in card.blanks), card.id
            assert "____" not in told
        elif card.kind == "ordering":
            texts = card.texts
            order = [line.partition(". ")[2] for line in told.splitlines() if re.match(r"\d+\. ", line)]
            assert order[: len(texts)] == [texts[key][lang] for key in right_order(card)]
            assert mark_ordering(card, right_order(card)).correct
        elif card.kind == "debug":
            assert all(line in told for line in card.code.rstrip().splitlines())
            assert card.symptom[lang].strip() in told
            assert all(re.search(rf"^> +{number}  ", told, re.M) for number in card.lines)
            assert not card.fix or card.fix[lang].strip() in told


def test_a_number_is_worked_with_what_the_question_names(bank):
    for card in bank:
        if card.kind != "numeric":
            continue
        found = worked(card)
        assert found.task.question == card.listed
        assert found.steps[-1].split()[0] in answer(card, "en")
        names = {name for name, _ in card.parameters}
        assert not any(set(re.findall(r"[A-Za-z_]\w*", step)) & names for step in found.steps[1:]), card.id


def test_steps_go_from_the_formula_over_the_numbers_to_the_unit(bank):
    card = next(card for card in bank if card.id == "kv-05")
    assert worked(card).steps == (
        "2 × 80 × kv_heads × 128 × tokens × 2",
        "2 × 80 × 8 × 128 × 8192 × 2",
        "2,684,354,560 B",
        "2.5 GiB",
    )


def test_no_blank_of_a_question_becomes_mark_up(bank):
    parser = MarkdownIt("commonmark")
    for card in bank:
        if card.kind == "cloze":
            shown = parser.renderInline(asked(question(card, "en")))
            assert shown.count("____") == len(card.blanks), card.id
