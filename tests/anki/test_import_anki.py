"""Import packages written by the real `anki` package: cards, answers, and decks from `attn export anki`."""

from __future__ import annotations

import json
import random
import sqlite3
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from attncli.anki.exporter import export_deck
from attncli.anki.importer import import_package, topic_of
from attncli.anki.package import key_of
from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.domain.log_row import LogRow, Rating, RowKind
from attncli.errors import UsageError
from attncli.practice import record
from attncli.practice.record import take_back
from attncli.practice.sync import merge, sync
from attncli.practice.workspace import Workspace

pytest.importorskip("anki", reason="the anki package is not installed (extra dev)")
from anki.collection import Collection, ExportAnkiPackageOptions, ImportAnkiPackageOptions, ImportAnkiPackageRequest

DECK = "Deep Learning::Attention"
TOPIC = topic_of(DECK)
DAY_MS = 86_400_000
LEARNING, REVIEW, RELEARNING, FILTERED, MANUAL, RESCHEDULED = range(6)
Entry = tuple[float, int, int, int]
"""One row of Anki's log: days ago, rating, type, ease."""
GOOD_THEN_REVIEWED: list[Entry] = [(200, 2, LEARNING, 0), (199.9, 2, LEARNING, 0), (198, 3, REVIEW, 2500)]
TEXTS = {
    "What is 2<sup>10</sup>, and O(n<sup>2</sup>), and x<sub>i</sub>?": "What is 2¹⁰, and O(n²), and xᵢ?",
    "Is it &amp;nbsp; or &amp;lt;p&amp;gt;?": "Is it \\&nbsp; or \\&lt;p\\&gt;?",
    "Python? <div>if x:</div><div>&nbsp; &nbsp; return 1</div>": "Python?  \nif x:  \n\xa0\xa0\xa0\xa0return 1",
    "In Jinja, what does {{ x }} do?": "In Jinja, what does {{ x }} do?",
    "می\u200cخواهم؟": "می\u200cخواهم؟",
    'Which? <div style="display:none">THE ANSWER</div>': "Which?",
    "👩\u200d💻": "👩\u200d💻",
    "What is \\(\\lim \\limits_x\\)?": "What is $\\lim \\limits_x$?",
}


@pytest.fixture(autouse=True)
def present(moving_clock: Any) -> None:
    """Set the clock to the present, since Anki uses the system clock."""
    moving_clock.now = datetime.now(UTC)


class Anki:
    """A real Anki collection."""

    def __init__(self, folder: Path) -> None:
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

    def answer(self, *ratings: int, id: Any = None) -> None:
        for rating in ratings:
            card = self.col.get_card(id) if id else self.col.sched.getCard()
            card.start_timer()
            self.col.sched.answerCard(card, rating)

    def take_in(self, path: Path) -> None:
        options = ImportAnkiPackageOptions(with_scheduling=True)
        self.col.import_anki_package(ImportAnkiPackageRequest(package_path=str(path), options=options))

    def take_in_ours(self, workspace: Workspace, langs: Any = ("en",)) -> Path:
        """Import the deck of attn, and select it."""
        path = self.folder / "ours.apkg"
        export_deck(workspace, path.write_bytes, None, langs)
        self.take_in(path)
        self.col.decks.select(self.col.decks.id("attn"))
        return path

    def export(self, name: str, legacy: bool = True, with_scheduling: bool = True) -> Path:
        path = self.folder / name
        options = ExportAnkiPackageOptions(with_scheduling=with_scheduling, with_media=True, legacy=legacy)
        self.col.export_anki_package(out_path=str(path), options=options, limit=None)
        return path

    def export_collection(self, name: str, legacy: bool) -> Path:
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


