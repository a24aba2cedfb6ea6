"""Show hostile banks, challenges and logs with every command that prints text: only text reaches the terminal."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from attncli import paths
from attncli.commands.grade import print_report
from attncli.domain.grade_report import GradeReport, read
from attncli.domain.log_row import CONTROLS
from attncli.domain.text import hidden_in
from attncli.practice.grade import record_attempt
from attncli.practice.workspace import Workspace

from .conftest import Attn

BANKS = Path(__file__).parents[1] / "attacks" / "banks"
HOSTILE = "\u202e\u2066\u200b\U000e0041"
CHALLENGE = f"""\
level: 1
title: {{en: "Own {HOSTILE}title", zh: "自己的{HOSTILE}"}}
entry: [own]
statement: {{en: "Say {HOSTILE}.", zh: "说{HOSTILE}。"}}
hints: [{{en: "Hint {HOSTILE}here", zh: "提示{HOSTILE}"}}]
required: [loads]
"""
MISTAKE = f'''"""Says {HOSTILE}
说{HOSTILE}

symptom: Symptom {HOSTILE}
症状：现象{HOSTILE}

rung: solved
"""
'''
COMMENT = f"\x1b]0;pwned\x07\x1b[31m red {HOSTILE} </code><script>alert(1)</script>"
REFERENCE = f'"""Own."""\n\n\ndef own(x):\n    return x  # {COMMENT}\n'
KEPT = REFERENCE.replace("\x1b", r"\x1b").replace("\x07", r"\x07")
"""The reference as stored on submission, with its control characters escaped."""


@pytest.fixture
def hostile_home(home: Path) -> Path:
    shutil.copytree(BANKS, home / "banks")
    folder = home / "challenges" / "mine" / "own"
    (folder / "wrong").mkdir(parents=True)
    (folder / "challenge.yaml").write_text(CHALLENGE, encoding="utf-8")
    (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
    (folder / "wrong" / "wrong.py").write_text(f"{MISTAKE}{REFERENCE}", encoding="utf-8")
    return home


CALLS = """\
due|due --json|cards|cards --json|cards --topic zz|show zz-01 --json|show bidi-01 --lang zh|stats|\
stats --json|bank check|bank check --json|challenges|challenges --json|hint own|solution own|\
start own --bug --force|suspend zz-01|answer bidi-01 --rating again|doctor|config""".split("|")
CALLS += [f"show {card}" for card in ("bidi-01", "evil-01", *(f"zz-0{number}" for number in range(1, 7)))]
CALLS += [f"show no\x1b[31m{HOSTILE}such", f"no{HOSTILE}such"]


def test_nothing_but_text_is_printed(attn: Attn, hostile_home: Path) -> None:
    done = attn("review", "--plain", "--topic", "zz", stdin="\n" * 60)
    assert "[bold @click=app.quit]Why[/] [/x]" in done.out and done.out.count("[/x]") > 10
    assert hidden_in(done.out + done.err) == []
    for call in CALLS:
        done = attn(*call.split(" "))
        assert hidden_in(done.out + done.err) == [], call
        assert done.out or done.code
        assert done.code in ((1, 2) if call.startswith("bank") or "such" in call else (0,)), done.err
    shown = attn("show", "bidi-01", "--json")
    assert "\\u202e" in shown.out and shown.json["question"]["en"] == "Why \u202e\u2066x?", "JSON keeps what it escapes"


def test_on_a_terminal_a_link_shows_its_target(attn: Attn, hostile_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attncli.commands.cards.on_terminal", lambda: True)
    shown = attn("show", "zz-01").out
    assert not set(shown) & {"\u202e", "\u2066", "\x07"} and "\x1b]" not in shown
    assert "https://evil.example/x" in shown.replace("\n", "")


@pytest.fixture
def solved(attn: Attn, hostile_home: Path) -> None:
    """Log a hostile solution, and a lapse of a hostile card."""
    attn("answer", "bidi-01", "--rating", "again")
    report = GradeReport(challenge="own", file="x.py", verdict="accepted", rung="hardened")
    with Workspace.open(paths.Home(hostile_home), lambda: datetime.now(UTC)) as workspace:
        record_attempt(workspace, report, REFERENCE)


@pytest.mark.usefixtures("solved")
def test_a_summary_and_the_exported_log_hold_the_code_and_nothing_hidden(attn: Attn, tmp_path: Path) -> None:
    for form, lang in (("md", "en"), ("html", "en"), ("html", "zh"), ("json", "zh")):
        file = tmp_path / f"summary.{form}"
        assert attn("export", "summary", "--lang", lang, "-o", str(file)).code == 0
        printed = attn("export", "summary", "--lang", lang, "--format", form).out
        for text in (file.read_text(encoding="utf-8"), printed):
            assert hidden_in(text) == []
            bare = re.sub(r"</?span[^>]*>", "", text)  # a page colours its code
            assert "def own(x):" in bare and "]0;pwned" in bare
            assert ("&lt;script&gt;" if form == "html" else "<script>") in bare
        if form == "json":
            (item,) = json.loads(printed)["solved"]
            assert item["source"] == KEPT.rstrip() and CONTROLS.search(item["source"]) is None
    printed = attn("export", "log").out
    assert hidden_in(printed) == []
    rows = [json.loads(line) for line in printed.splitlines()]
    assert [row["payload"]["source"] for row in rows if row["kind"] == "attempt"] == [KEPT]


def test_a_report_steers_no_terminal(attn: Attn, hostile_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads((BANKS.parent / "hostile_report.json").read_text(encoding="utf-8"))
    attn("due")
    with Workspace.open(paths.Home(hostile_home), lambda: datetime.now(UTC)) as workspace:
        challenge = workspace.library.challenge("own")
    for lang in ("en", "zh"):
        print_report(read(GradeReport, report), challenge, lang)
    printed = capsys.readouterr().out
    assert printed.count("[/x]key") == 2
    assert hidden_in(printed) == []
