"""Every card of the bank can print its answer for readers without an app."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest
from markdown_it import MarkdownIt

from attncli import paths
from attncli.anki.exporter import side
from attncli.domain.vocabulary import KINDS
from attncli.export.card_markdown import whole_card
from attncli.export.summary import answer, asked, question
from attncli.i18n import LANGS, quoted
from attncli.practice.workspace import Workspace
from right_answer import right_answer_to


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    home = paths.Home(tmp_path_factory.mktemp("home"))
    with Workspace.open(home, lambda: datetime(2026, 3, 1, tzinfo=UTC), "en") as workspace:
        ids = [card.id for card in workspace.library.cards()]
        yield [workspace.library.card(id) for id in ids]


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_card_of_a_kind_prints_all_that_is_right(bank, kind, lang):
    cards = [card for card in bank if card.kind == kind]
    assert cards
    for card in cards:
        printed, fields = answer(card, lang), side(card, lang, lambda id: quoted(id))
        assert printed.strip() and fields.answer and "{{" not in printed + question(card, lang), card.id
        for text in (row.text[lang] for row in card.entry().rows):
            assert " ".join(text.split()) in " ".join(printed.split()), card.id
            assert text.strip() in whole_card(card, lang), card.id
        drawn = card.draw(Random(card.id))
        marked = drawn.mark(right_answer_to(drawn)) if kind != "qa" else None
        assert marked is None or marked.correct, card.id


def test_no_blank_of_a_question_becomes_mark_up(bank):
    parser = MarkdownIt("commonmark")
    for card in bank:
        if card.kind == "cloze":
            shown = parser.renderInline(asked(question(card, "en")))
            assert shown.count("____") == len(card.blanks), card.id