@pytest.mark.parametrize("name", ["old.apkg", "new.apkg", "old.colpkg", "new.colpkg"])
def test_cards_and_history_come_in_once_unless_an_own_bank_is_broken(
    workspace: Workspace, filled: Anki, name: str
) -> None:
    pytest.importorskip("zstandard", reason="packages of newer Ankis need the extra anki")
    expected = filled.col.db.scalar("SELECT count(*) FROM revlog WHERE ease > 0")
    count, export = filled.col.card_count(), filled.export if name.endswith("apkg") else filled.export_collection
    path = export(name, legacy=name.startswith("old"))
    seen = import_package(workspace, path, dry_run=True)
    assert not reviews(workspace) and not workspace.home.banks.exists()
    workspace.home.banks.mkdir(parents=True)
    broken = workspace.home.banks / f"{TOPIC}.yaml"
    broken.write_text(f"topic: {TOPIC}\ncards: nothing\n", "utf-8")
    with pytest.raises(UsageError, match="nothing was imported; fix this first, then import again"):
        import_package(workspace, path)
    assert not reviews(workspace)
    broken.unlink()
    done = import_package(workspace, path)
    assert seen.document() == done.document()
    assert (done.cards, done.new_cards, done.unreadable, done.media) == (count, count - 1, 1, 1)
    assert done.new_reviews == expected - done.lost_reviews == len(reviews(workspace))
    cards = [workspace.library.card(card.id) for card in workspace.library.cards(topic=TOPIC)]
    clozes = {"Softmax over […] in rows", "Softmax over keys in […]"}
    assert {card.question.en for card in cards} == {"What is $QK^T$?", "encoder", "编码器"} | clozes
    answers = {card.question.en: card.short.en for card in cards if card.short}
    assert answers["What is $QK^T$?"] == "The **scores**." and answers["编码器"] == "encoder"
    held = [card.id for card in cards if workspace.store.schedules.hold(card.id)[0]]
    assert len(held) == done.suspended == 1
    assert not workspace.store.files.problems()
    again = import_package(workspace, path)
    assert (again.new_cards, again.new_reviews, again.suspended, again.files) == (0, 0, 0, [])
    assert len(reviews(workspace)) == done.new_reviews


def test_later_answers_and_cards_are_added_and_corrections_stay(workspace: Workspace, filled: Anki) -> None:
    before = import_package(workspace, filled.export("one.apkg"))
    (file,) = before.files
    file.write_text(file.read_text("utf-8").replace("encoder", "the encoder"), "utf-8")
    filled.add("Basic", Front="Later?", Back="Later.")
    filled.answer(3)
    filled.col.set_deck(filled.col.find_cards("encoder"), filled.col.decks.id("Elsewhere"))
    after = import_package(workspace, filled.export("two.apkg"))
    assert (after.new_cards, after.new_reviews) == (1, 1)
    assert len(reviews(workspace)) == before.new_reviews + 1
    assert len(workspace.library.cards(topic=TOPIC)) == 6 and "the encoder" in file.read_text("utf-8")
    ours = filled.folder / "ours.apkg"
    done = export_deck(workspace, ours.write_bytes, None, ("en",))
    assert (done.cards, done.from_anki) == (6, 6), "what came from Anki does not go back unasked"
    done = export_deck(workspace, ours.write_bytes, TOPIC, ("en",))
    assert (done.cards, done.from_anki) == (6, 0)


def test_our_own_deck_brings_back_its_answers_once(workspace: Workspace, theirs: Anki, moving_clock: Any) -> None:
    record.answer(workspace, "att-01", Rating.AGAIN, moving_clock.now - timedelta(days=9, milliseconds=0.4))
    record.answer(workspace, "att-01", Rating.GOOD, moving_clock.now - timedelta(days=8))
    record.answer(workspace, "att-02", Rating.GOOD, moving_clock.now - timedelta(days=7))
    take_back(workspace)
    assert import_package(workspace, theirs.take_in_ours(workspace, ("en", "zh"))).new_reviews == 0
    theirs.answer(3, 4)
    moving_clock.now = datetime.now(UTC)
    done = import_package(workspace, theirs.export("back.apkg"))
    assert (done.cards, done.own, done.new_cards, done.new_reviews) == (6, 6, 0, 2)
    assert len(reviews(workspace)) == 5
    assert {subject for subject, _ in reviews(workspace)} <= {card.id for card in workspace.library.cards()}
    assert import_package(workspace, theirs.export("again.apkg")).new_reviews == 0
    assert not workspace.home.banks.exists()


def test_the_history_of_a_card_that_no_bank_has_is_kept(workspace: Workspace, theirs: Anki, small_bank: Path) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    theirs.take_in_ours(workspace)
    (small_bank / "att.yaml").unlink()
    workspace.read_banks()
    theirs.answer(3, 3, 3, 3, 3, 3)
    done = import_package(workspace, theirs.export("back.apkg"))
    assert (done.own, done.gone) == (6, 3)
    assert {"att-02", "att-03"} <= {subject for subject, _ in reviews(workspace)}


