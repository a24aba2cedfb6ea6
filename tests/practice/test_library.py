"""Index the files: changes are read, errors are reported, renamed items keep their history."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from attncli.domain.log_row import Rating
from attncli.domain.vocabulary import KINDS
from attncli.errors import NotFound
from attncli.practice import record
from attncli.practice.challenges import is_solved
from attncli.practice.record import take_back
from attncli.practice.review import ReviewSession
from attncli.practice.today import due_counts, next_unsolved
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


def own_bank(home: Path, name: str, cards: str, topic: str = "own") -> Path:
    folder = home / "home" / "banks"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"topic: {topic}\nlicence: CC0\ntitle: {{en: Own, zh: 自己}}\ncards:\n{cards}", encoding="utf-8")
    return path


def test_all_kinds_are_read_back_from_the_index(workspace: Workspace) -> None:
    cards = [workspace.library.card(found.id) for found in workspace.library.cards()]
    assert {card.kind for card in cards} == set(KINDS)
    assert workspace.library.card("att-01") == cards[0]
    assert [(topic.id, topic.title.zh, topic.cards) for topic in workspace.library.topics()] == [
        ("att", "注意力", 3),
        ("kv", "KV 缓存", 3),
    ]


@pytest.mark.parametrize(
    ("query", "topic", "ids"),
    [
        ("root", None, ["att-01"]),
        ("置换", None, ["att-02"]),
        ("码", None, ["kv-02"]),
        ("kv", None, ["kv-01", "kv-02", "kv-03"]),
        ("方差", "kv", []),
        ("att-03", None, ["att-03"]),
        ("nothing of the kind", None, []),
        ("⊤", None, ["att-03"]),
    ],
)
def test_search_in_both_languages(workspace: Workspace, query: str, topic: str | None, ids: list[str]) -> None:
    assert sorted(card.id for card in workspace.library.cards(query, topic)) == ids


def test_a_match_in_the_question_comes_before_one_in_the_text(open_workspace: Open, tmp_path: Path) -> None:
    body = (
        "  - {id: own-1, kind: qa, level: screen, question: {en: Nothing?, zh: 无？}, short: {en: zebra, zh: 马},"
        " explain: {en: e, zh: 解}, points: [{en: a, zh: 甲}, {en: b, zh: 乙}, {en: c, zh: 丙}]}\n"
        "  - {id: own-2, kind: qa, level: screen, question: {en: Zebra?, zh: 马？}, short: {en: s, zh: 简},"
        " explain: {en: e, zh: 解}, points: [{en: a, zh: 甲}, {en: b, zh: 乙}, {en: c, zh: 丙}]}\n"
    )
    own_bank(tmp_path, "own.yaml", body)
    assert [card.id for card in open_workspace().library.cards("zebra")] == ["own-2", "own-1"]


@pytest.mark.parametrize("written", ["KV", "kv", " Kv "])
def test_a_topic_is_known_in_any_case(workspace: Workspace, written: str) -> None:
    assert workspace.library.topic(written).id == "kv"
    assert {card.topic for card in workspace.library.cards(topic=written)} == {"kv"}
    assert ReviewSession(workspace, written).topic == "kv"


def test_a_topic_is_guessed_by_its_title(workspace: Workspace) -> None:
    for name, guess in (("attention", "att"), ("Atention", "att"), ("注意", "att"), ("缓存", "kv"), ("kvv", "kv")):
        with pytest.raises(NotFound, match=f"unknown topic {name}; did you mean {guess}\\? use one of att, kv"):
            workspace.library.topic(name)


def test_unknown_names_suggest_the_nearest(workspace: Workspace) -> None:
    for look_up, message in [
        (lambda: workspace.library.card("att-1"), "did you mean att-0"),
        (lambda: workspace.library.topic("at"), "did you mean att"),
        (lambda: workspace.library.challenge("doubl"), "did you mean double"),
        (lambda: workspace.library.challenges("basic"), "did you mean basics"),
        (lambda: workspace.library.cards(topic="zzz"), "unknown topic zzz; use one of att, kv"),
        (lambda: workspace.library.cards(topic="\udcff"), "unknown topic \\?; use one of att, kv"),
    ]:
        with pytest.raises(NotFound, match=message):
            look_up()


def test_nothing_is_parsed_again_until_a_file_changes(
    open_workspace: Open, small_bank: Path, monkeypatch: pytest.MonkeyPatch, qa_card: Callable[[str], str]
) -> None:
    open_workspace()
    monkeypatch.setitem(sys.modules, "attncli.practice.indexing", None)
    open_workspace()
    (small_bank / "att.yaml").write_text("topic: att\ncards:\n" + qa_card("att-01"), encoding="utf-8")
    with pytest.raises(ImportError):
        open_workspace()


def test_a_changed_file_is_read_and_a_typo_keeps_the_history(open_workspace: Open, small_bank: Path) -> None:
    before = open_workspace()
    answered = record.answer(before, "att-01", Rating.EASY)
    old_hash = before.store.index.hash("att-01")
    file = small_bank / "att.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("Why divide", "Why do we divide"), encoding="utf-8")
    after = open_workspace()
    assert after.library.card("att-01").question.en.startswith("Why do we divide")
    assert after.store.schedules.get("att-01") == answered.schedule
    assert after.store.index.hash("att-01") != old_hash


def test_a_removed_card_is_never_due_and_its_history_waits_for_it(open_workspace: Open, small_bank: Path) -> None:
    workspace = open_workspace()
    record.answer(workspace, "kv-01", Rating.AGAIN, workspace.clock().replace(year=2025))
    assert due_counts(workspace).learning == 1
    text = (small_bank / "kv.yaml").read_text(encoding="utf-8")
    (small_bank / "kv.yaml").unlink()
    gone = open_workspace()
    assert due_counts(gone).learning == 0 and len(gone.library.cards()) == 3
    for look_up in (gone.library.card, gone.library.card_id, gone.library.document):
        with pytest.raises(NotFound, match=r"unknown card kv-01; `attn cards`"):
            look_up("kv-01")
    (small_bank / "kv.yaml").write_text(text, encoding="utf-8")
    assert due_counts(open_workspace()).learning == 1


def test_a_renamed_card_keeps_its_history_and_answers_to_its_old_name(open_workspace: Open, small_bank: Path) -> None:
    workspace = open_workspace()
    answered = record.answer(workspace, "att-01", Rating.EASY)
    file = small_bank / "att.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("id: att-01", "id: att-99\n    formerly: [att-01]"), encoding="utf-8")
    renamed = open_workspace()
    assert renamed.library.card("att-01").id == "att-99"
    assert renamed.library.card_id("att-01") == renamed.library.card_id("att-99") == "att-99"
    assert renamed.store.schedules.get("att-99") == answered.schedule
    assert due_counts(renamed).new == 5
    record.answer(renamed, "att-01", Rating.GOOD)
    derived = renamed.store.schedules.get("att-99")
    renamed.derive_all()
    assert renamed.store.schedules.get("att-99") == derived is not None and derived.repetitions == 2
    take_back(renamed)
    take_back(renamed)
    assert renamed.store.schedules.get("att-99") is None


def test_own_banks_are_read_and_a_broken_one_is_reported_while_the_rest_works(
    open_workspace: Open, tmp_path: Path, qa_card: Callable[[str], str]
) -> None:
    own_bank(tmp_path, "good.yaml", qa_card("own-1"))
    own_bank(tmp_path, "broken.yaml", "  - id: [unclosed\n")
    workspace = open_workspace()
    assert workspace.library.card("own-1").topic == "own"
    assert len(workspace.library.cards()) == 7
    (problem,) = workspace.store.files.problems()
    assert "broken.yaml:5:" in str(problem) or "broken.yaml:6:" in str(problem)
    own_bank(tmp_path, "broken.yaml", qa_card("own-2"))
    mended = open_workspace()
    assert mended.store.files.problems() == [] and len(mended.library.cards()) == 8


def test_a_bundled_card_goes_before_an_own_one_of_the_same_id(
    open_workspace: Open, tmp_path: Path, small_bank: Path, qa_card: Callable[[str], str]
) -> None:
    own_bank(tmp_path, "mine.yaml", qa_card("att-01") + qa_card("own-1"))
    workspace = open_workspace()
    assert workspace.library.card("att-01").topic == "att" and workspace.library.card("own-1").topic == "own"
    assert "att-01 is skipped" in str(workspace.store.files.problems()[0])
    (small_bank / "att.yaml").unlink()
    freed = open_workspace()
    assert freed.library.card("att-01").topic == "own" and freed.store.files.problems() == []


def test_own_challenges_are_found(open_workspace: Open, tmp_path: Path, small_impl: Path) -> None:
    own = tmp_path / "home" / "challenges" / "mine" / "triple"
    own.mkdir(parents=True)
    shutil.copy(small_impl / "basics" / "double" / "challenge.yaml", own)
    library = open_workspace().library
    assert [challenge.id for challenge in library.challenges()] == ["double", "triple"]
    assert library.challenge("triple").folder == str(own)


def test_two_first_starts_at_once_end_with_one_index(tmp_path: Path, small_bank: Path, small_impl: Path) -> None:
    code = (
        "import sys; from datetime import datetime, UTC; from pathlib import Path; from attncli.paths import Home\n"
        "from attncli.practice.workspace import Workspace\n"
        "home, bank, impl = map(Path, sys.argv[1:])\n"
        "with Workspace.open(Home(home), lambda: datetime.now(UTC), quizbank=bank, impl=impl) as w:\n"
        "    print(len(w.library.cards()), w.store.damages())\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "shared"), str(small_bank), str(small_impl)]
    starts = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [start.communicate(timeout=60)[0].strip() for start in starts] == ["6 []"] * 3


def test_challenges_come_in_reading_order(open_workspace: Open, small_impl: Path) -> None:
    for track, id in (("serving", "engine"), ("attention", "two"), ("attention", "one"), ("mine", "last")):
        shutil.copytree(small_impl / "basics" / "double", small_impl / track / id)
    found = [challenge.id for challenge in open_workspace().library.challenges()]
    assert found == ["one", "two", "engine", "double", "last"]


def test_the_next_challenge_is_the_easiest_of_the_track(open_workspace: Open, small_impl: Path) -> None:
    for id, level in (("hard", 5), ("easy", 1)):
        folder = shutil.copytree(small_impl / "basics" / "double", small_impl / "attention" / id)
        text = (folder / "challenge.yaml").read_text(encoding="utf-8")
        (folder / "challenge.yaml").write_text(re.sub(r"level: \d", f"level: {level}", text), encoding="utf-8")
    shutil.copytree(small_impl / "basics" / "double", small_impl / "attention" / "middle")
    workspace = open_workspace()
    following = [next_unsolved(workspace, id) for id in ("hard", "middle", "easy")]
    assert [challenge.id for challenge in following if challenge] == ["easy", "easy", "middle"]


def test_with_a_date_the_next_challenge_is_the_plans(open_workspace: Open, small_impl: Path) -> None:
    for track, id in (("attention", "one"), ("serving", "engine")):
        shutil.copytree(small_impl / "basics" / "double", small_impl / track / id)
    path = small_impl / "serving" / "engine" / "challenge.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "must_know: true\n", encoding="utf-8")
    workspace = open_workspace(interview=date(2026, 7, 1), minutes_per_day=60)
    first, *_rest = due_counts(workspace).code
    following = next_unsolved(workspace, "one")
    assert first == "engine" and following is not None and following.id == "engine"


def test_the_next_challenge_is_the_first_unsolved_one_and_begins_again_at_the_end(
    open_workspace: Open, small_impl: Path
) -> None:
    for track, id in (("attention", "one"), ("serving", "engine")):
        shutil.copytree(small_impl / "basics" / "double", small_impl / track / id)
    workspace = open_workspace()
    following = [next_unsolved(workspace, id) for id in ("one", "engine", "double")]
    assert [challenge.id for challenge in following if challenge] == ["engine", "double", "one"]
    assert not is_solved(workspace, "one")
