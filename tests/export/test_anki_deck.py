"""Open the exported deck with the real `anki` package: its content, its due dates, and a second import."""

from __future__ import annotations

import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from attncli.anki.exporter import FIELDS, block, code, export_deck, inline
from attncli.config import Settings
from attncli.domain.log_row import Rating, RowKind
from attncli.errors import NotFound, NothingFound
from attncli.i18n import LANGS
from attncli.memory.scheduler import StudyCalendar
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.workspace import Workspace
from moved_clock import Clock

DAY = timedelta(days=1)
IN_IT = ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03")
STEPS = ["prefill", "decode", "detokenise"]


@pytest.fixture
def clock() -> Clock:
    """Return the present time, which Anki uses too, so due dates agree."""
    clock = Clock()
    clock.now = datetime.now(UTC)
    return clock


Open = Callable[[], Workspace]


@pytest.fixture
def open_home(tmp_path: Path, small_bank: Path, small_impl: Path, clock: Any) -> Open:
    """`open_home()` opens the learner's folder, after a change of the bank too."""
    home, settings = Home(tmp_path / "home"), Settings(fuzz=False)
    return lambda: Workspace.open(home, clock, settings=settings, quizbank=small_bank, impl=small_impl)


@pytest.fixture
def workspace(open_home: Open) -> Iterator[Workspace]:
    with open_home() as opened:
        yield opened


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Any]:
    pytest.importorskip("anki", reason="the anki package is not installed (extra dev)")
    from anki.collection import Collection

    opened = Collection(str(tmp_path / "collection.anki2"))
    yield opened
    opened.close()


def take_in(collection: Any, path: Path, scheduling: bool = True) -> Any:
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    options = ImportAnkiPackageOptions(with_scheduling=scheduling)
    return collection.import_anki_package(ImportAnkiPackageRequest(package_path=str(path), options=options)).log


def card(collection: Any, id: str) -> Any:
    (found,) = collection.find_cards(f"Id:{id}")
    return collection.get_card(found)


def export(workspace: Workspace, path: Path, langs: Any = LANGS, topic: str | None = None) -> Any:
    return export_deck(workspace, path.write_bytes, topic, langs)


def exported(workspace: Workspace, collection: Any, path: Path, langs: Any = LANGS) -> Any:
    """Export into the collection; return what Anki said."""
    export(workspace, path, langs)
    return take_in(collection, path)


def test_every_card_arrives_with_languages_and_tags(workspace: Workspace, collection: Any, tmp_path: Path) -> None:
    log = exported(workspace, collection, tmp_path / "deck.apkg")
    assert (len(log.new), collection.note_count(), collection.card_count()) == (6, 6, 6)
    note = card(collection, "att-01").note()
    assert tuple(note.keys()) == FIELDS
    assert "divide by the root of d" in note["Question (en)"] and "为什么" in note["Question (zh)"]
    assert "variance at one" in note["Answer (en)"] and "方差保持为一" in note["Answer (zh)"]
    assert "saturates" in note["Points (en)"] and "饱和" in note["Points (zh)"]
    assert set(note.tags) == {"attn::topic::att", "attn::kind::qa", "attn::level::screen", "attn::core"}
    decks = {deck.name for deck in collection.decks.all_names_and_ids()}
    assert {"attn", "attn::Attention", "attn::KV cache"} <= decks
    export(workspace, tmp_path / "again.apkg")
    assert (tmp_path / "again.apkg").read_bytes() == (tmp_path / "deck.apkg").read_bytes()


def test_the_learners_language_comes_first_or_alone(workspace: Workspace, collection: Any, tmp_path: Path) -> None:
    workspace.lang = "zh"
    exported(workspace, collection, tmp_path / "deck.apkg")
    assert "first-zh" in card(collection, "att-01").question()
    assert "attn::注意力" in {deck.name for deck in collection.decks.all_names_and_ids()}
    for lang in LANGS:
        export(workspace, tmp_path / f"{lang}.apkg", [lang])
        with unpacked(tmp_path / f"{lang}.apkg", tmp_path / lang) as rows:
            notes = [flds.split("\x1f") for (flds,) in rows.execute("SELECT flds FROM notes")]
        (note,) = [dict(zip(FIELDS, note, strict=True)) for note in notes if note[0] == "att-01"]
        filled = {name for name in note if re.search(r"\((en|zh)\)", name) and note[name]}
        assert filled == {f"{part} ({lang})" for part in ("Question", "Answer", "Why", "Points")}