def test_texts_keep_their_meaning(workspace: Workspace, theirs: Anki, small_bank: Path, small_impl: Path) -> None:
    for front in TEXTS:
        theirs.add("Basic", Front=front, Back="b")
    theirs.add("Cloze", Text="它用{{c1::“多头”}}机制。The loop is {{c2::<pre>for x in y:\n    print(x)</pre>}} then")
    occlusion = "{{c1::image-occlusion:rect:left=.1:top=.1:width=.1:height=.1}}"
    theirs.add("Image Occlusion", Occlusion=occlusion, Image="<img src=x.png>", Header="Parts of a block")
    type = theirs.col.models.new("With a hint")
    for name in ("Front", "Hint", "Back"):
        theirs.col.models.add_field(type, theirs.col.models.new_field(name))
    template = theirs.col.models.new_template("Card 1")
    template["qfmt"], template["afmt"] = "{{Front}}<br>{{hint:Hint}}", "{{FrontSide}}<hr id=answer>{{Back}}"
    theirs.col.models.add_template(type, template)
    theirs.col.models.add(type)
    theirs.add("With a hint", Front="A question?", Hint="NOT YET", Back="b")
    done = import_package(workspace, theirs.export("texts.apkg"))
    cards = [workspace.library.card(card.id) for card in workspace.library.cards(topic=TOPIC)]
    answers = {card.question.en: card.short.en for card in cards if card.short}
    assert done.unreadable == 1 and set(TEXTS.values()) < set(answers)
    assert answers["A question?"] == "b\n\nHint: NOT YET"
    assert "它用“**多头**”机制。The loop is\n\n```text\nfor x in y:\n    print(x)\n```\n\nthen" in answers.values()
    around = Surroundings(small_bank, small_impl, workspace.home.banks, workspace.home.challenges)
    assert not check(done.files, around, date(2026, 11, 26)).problems


def test_each_deck_is_a_topic(workspace: Workspace, theirs: Anki) -> None:
    decks = ["机器学习 ML", "深度学习 ML", *(f"Machine Learning Interview Preparation::Chapter {n}" for n in (1, 2))]
    for name in decks:
        theirs.deck = theirs.col.decks.id(name)
        theirs.add("Basic", Front=f"Of {name}?", Back="a")
    assert len(import_package(workspace, theirs.export("decks.apkg")).files) == 4
    titles = {topic.title.en for topic in workspace.library.topics()}
    assert set(decks) <= titles


HISTORIES: dict[str, list[Entry]] = {
    "learning alone": [(3, 2, LEARNING, 0)],
    "learned and reviewed": GOOD_THEN_REVIEWED,
    "easy while learning": [(50, 3, LEARNING, 0), (46, 3, REVIEW, 2500)],
    "moved while learning": [(9, 2, LEARNING, 0), (8, 0, MANUAL, 2500), (7, 2, LEARNING, 0), (5, 3, REVIEW, 2500)],
} | {
    name: [*GOOD_THEN_REVIEWED, *more]
    for name, more in {
        "a lapse learned again": [(90, 1, REVIEW, 2300), (90, 2, RELEARNING, 2300), (80, 2, REVIEW, 2150)],
        "reset and new": [(20, 0, MANUAL, 0)],
        "reset and learned again": [(20, 0, MANUAL, 0), (1, 2, LEARNING, 0), (1, 3, LEARNING, 0)],
        "reset twice": [(20, 0, MANUAL, 0), (9, 3, LEARNING, 0), (8, 0, MANUAL, 0), (2, 1, LEARNING, 0)],
        "learned again without a row that says so": [(9, 2, LEARNING, 0), (7, 3, REVIEW, 2500)],
        "rescheduled": [(20, 0, MANUAL, 2500), (10, 3, REVIEW, 2500), (9, 0, RESCHEDULED, 2500)],
        "crammed": [(30, 1, FILTERED, 0), (20, 3, REVIEW, 2500)],
        "in a filtered deck": [(30, 2, FILTERED, 2500), (20, 4, REVIEW, 2500)],
    }.items()
}


