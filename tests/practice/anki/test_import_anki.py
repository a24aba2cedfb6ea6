"""Packages that the real `anki` package wrote come in: cards, answers, and what went out with `attn export anki`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from attncli.domain.log_row import RowKind
from attncli.domain.rating import Rating
from attncli.errors import UsageError
from attncli.practice.anki.anki_bank import NewOwnCard
from attncli.practice.anki.import_anki import import_package
from attncli.practice.cards import record_review
from attncli.practice.log.undo import take_back
from attncli.practice.workspace import Workspace

pytest.importorskip("anki", reason="the anki package is not installed (extra dev)")
DECK = "Deep Learning::Attention"
TOPIC = NewOwnCard("", DECK, "", "").topic


@pytest.fixture(autouse=True)
def present(moving_clock: Any) -> None:
    """Anki answers by its own clock."""
    moving_clock.now = datetime.now(UTC)


class Anki:
    """A real collection."""

    def __init__(self, folder: Path) -> None:
        from anki.collection import Collection

        self.folder = folder
        self.col: Any = Collection(str(folder / "theirs.anki2"))
        self.deck = self.col.decks.id(DECK)
        self.col.decks.select(self.deck)

    def add(self, type: str, **fields: str) -> Any:
        note = self.col.new_note(self.col.models.by_name(type))
        for name, text in fields.items():
            note[name.replace("_", " ")] = text
        self.col.add_note(note, self.deck)
        return note

    def answer(self, *ratings: int) -> None:
        for rating in ratings:
            card = self.col.sched.getCard()
            card.start_timer()
            self.col.sched.answerCard(card, rating)

    def take_in(self, path: Path) -> None:
        from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

        options = ImportAnkiPackageOptions(with_scheduling=True)
        self.col.import_anki_package(ImportAnkiPackageRequest(package_path=str(path), options=options))

    def export(self, name: str, legacy: bool = True) -> Path:
        from anki.collection import ExportAnkiPackageOptions

        path = self.folder / name
        options = ExportAnkiPackageOptions(with_scheduling=True, with_media=True, legacy=legacy)
        self.col.export_anki_package(out_path=str(path), options=options, limit=None)
        return path

    def export_collection(self, name: str, legacy: bool) -> Path:
        from anki.collection import Collection

        path = self.folder / name
        self.col.export_collection_package(str(path), include_media=False, legacy=legacy)
        self.col = Collection(str(self.folder / "theirs.anki2"))
        return path


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Anki]:
    opened = Anki(tmp_path)
    yield opened
    opened.col.close()


@pytest.fixture
def filled(theirs: Anki) -> Anki:
    theirs.add("Basic", Front="What is \\(QK^T\\)?", Back="The <b>scores</b>.<img src=x.png>")
    theirs.add("Basic (and reversed card)", Front="encoder", Back="编码器")
    theirs.add("Cloze", Text="Softmax over {{c1::keys}} in {{c2::rows}}", Back_Extra="always")
    theirs.add("Basic", Front="<img src='only.png'>", Back="a picture")
    theirs.answer(3, 1, 4, 2, 3)
    theirs.col.sched.suspend_cards(theirs.col.find_cards("Softmax card:2"))
    return theirs


def reviews(workspace: Workspace) -> list[tuple[str, int]]:
    return [(row.subject, int(row.rating)) for row in workspace.store.log.of_kind(RowKind.REVIEW)]


PACKAGES: dict[str, Callable[[Anki], Path]] = {
    "apkg for older versions": lambda anki: anki.export("old.apkg"),
    "apkg": lambda anki: anki.export("new.apkg", legacy=False),
    "colpkg for older versions": lambda anki: anki.export_collection("old.colpkg", legacy=True),
    "colpkg": lambda anki: anki.export_collection("new.colpkg", legacy=False),
}


@pytest.mark.parametrize("package", PACKAGES.values(), ids=list(PACKAGES))
def test_cards_and_history_come_in_and_twice_is_once(
    workspace: Workspace, filled: Anki, package: Callable[[Anki], Path]
) -> None:
    pytest.importorskip("zstandard", reason="packages of newer Ankis need the extra anki")
    expected = filled.col.db.scalar("SELECT count(*) FROM revlog WHERE ease > 0")
    count, path = filled.col.card_count(), package(filled)
    seen = import_package(workspace, path, dry_run=True)
    assert not reviews(workspace) and not workspace.home.banks.exists()
    done = import_package(workspace, path)
    assert seen.document() == done.document()
    assert (done.cards, done.new_cards, done.unreadable, done.media) == (count, count - 1, 1, 1)
    assert done.new_reviews == expected - done.lost_reviews == len(reviews(workspace))
    cards = [workspace.library.card(card.id) for card in workspace.library.cards(topic=TOPIC)]
    assert {card.question.en for card in cards} == {
        "What is $QK^T$?",
        "encoder",
        "编码器",
        "Softmax over […] in rows",
        "Softmax over keys in […]",
    }
    answers = {card.question.en: card.short.en for card in cards if card.short}
    assert answers["What is $QK^T$?"] == "The **scores**." and answers["编码器"] == "encoder"
    held = [card.id for card in cards if workspace.store.schedules.hold(card.id)[0]]
    assert len(held) == done.suspended == 1
    assert not workspace.library.problems()
    again = import_package(workspace, path)
    assert (again.new_cards, again.new_reviews, again.suspended, again.files) == (0, 0, 0, [])
    assert len(reviews(workspace)) == done.new_reviews


def test_later_answers_and_cards_are_added(workspace: Workspace, filled: Anki) -> None:
    before = import_package(workspace, filled.export("one.apkg"))
    filled.add("Basic", Front="Later?", Back="Later.")
    filled.answer(3)
    filled.col.set_deck(filled.col.find_cards("encoder"), filled.col.decks.id("Elsewhere"))
    after = import_package(workspace, filled.export("two.apkg"))
    assert (after.new_cards, after.new_reviews) == (1, 1)
    assert len(reviews(workspace)) == before.new_reviews + 1
    assert len(workspace.library.cards(topic=TOPIC)) == 6


def test_what_was_corrected_by_hand_stays(workspace: Workspace, filled: Anki) -> None:
    path = filled.export("one.apkg")
    (file,) = import_package(workspace, path).files
    file.write_text(file.read_text("utf-8").replace("encoder", "the encoder"), "utf-8")
    assert import_package(workspace, path).new_cards == 0
    assert "the encoder" in file.read_text("utf-8")


def test_a_broken_own_bank_stops_the_import_before_anything_is_written(workspace: Workspace, filled: Anki) -> None:
    workspace.home.banks.mkdir(parents=True)
    file = workspace.home.banks / f"{TOPIC}.yaml"
    file.write_text(f"topic: {TOPIC}\ncards: nothing\n", "utf-8")
    with pytest.raises(UsageError, match="correct it first, then import again; nothing was imported"):
        import_package(workspace, filled.export("one.apkg"))
    assert not reviews(workspace)


def test_our_own_deck_brings_back_its_answers_once(workspace: Workspace, theirs: Anki, moving_clock: Any) -> None:
    pytest.importorskip("genanki")
    from attncli.export.anki_deck import export_deck

    record_review.answer(workspace, "att-01", Rating.AGAIN, moving_clock.now - timedelta(days=9, milliseconds=0.4))
    record_review.answer(workspace, "att-01", Rating.GOOD, moving_clock.now - timedelta(days=8))
    record_review.answer(workspace, "att-02", Rating.GOOD, moving_clock.now - timedelta(days=7))
    take_back(workspace)
    path = theirs.folder / "ours.apkg"
    export_deck(workspace, path.write_bytes, None, ("en", "zh"))
    assert import_package(workspace, path).new_reviews == 0
    theirs.take_in(path)
    theirs.col.decks.select(theirs.col.decks.id("attn"))
    theirs.answer(3, 4)
    moving_clock.now = datetime.now(UTC)
    done = import_package(workspace, theirs.export("back.apkg"))
    assert (done.cards, done.own, done.new_cards, done.new_reviews) == (6, 6, 0, 2)
    assert len(reviews(workspace)) == 5
    assert {subject for subject, _ in reviews(workspace)} <= {card.id for card in workspace.library.cards()}
    assert import_package(workspace, theirs.export("again.apkg")).new_reviews == 0
    assert not workspace.home.banks.exists()


def test_the_history_of_a_card_that_no_bank_has_is_kept(workspace: Workspace, theirs: Anki, small_bank: Path) -> None:
    pytest.importorskip("genanki")
    from attncli.export.anki_deck import export_deck

    record_review.answer(workspace, "att-01", Rating.GOOD)
    path = theirs.folder / "ours.apkg"
    export_deck(workspace, path.write_bytes, None, ("en",))
    (small_bank / "att.yaml").unlink()
    workspace.read_banks()
    theirs.take_in(path)
    theirs.col.decks.select(theirs.col.decks.id("attn"))
    theirs.answer(3, 3, 3, 3, 3, 3)
    done = import_package(workspace, theirs.export("back.apkg"))
    assert (done.own, done.gone) == (6, 3)
    assert {"att-02", "att-03"} <= {subject for subject, _ in reviews(workspace)}


def test_what_came_from_anki_does_not_go_back_unasked(workspace: Workspace, filled: Anki) -> None:
    pytest.importorskip("genanki")
    from attncli.export.anki_deck import export_deck

    import_package(workspace, filled.export("one.apkg"))
    done = export_deck(workspace, (filled.folder / "ours.apkg").write_bytes, None, ("en",))
    assert (done.package.cards, done.from_anki) == (6, 5)
    done = export_deck(workspace, (filled.folder / "ours.apkg").write_bytes, TOPIC, ("en",))
    assert (done.package.cards, done.from_anki) == (5, 0)