def test_a_card_of_each_kind_can_be_answered_and_told(workspace: Workspace, collection: Any, tmp_path: Path) -> None:
    exported(workspace, collection, tmp_path / "deck.apkg")
    said = {id: (card(collection, id).question(), card(collection, id).answer()) for id in IN_IT}
    for id, (asked, told) in said.items():
        assert "{{" not in asked + told, id
    assert all(option in said["att-02"][0] for option in ("attention", "a convolution", "an LSTM"))
    assert "✓" not in said["att-02"][0] and "✓" in said["att-02"][1]
    assert said["att-03"][0].count("____") == 4 and "QK^T" not in said["att-03"][0] and "QK^T" in said["att-03"][1]
    number = re.search(r"([24]) layers in (bf16|fp8)", said["kv-01"][0])
    assert number is not None
    assert f"<strong>{int(number[1]) * {'bf16': 2, 'fp8': 1}[number[2]]} GiB</strong>" in said["kv-01"][1]
    assert re.findall(r"<li>(prefill|decode|detokenise)</li>", said["kv-02"][0])[:3] != STEPS
    answer = said["kv-02"][1].partition('id="answer"')[2]
    assert re.findall(r"<li>(prefill|decode|detokenise)</li>", answer)[:3] == STEPS
    assert " 1  k = torch.cat" in said["kv-03"][0] and "Shapes differ" not in said["kv-03"][0]
    assert "Shapes differ" in said["kv-03"][1]