def random_history(rng: random.Random) -> list[Entry]:
    """Return a random log of two schedulers, resets and manual changes that starts with a learning step."""
    days = sorted((rng.uniform(0.1, 300) for _ in range(rng.randrange(1, 12))), reverse=True)
    sorts = [LEARNING, REVIEW, REVIEW, REVIEW, RELEARNING, FILTERED, MANUAL, RESCHEDULED]
    entries: list[Entry] = [(days[0] + 1, rng.randrange(1, 4), LEARNING, 0)]
    for ago in days:
        sort = rng.choice(sorts)
        ease = rng.choice((0, 2500)) if sort in (FILTERED, MANUAL) else 2500 if sort else 0
        entries.append((ago, 0 if sort in (MANUAL, RESCHEDULED) else rng.randrange(1, 4), sort, ease))
        if sort == MANUAL and not ease:
            entries.append((ago - 0.01, rng.randrange(1, 4), LEARNING, 0))
    return entries


def log(theirs: Anki, note: Any, entries: list[Entry], now_ms: int) -> None:
    """Write these log rows for a note's card; make the card new if the last row is a reset."""
    card, add = note.cards()[0].id, theirs.col.db.execute
    for number, (ago, rating, sort, ease) in enumerate(entries):
        moment = now_ms - round(ago * DAY_MS) + number + card % 1000 * 50
        add("INSERT INTO revlog VALUES (?, ?, -1, ?, 3, 3, ?, 5000, ?)", moment, card, rating, ease, sort)
    if entries[-1][2:] != (MANUAL, 0):
        add("UPDATE cards SET type = 2, queue = 2, due = 5, ivl = 3, reps = 4 WHERE id = ?", card)


def of_the_old_scheduler(package: Path) -> Path:
    """Rewrite the package as an old Anki with one scheduler would."""
    with zipfile.ZipFile(package) as archive:
        database = package.with_suffix(".db")
        database.write_bytes(archive.read("collection.anki21"))
    with closing(sqlite3.connect(database)) as rows, rows:
        conf = json.loads(rows.execute("SELECT conf FROM col").fetchone()[0])
        for key in ("schedVer", "creationOffset", "localOffset", "sched2021"):
            conf.pop(key, None)
        rows.execute("UPDATE col SET conf = ?", (json.dumps(conf),))
    old = package.with_name("old-scheduler.apkg")
    with zipfile.ZipFile(old, "w") as archive:
        archive.write(database, "collection.anki2")
        archive.writestr("media", "{}")
    return old


def states_in_anki(package: Path, folder: Path) -> dict[str, tuple[float, float]]:
    """Return stability and difficulty as computed by Anki, by card key, without new cards."""
    folder.mkdir()
    fresh = Anki(folder)
    fresh.take_in(package)
    found = {}
    for id in fresh.col.find_cards("-is:new"):
        card, state = fresh.col.get_card(id), fresh.col.compute_memory_state(id)
        found[key_of(card.note().guid, card.ord)] = (state.stability, state.difficulty)
    fresh.col.close()
    return found


def states_here(workspace: Workspace) -> dict[str, tuple[float, float]]:
    schedules = {id: workspace.store.schedules.get(id) for id in workspace.store.index.card_ids() if id[:5] == "anki-"}
    return {id.rpartition("-")[2]: (of.stability_days, of.difficulty) for id, of in schedules.items() if of is not None}


def assert_equal(here: dict[str, tuple[float, float]], there: dict[str, tuple[float, float]]) -> None:
    assert here.keys() == there.keys()
    for key, (stability, difficulty) in there.items():
        assert here[key][0] == pytest.approx(stability, rel=1e-3), key
        assert here[key][1] == pytest.approx(difficulty, abs=1e-2), key


@pytest.mark.parametrize("is_old", [False, True], ids=["the scheduler of today", "the old scheduler"])
def test_the_memory_is_what_anki_itself_makes_of_a_log(workspace: Workspace, theirs: Anki, is_old: bool) -> None:
    now, rng = int(time.time() * 1000), random.Random(5)
    histories = [*HISTORIES.values(), *(random_history(rng) for _ in range(60))]
    for number, entries in enumerate(histories):
        log(theirs, theirs.add("Basic", Front=f"Question {number}?", Back="a"), entries, now)
    package = theirs.export("logs.apkg")
    package = of_the_old_scheduler(package) if is_old else package
    done = import_package(workspace, package)
    there = states_in_anki(package, theirs.folder / "fresh")
    assert len(there) == len(histories) - 1 and done.forgotten > 20
    assert_equal(states_here(workspace), there)
    again = import_package(workspace, package)
    assert (again.new_reviews, again.taken_back) == (0, 0)


