"""All commands of a learner without an app: shapes as in the contract, and one line for failures."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from attncli import __version__
from attncli.sandbox import zygote_client

from .conftest import Attn


def test_due_counts_add_up(attn: Attn) -> None:
    counts = {"due": 6, "new": 6, "learning": 0, "review": 0, "challenges": 0, "topics": {"att": 3, "kv": 3}}
    assert attn("due", "--json").json == counts
    assert attn("due").out.splitlines()[0] == "6 due: 6 new, 0 learning, 0 to review; challenges: 0"
    assert attn("due", "--lang", "zh").out.startswith("今天 6 张：新卡 6")
    assert attn("due", "--json").out == attn("--lang", "en", "due", "--json").out, "with the option parser"
    assert attn("due").out == attn("due", "--lang", "en").out


def test_due_says_what_does_not_fit_the_minutes_that_were_set(attn: Attn) -> None:
    at = ("--at", "2026-03-05T09:00:00Z")
    for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02"):
        attn("answer", card, "--rating", "easy", "--at", "2026-01-05T09:00:00Z")
    assert len(attn("due", *at).out.splitlines()) == 3
    attn("config", "minutes_per_day", "1")
    said = attn("due", *at).out.splitlines()
    assert said[0] == "4 due: 0 new, 0 learning, 4 to review; challenges: 0"
    assert said[-1].startswith("1 more review won't fit into 1 min today")
    assert attn("due", "--lang", "zh", *at).out.splitlines()[-1].startswith("还有 1 张待复习")
    document = attn("due", "--json", *at).json
    assert set(document) == {"due", "new", "learning", "review", "challenges", "topics"} and document["due"] == 4


def test_answer_prints_the_new_schedule(attn: Attn) -> None:
    answered = attn("answer", "att-01", "--rating", "good", "--at", "2026-01-05T09:00:00+08:00", "--json").json
    told = {"card": "att-01", "rating": "good", "at": "2026-01-05T01:00:00Z", "state": "learning", "stability": 2.3065}
    memory = {"difficulty": pytest.approx(2.1181, abs=1e-4), "interval_days": pytest.approx(10 / 1440)}
    assert answered == {**told, **memory, "due": "2026-01-05T01:10:00Z"}
    assert datetime.fromisoformat(answered["due"]).tzinfo is not None


def test_undo_takes_back_whatever_was_done_last(attn: Attn) -> None:
    before = attn("due", "--json").out
    for command, undone, chinese, done in (
        ("suspend", "undone: suspending att-01", "对 att-01 的搁置", "att-01 已搁置"),
        ("bury", "undone: burying att-01", "对 att-01 的推迟", "att-01 已推迟到明天"),
        ("unsuspend", "undone: unsuspending att-01", "对 att-01 的恢复", "att-01 已回到队列"),
    ):
        assert attn(command, "att-01").code == 0 and undone in attn("undo").out
        assert attn(command, "att-01", "--lang", "zh").out.startswith(done)
        assert chinese in attn("undo", "--lang", "zh").out
        assert attn(command, "nope").code == 2 and "unknown card nope" in attn(command, "nope").line
    attn("answer", "att-01", "--rating", "easy", "--at", "2026-01-05T09:00:00Z")
    assert "undone: att-01 easy" in attn("undo").out
    assert attn("answer", "att-01", "--rating", "easy", "--lang", "zh").out.startswith("att-01 easy：复习，")
    assert attn("undo", "--lang", "zh").out.startswith("已撤销 att-01")
    assert attn("due", "--json").out == before
    assert "nothing to undo on this machine" in attn("undo").line and attn("undo").code == 2
    assert attn("suspend", "att-01").code == attn("bury", "att-02").code == 0
    assert attn("due", "--json").json["topics"] == {"att": 1, "kv": 3}
    assert attn("unsuspend", "att-01").code == attn("unsuspend", "att-02").code == 0
    assert attn("due", "--json").out == before


UNUSABLE = {
    "answer att-1 --rating good": "unknown card att-1; did you mean att-0",
    "answer att-01": "Missing option '--rating'",
    "answer att-01 --rating fine": "'fine' is not one of",
    "answer att-01 --rating good --at 2026-01-05T09:00:00": "has no UTC offset",
    "answer att-01 --rating good --at yesterday": "is not a time such as",
    "answer att-01 --rating good --at 9999-12-31T23:59:59Z": "is not between 1990 and 2200",
    "answer att-01 --rating good --at 0001-01-01T00:00:00+14:00": "is not between 1990 and 2200",
    "answer att-01 extra --rating good": "unexpected extra argument",
    "due --jsn": "No such option '--jsn'",
    "dew": "unknown command dew; did you mean due?",
    "xyzzy": "run `attn --help` for a list",
    "show nope": "unknown card nope",
    "show \udcff": "unknown card",
    "cards --topic at": "unknown topic at; did you mean att?",
    "review --plain --topic nope": "unknown topic nope",
    "review --plain --limit 0": "0 is not in the range",
    "review": "`attn review --plain`",
    "": "run `attn due` for the counts",
}


def test_an_unusable_call_exits_2_with_one_line(attn: Attn) -> None:
    for call, said in UNUSABLE.items():
        result = attn(*call.split())
        assert result.code == 2 and said in result.line, call


def test_cards_are_listed_and_searched_in_both_languages(attn: Attn) -> None:
    def found(*words: str) -> list[str]:
        return [card["id"] for card in attn("cards", *words, "--json").json]

    first = attn("cards", "--json").json[0]
    asked = "Why divide by the root of d?"
    assert first == {"id": "att-01", "topic": "att", "kind": "qa", "level": "screen", "question": asked}
    assert found() == ["att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"]
    assert found("置换") == ["att-02"] and found("--topic", "kv") == ["kv-01", "kv-02", "kv-03"]
    chinese = attn("cards", "decod", "--lang", "zh").out
    assert chinese.startswith("kv-02") and "排列解码的步骤" in chinese
    result = attn("cards", "flux capacitor", "--json")
    assert result.code == 1 and result.json == [] and "no card matches flux capacitor" in result.line


def test_every_kind_of_card_is_shown_whole(attn: Attn) -> None:
    for card in ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03"):
        document = attn("show", card, "--json").json
        assert document["id"] == card and document["schedule"] is None
        for lang in ("en", "zh"):
            assert document["explain"][lang].strip() in attn("show", card, "--lang", lang).out
            narrowed = attn("show", card, "--lang", lang, "--json").json
            assert narrowed["question"] == document["question"][lang] and "'en'" not in str(narrowed)
    assert "✓ **attention**" in attn("show", "att-02").out and "It sees neighbours." in attn("show", "att-02").out
    assert "layers * dtype" in attn("show", "kv-01").out and "{{" not in attn("show", "kv-01").out
    attn("answer", "att-01", "--rating", "easy")
    assert attn("show", "att-01", "--json").json["schedule"]["state"] == "review"


def test_stats_have_the_promised_keys_and_a_forgotten_card_is_called_out(attn: Attn) -> None:
    attn("answer", "att-01", "--rating", "good")
    found = attn("stats", "--json").json
    assert (found["reviews"], found["today"], found["streak_days"], found["retention"]) == (1, 1, 1, None)
    assert found["topics"]["att"]["seen"] == 1 and len(found["forecast"]) == 14
    assert attn("stats").out.startswith("1 review (1 today), streak 1 day, 30-day retention")
    assert "复习 1 次" in attn("stats", "--lang", "zh").out
    for month in range(1, 10):
        attn("answer", "att-02", "--rating", "easy", "--at", f"2025-{month:02}-01T09:00:00Z")
        last = attn("answer", "att-02", "--rating", "again", "--at", f"2025-{month:02}-20T09:00:00Z")
    assert "forgotten 9 times" in last.out


def test_settings_are_listed_read_and_set_also_for_a_topic(attn: Attn, home: Path) -> None:
    assert "new_per_day = 10" in attn("config").out
    assert attn("config", "new_per_day", "2").out == "new_per_day = 2\n"
    assert attn("config", "new_per_day").out == "2\n"
    assert attn("due", "--json").json["new"] == 2
    assert (home / "config.toml").read_text(encoding="utf-8") == "new_per_day = 2\n"
    assert attn("config", "topic_retention.ATT", "0.95").out == "topic_retention.att = 0.95\n"
    assert [attn("config", f"topic_retention.{topic}").out for topic in ("att", "kv")] == ["0.95\n", "0.9\n"]
    assert attn("config", "topic_retention").out == "att=0.95\n"
    written = (home / "config.toml").read_text(encoding="utf-8")
    assert written == "new_per_day = 2\n\n[topic_retention]\natt = 0.95\n"
    assert "did you mean att?" in attn("config", "topic_retention.atn", "0.9").line
    assert attn("config", "topic_retention.att", "").code == 0 and attn("config", "topic_retention").out == "\n"


def test_unusable_settings_are_one_line_and_a_broken_file_stays(attn: Attn, home: Path) -> None:
    for words, said in (("lan", "did you mean lang"), ("lan zh", "did you mean lang"), ("fuzz perhaps", "use true or")):
        refused = attn("config", *words.split())
        assert refused.code == 2 and said in refused.line
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("lang = \n", encoding="utf-8")
    assert attn("due").code == 2 and "fix or delete it" in attn("due").line
    assert (home / "config.toml").read_text(encoding="utf-8") == "lang = \n"


def test_language_and_home_can_be_set_for_one_call(attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert attn("--version").out == f"attn {__version__}\n"
    assert attn("--lang", "zh", "due").out == attn("due", "--lang", "zh").out != attn("due").out
    attn("answer", "att-01", "--rating", "good", "--home", str(tmp_path / "other"))
    assert attn("stats", "--json").json["reviews"] == 0
    assert attn("--home", str(tmp_path / "other"), "stats", "--json").json["reviews"] == 1
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = attn("--home", "", "due")
    assert result.code == 2 and "--home needs a folder" in result.line
    assert sorted(tmp_path.iterdir()) == before


def test_challenges_are_listed_started_and_have_hints_and_a_solution(attn: Attn, home: Path, tmp_path: Path) -> None:
    started = attn("start", "double")
    assert started.out.strip() == str(home / "solutions" / "double.py")
    refused = attn("start", "double")
    assert refused.code == 2 and str(home / "solutions" / "double.py") in refused.line
    assert "double.1.py" in attn("start", "double", "--force").err
    assert attn("start", "double", "--force", "--lang", "zh").err.startswith("原来的文件保存为")
    assert "Right for 0 and 2 only." in attn("start", "double", "--bug").err
    said = [attn("hint", "double").out for _ in range(4)]
    assert [hint[:11] for hint in said] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Hint 3 of 3"]
    assert "This was the last hint" in attn("hint", "double").err
    chinese = attn("hint", "double", "--lang", "zh").err
    assert "最后一条提示" in chinese and "`attn solution double`" in chinese
    assert attn("--home", tmp_path / "other", "hint", "double").err == ""
    assert "return x + x" in attn("solution", "double").out
    for command in ("start", "hint", "solution"):
        assert attn(command, "doubel").code == 2 and "did you mean double" in attn(command, "doubel").line
    (listed,) = attn("--home", tmp_path / "third", "challenges", "--json", "--lang", "zh").json
    seen = {"standing": "new", "due": None, "fixed": 0, "tests": "new"}
    assert listed == {"id": "double", "track": "basics", "level": 1, "title": "加倍", **seen}
    assert attn("challenges", "--track", "basics").out.startswith("double")
    assert attn("challenges", "--track", "basic").code == 2


def test_backup_and_restore(attn: Attn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attn("answer", "att-01", "--rating", "good")
    backup = tmp_path / "copy.jsonl"
    assert attn("backup", "-o", str(backup)).out.strip() == str(backup)
    assert json.loads(backup.read_text(encoding="utf-8"))["subject"] == "att-01"
    attn("undo")
    assert attn("restore", str(backup)).code == 0
    assert attn("stats", "--json").json["reviews"] == 1
    for words, said in [
        (["backup", "-o", str(backup)], "already exists"),
        (["backup", "-o", str(tmp_path / "nowhere" / "x.jsonl")], "there is no folder"),
        (["restore", str(tmp_path / "missing.jsonl")], "there is no file"),
        (["restore", str(Path(__file__))], "nothing was restored"),
        (["restore", str(tmp_path)], "is not a file; give one written by `attn backup`"),
    ]:
        assert attn(*words).code == 2 and said in attn(*words).line
    monkeypatch.chdir(tmp_path)
    assert (tmp_path / attn("backup").out.strip()).is_file(), "without a name it lies here"


def test_what_a_restore_took_away_is_said_and_can_be_brought_in_again(attn: Attn, tmp_path: Path) -> None:
    backup = tmp_path / "copy.jsonl"
    attn("answer", "att-01", "--rating", "good")
    attn("backup", "-o", str(backup))
    attn("answer", "att-02", "--rating", "good")
    kept_row = "1 earlier row is not in the backup: it is kept in "
    for lang, restored, imported in (
        ("en", f"Restored 1 row from {backup}\n{kept_row}", "1 new row\n"),
        ("zh", f"已从 {backup} 恢复 1 条记录\n", "新增 1 条记录\n"),
    ):
        told = attn("restore", str(backup), "--lang", lang)
        assert told.code == 0 and told.out.startswith(restored)
        kept = told.out.partition("attn import log ")[2].partition("`")[0]
        assert attn("stats", "--json").json["reviews"] == 1
        assert attn("import", "log", kept, "--lang", lang).out == imported
        assert attn("stats", "--json").json["reviews"] == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_no_room_for_an_export_is_a_failure_and_no_misuse(attn: Attn) -> None:
    attn("answer", "att-01", "--rating", "good")
    for export in ("log", "summary"):
        result = attn("export", export, "-o", "/dev/full")
        assert result.code == 3 and "cannot write /dev/full" in result.line and "free some disk space" in result.line


def test_sync_names_what_it_leaves_out_and_goes_on(attn: Attn, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    attn("answer", "att-01", "--rating", "good")
    for number in range(25):
        (shared / f"half-{number:02}.jsonl").write_text('{"id": "\x1b[31m')
    result = attn("sync", str(shared))
    lines = result.err.splitlines()
    assert result.code == 0 and len(lines) == 21 and lines[-1] == "skipped: 5 more"
    assert lines[0].startswith(f"skipped: {shared}/half-00.jsonl:1: not a history row") and "\x1b" not in result.err
    assert attn("sync", str(shared), "--lang", "zh").err.splitlines()[-1] == "已跳过：另有 5 处"


def test_sync_import_and_export_agree(attn: Attn, tmp_path: Path) -> None:
    shared, file = tmp_path / "shared", tmp_path / "log.jsonl"
    shared.mkdir()
    attn("answer", "att-01", "--rating", "good")
    assert attn("sync", str(shared)).code == 0
    (log,) = shared.glob("*.jsonl")
    other = ["--home", str(tmp_path / "other")]
    assert attn(*other, "import", "log", str(log)).out == "1 new row\n"
    assert attn(*other, "import", "log", str(log)).out == "0 new rows\n"
    assert attn(*other, "stats", "--json").json["reviews"] == 1
    log.write_text("garbage\n", encoding="utf-8")
    result = attn(*other, "import", "log", str(log))
    assert result.code == 2 and f"{log}:1:" in result.line
    assert attn("sync", str(tmp_path / "nowhere")).code == 2
    assert attn("export", "log", "-o", str(file)).err == f"1 row in {file}\n"
    assert attn("export", "log").out == attn("export", "reviews").out == file.read_text(encoding="utf-8")
    row = json.loads(file.read_text(encoding="utf-8"))
    assert (row["kind"], row["subject"], row["payload"]["rating"]) == ("review", "att-01", 3)
    assert attn("--home", str(tmp_path / "third"), "import", "log", str(file)).out == "1 new row\n"
    assert attn("export", "log", "-o", str(tmp_path / "nowhere" / "x")).code == 2


def test_doctor_reports_and_rebuilds(attn: Attn, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layers = {"available": True, "layers": ["process"], "missing": {"seccomp": "not here"}, "notes": ["a note"]}
    monkeypatch.setattr(zygote_client, "describe", lambda gpu=False: layers)
    attn("answer", "att-01", "--rating", "good")
    found = attn("doctor", "--json").json
    assert found["database"]["integrity"] == "ok" and found["database"]["rows"] == 1
    assert found["paths"]["home"] == str(home) and found["sandbox"] == layers
    assert "missing seccomp: not here" in attn("doctor").out
    assert "rebuilt 1 schedule" in attn("doctor", "--rebuild").err
    (tmp_path / "file").write_text("")
    result = attn("doctor", "--json", "--home", str(tmp_path / "file" / "below"))
    assert result.code == 3 and "--rebuild" not in result.line and "--home" in result.line
    assert result.json["database"]["integrity"] == "unusable"


def test_a_broken_own_bank_is_named_and_the_rest_works(attn: Attn, home: Path) -> None:
    (home / "banks").mkdir(parents=True)
    (home / "banks" / "mine.yaml").write_text("cards: [", encoding="utf-8")
    result = attn("due", "--json")
    assert result.code == 0 and result.json["due"] == 6
    assert "mine.yaml:1:" in result.err and len(result.err.splitlines()) == 1
    assert attn("due", "--lang", "zh").err.startswith("attn: 已跳过：") and attn("due").err.startswith(
        "attn: skipped: "
    )
    assert "unknown card nope" in attn("show", "nope").line, "a failure keeps to its own line"