def test_schedules_arrive_as_they_are_here(workspace: Workspace, collection: Any, tmp_path: Path, clock: Any) -> None:
    for days, rating in ((40, Rating.GOOD), (37, Rating.GOOD), (30, Rating.AGAIN), (29, Rating.EASY)):
        record.answer(workspace, "att-01", rating, clock() - days * DAY, details={"elapsed_ms": 4321})
    record.answer(workspace, "att-02", Rating.GOOD)
    record.hold(workspace, RowKind.SUSPEND, "att-03")
    done = export(workspace, tmp_path / "deck.apkg")
    assert (done.cards, done.reviewed, done.reviews) == (6, 2, 5)
    take_in(collection, tmp_path / "deck.apkg")
    schedule = workspace.store.schedules.get("att-01")
    assert schedule is not None
    reviewed = card(collection, "att-01")
    assert (reviewed.type, reviewed.queue, reviewed.ivl) == (2, 2, round(schedule.interval_days))
    assert reviewed.due - collection.sched.today == schedule.due_day - workspace.moment().day
    assert (reviewed.reps, reviewed.lapses) == (4, schedule.lapses)
    assert reviewed.memory_state.stability == pytest.approx(schedule.stability_days, abs=1e-3)
    assert reviewed.memory_state.difficulty == pytest.approx(schedule.difficulty, abs=1e-2)
    rows = collection.db.all("SELECT id, ease, time, type FROM revlog WHERE cid = ? ORDER BY id", reviewed.id)
    assert [row[1] for row in rows] == [3, 3, 1, 4] and {row[2] for row in rows} == {4321}
    assert [row[3] for row in rows] == [0, 0, 1, 2]
    assert rows[0][0] == (clock() - 40 * DAY - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    learning = card(collection, "att-02")
    assert (learning.type, learning.queue, learning.left) == (1, 1, 1001)
    assert learning.due == int(workspace.store.schedules.get("att-02").due_at.timestamp())
    assert (card(collection, "att-03").type, card(collection, "att-03").queue) == (0, -1)
    assert card(collection, "kv-01").type == 0


def test_anki_asks_what_is_due(workspace: Workspace, collection: Any, tmp_path: Path, clock: Any) -> None:
    """Anki forces a full sync if a timestamp differs from its own, which is rounded down."""
    record.answer(workspace, "att-01", Rating.EASY, clock() - 20 * DAY)
    record.answer(workspace, "att-02", Rating.EASY, clock() - 1 * DAY)
    for number, id in enumerate(IN_IT[2:]):
        record.answer(workspace, id, Rating.GOOD, clock() - timedelta(days=3, milliseconds=500.7 + 83.9 * number))
    exported(workspace, collection, tmp_path / "deck.apkg")
    assert collection.find_cards("is:due -is:learn") == [card(collection, "att-01").id]
    before = collection.db.all("SELECT id, mod, data FROM cards ORDER BY id")
    collection.fix_integrity()
    assert collection.db.all("SELECT id, mod, data FROM cards ORDER BY id") == before


def test_a_second_import_updates_and_adds_nothing(open_home: Open, collection: Any, tmp_path: Path, clock: Any) -> None:
    with open_home() as workspace:
        record.answer(workspace, "att-01", Rating.EASY, clock() - 20 * DAY)
        exported(workspace, collection, tmp_path / "deck.apkg")
    before = collection.db.all("SELECT id, nid, due, ivl FROM cards ORDER BY id")
    bank = tmp_path / "small-bank" / "att.yaml"
    changed = bank.read_text("utf-8").replace("It keeps the variance at one.", "So that it stays at one.")
    bank.write_text(changed.replace("id: att-02\n", "id: att-09\n    formerly: [att-02, att-08]\n"), "utf-8")
    clock.now += timedelta(seconds=5)
    with open_home() as later:
        log = exported(later, collection, tmp_path / "again.apkg")
    assert (len(log.new), len(log.updated), len(log.conflicting)) == (0, 6, 0)
    assert (collection.note_count(), collection.card_count()) == (6, 6)
    assert collection.db.all("SELECT id, nid, due, ivl FROM cards ORDER BY id") == before
    assert "So that it stays at one." in card(collection, "att-01").note()["Answer (en)"]
    assert collection.find_cards("Id:att-09"), "a renamed card is the same note"
    assert collection.db.scalar("SELECT count(*) FROM revlog") == 1
    assert len([model for model in collection.models.all_names_and_ids() if model.name.startswith("attn")]) == 1


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati", "UTC"])
def test_a_due_day_is_the_same_in_every_zone(workspace: Workspace, tmp_path: Path, clock: Any, zone: str) -> None:
    """Day 0 of the package starts with the learner's study day, in the learner's zone."""
    workspace.calendar = StudyCalendar(zone=ZoneInfo(zone))
    record.answer(workspace, "att-01", Rating.EASY, clock() - 3 * DAY)
    export(workspace, tmp_path / "deck.apkg")
    with unpacked(tmp_path / "deck.apkg", tmp_path) as rows:
        crt, conf = rows.execute("SELECT crt, json_extract(conf, '$.creationOffset') FROM col").fetchone()
        (due,) = rows.execute("SELECT due FROM cards WHERE type = 2").fetchone()
    begins = datetime.fromtimestamp(crt, UTC) - timedelta(minutes=conf)
    schedule = workspace.store.schedules.get("att-01")
    assert schedule is not None
    assert begins.hour == 4 and begins.toordinal() + due == schedule.due_day


@contextmanager
def unpacked(path: Path, folder: Path) -> Iterator[sqlite3.Connection]:
    """Yield the database of a package."""
    with zipfile.ZipFile(path) as package:
        database = package.extract("collection.anki2", folder)
    with closing(sqlite3.connect(database)) as rows:
        yield rows


@pytest.mark.full
def test_the_bundled_bank_has_no_bare_formula_and_no_open_place(tmp_path: Path, indexed_home: Path, clock: Any) -> None:
    with Workspace.open(Home(copytree(indexed_home, tmp_path / "home")), clock) as workspace:
        done = export(workspace, tmp_path / "deck.apkg")
        assert done.cards == len(workspace.library.cards())
    with unpacked(tmp_path / "deck.apkg", tmp_path) as rows:
        notes = rows.execute("SELECT guid, flds FROM notes").fetchall()
    assert len({guid for guid, _ in notes}) == done.cards
    for guid, text in notes:
        shown = re.sub(r"<pre>.*?</pre>|<code>.*?</code>|\\\(.*?\\\)|\\\[.*?\\\]", "", text, flags=re.DOTALL)
        assert "{{" not in shown and "$$" not in shown, guid
        assert text.count("\\(") == text.count("\\)"), guid


@pytest.mark.parametrize(
    ("markup", "given", "shown"),
    [
        (inline, "over $\\sqrt{d}$, with $a<b$", r"over \(\sqrt{d}\), with \(a&lt;b\)"),
        (inline, "5 \\$ and `$x$`", "5 $ and <code>$x$</code>"),
        (inline, "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        (inline, "[sound:x.mp3] [latex]y[/latex]", "&#91;sound:x.mp3] &#91;latex]y&#91;/latex]"),
        (inline, "[\\$]z[/\\$]", "&#91;$]z&#91;/$]"),
        (inline, "![a picture](http://x/y.png)", "[a picture]"),
        (code, "def f(): # <b>\n  return 'in'", "<pre><code><strong>def</strong> f(): <em># &lt;b&gt;</em>\n"),
        (block, "$$\ny = x^2\n$$\n\nthere.", "\n\\[y = x^2\\]\n"),
        (code, "x = 'for' # in", "<pre><code>x = 'for' <em># in</em></code></pre>"),
    ],
)
def test_markdown_becomes_what_anki_shows(markup: Callable[[str], str], given: str, shown: str) -> None:
    assert markup(given).startswith(shown)


def test_what_cannot_be_exported_is_said(workspace: Workspace, tmp_path: Path, small_bank: Path) -> None:
    with pytest.raises(NotFound, match="unknown topic nowhere"):
        export(workspace, tmp_path / "deck.apkg", topic="nowhere")
    for file in small_bank.iterdir():
        file.unlink()
    workspace.read_banks()
    with pytest.raises(NothingFound, match="there are no cards to export"):
        export(workspace, tmp_path / "deck.apkg")
    assert not (tmp_path / "deck.apkg").exists()