def test_what_anki_did_itself_is_read_as_it_meant_it(workspace: Workspace, theirs: Anki) -> None:
    """Answers, Forget, Set Due Date and a filtered deck, made with Anki's own functions."""
    notes = [theirs.add("Basic", Front=f"Question {number}?", Back="a") for number in range(6)]
    ids = [note.cards()[0].id for note in notes]
    theirs.answer(*[4] * 6)
    theirs.col.sched.schedule_cards_as_new(ids[:2])
    theirs.col.sched.set_due_date(ids[2:4], "0")
    filtered = theirs.col.sched.get_or_create_filtered_deck(0)
    filtered.config.search_terms[0].search = f"cid:{ids[4]}"
    theirs.col.sched.add_or_update_filtered_deck(filtered)
    for id in ids[:5]:
        theirs.answer(3, id=id)
    for legacy in (True, False):
        package = theirs.export(f"{legacy}.apkg", legacy=legacy)
        import_package(workspace, package)
        assert_equal(states_here(workspace), states_in_anki(package, theirs.folder / f"fresh-{legacy}"))


def test_rows_that_came_in_wrong_are_corrected_on_every_machine(
    open_workspace: Callable[..., Workspace], theirs: Anki, tmp_path: Path
) -> None:
    for number, entries in enumerate(HISTORIES.values()):
        log(theirs, theirs.add("Basic", Front=f"Question {number}?", Back="a"), entries, int(time.time() * 1000))
    package = of_the_old_scheduler(theirs.export("logs.apkg"))
    there = states_in_anki(package, theirs.folder / "fresh")
    machines = [open_workspace(name) for name in ("first", "second", "third")]
    shared = tmp_path / "shared"
    shared.mkdir()
    for workspace in machines[:2]:
        import_package(workspace, theirs.export("cards.apkg", with_scheduling=False))
        take_in_as_before(workspace, package)
        assert states_here(workspace) and states_here(workspace) != there
    assert import_package(machines[0], package).taken_back > 10
    assert_equal(states_here(machines[0]), there)
    import_package(machines[2], package)
    for workspace in (*machines, *machines):
        sync(workspace, shared)
    for workspace in machines:
        assert_equal(states_here(workspace), there)
        again = import_package(workspace, package)
        assert (again.new_reviews, again.taken_back) == (0, 0)


def take_in_as_before(workspace: Workspace, package: Path) -> None:
    """Import as an older version of attn did: buttons read as for today's scheduler, and resets ignored."""
    with zipfile.ZipFile(package) as archive, closing(sqlite3.connect(":memory:")) as rows:
        rows.deserialize(archive.read("collection.anki2"))
        answers = rows.execute(
            "SELECT revlog.id, ease, guid, ord FROM revlog JOIN cards ON cards.id = cid JOIN notes ON notes.id = nid"
            " WHERE ease > 0 AND NOT (revlog.type = 3 AND revlog.factor = 0)"
        ).fetchall()
    ids = {id.rpartition("-")[2]: id for id in workspace.store.index.card_ids()}
    before = []
    for ms, rating, guid, ord in answers:
        at, key = datetime.fromtimestamp(ms / 1000, UTC), key_of(guid, ord)
        told = (workspace.calendar.day(at), {"rating": rating, "elapsed_ms": 5000})
        before.append(LogRow(f"anki-{ms}-{key}", "anki", RowKind.REVIEW, ids[key], at, *told))
    merge(workspace, before, conflict=lambda _: None)


def test_a_reset_of_our_own_card_takes_its_reviews_back(workspace: Workspace, theirs: Anki, moving_clock: Any) -> None:
    for days in (40, 37, 20):
        record.answer(workspace, "att-01", Rating.GOOD, moving_clock.now - timedelta(days=days))
    theirs.take_in_ours(workspace)
    theirs.col.sched.schedule_cards_as_new(theirs.col.find_cards("Id:att-01"))
    moving_clock.now = datetime.now(UTC)
    done = import_package(workspace, theirs.export("back.apkg"))
    assert (done.forgotten, done.taken_back, done.new_reviews) == (3, 3, 0)
    assert workspace.store.schedules.get("att-01") is None
    assert import_package(workspace, theirs.export("again.apkg")).taken_back == 0
