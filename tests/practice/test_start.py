"""Starter files, planted bugs and statements of challenges; the file that is open in the app."""

from __future__ import annotations

import ast
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli import paths
from attncli.bank.loader import CHALLENGE, load_challenge
from attncli.domain.card import Source
from attncli.domain.grade_report import GradeReport, LeftBug, RepairedBugs, read, report_document
from attncli.domain.log_row import RowKind, checked_line, row_of_line
from attncli.domain.statement import SharedFacts
from attncli.domain.text import cells
from attncli.errors import UsageError
from attncli.i18n import Localised
from attncli.paths import bundled_impl
from attncli.practice import start
from attncli.practice.challenges import ChallengeStatus, standings
from attncli.practice.grade import GradeOptions, record_attempt, request_for, settle, target
from attncli.practice.record import take_back
from attncli.practice.start import OpenFile, open_round, planted_in, start_challenge, starter
from attncli.practice.workspace import Workspace

from .conftest import Open

REFERENCE = '''\
"""The idea."""

import math
from typing import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SECRET = 3


def phi(x: Tensor) -> Tensor:
    return F.elu(x) + 1


class Norm(nn.Module):
    """Secret."""

    def __init__(self, d: int, eps: float = 1e-5) -> None:
        """Secret."""
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(
        self,
        x: Tensor,  # (B, T, D)
    ) -> Tensor:
        return self._scaled(x)

    def _scaled(self, x):
        return x * SECRET


def attend(q: Tensor, feature: Callable[[Tensor], Tensor] = phi) -> Tensor:
    return q
'''


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "reference.py"
    path.write_text(REFERENCE, encoding="utf-8")
    return path


def test_classes_keep_their_public_methods_without_bodies_and_only_what_is_needed_comes_along(reference: Path) -> None:
    text = starter(reference, ["Norm"], "Say.")
    ast.parse(text)
    assert "class Norm(nn.Module):" in text and "x: Tensor,  # (B, T, D)" in text and "eps: float = 1e-5" in text
    assert "_scaled" not in text and "SECRET" not in text and "Secret" not in text and "Parameter" not in text
    assert text.count("raise NotImplementedError") == 2
    text = starter(reference, ["attend"], "Say.")
    assert "def phi" in text and "import torch.nn.functional as F" in text and "Callable" in text
    assert "class Norm" not in text and "import math" not in text
    text = starter(reference, ["phi"], "S", ["import triton", "import triton.language as tl"])
    assert "import torch\nimport triton\nimport triton.language as tl\n\n\ndef phi" in text, "a kernel begins with them"


def test_statements_are_laid_out_and_quotes_cannot_end_the_docstring(reference: Path) -> None:
    long = "word " * 60 + "\n\n" + "注意力，" * 60
    text = starter(reference, ["attend"], f'Use """quotes""" and \\frac.\n\n{long}\n```python\n{"x" * 150}\n```')
    told = ast.get_docstring(ast.parse(text), clean=False)
    assert told is not None and "\\frac" in told and "x" * 150 in told
    assert all(len(line) <= 110 and not line.startswith("，") for line in told.splitlines() if "x" * 150 not in line)


@pytest.mark.parametrize("share", [8, pytest.param(1, marks=pytest.mark.full)])
def test_every_bundled_challenge_makes_sound_starters_and_bugs(share: int) -> None:
    """Of every `share` challenges one is taken, by what is in its reference."""
    folders = [path.parent for path in sorted(paths.bundled_impl().glob(f"*/*/{CHALLENGE}"))]
    taken = [at for at in folders if sha256((at / "reference.py").read_bytes()).digest()[0] % share == 0]
    assert len(taken) > 80 / share
    for folder in taken:
        (document,) = load_challenge(folder / CHALLENGE).documents
        for text in document["statement"].values():
            tree = ast.parse(starter(folder / "reference.py", document["entry"], text))
            defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
            assert set(document["entry"]) <= defined, folder.name
        for wrong in (folder / "wrong").glob("*.py"):
            told = ast.get_docstring(ast.parse(wrong.read_text(encoding="utf-8")))
            text = start.disguised(wrong, "Symptom.")
            ast.parse(text)
            assert told and told not in text, wrong


def lines_of(text: str) -> list[str]:
    value = ast.literal_eval(start.docstring(text))
    assert isinstance(value, str)
    return value.splitlines()


def test_lines_of_one_paragraph_are_filled_anew_and_items_of_a_list_stay_apart() -> None:
    assert lines_of("one\ntwo\n\nthree") == ["one two", "", "three"]
    assert lines_of("注意力，\n一次") == ["注意力，一次"]
    assert lines_of("注意力\nsdpa\n一次") == ["注意力 sdpa 一次"]
    lines = lines_of("`torch`、" * 40 + "注意力（`d`）" * 40 + "（见）" * 50)
    assert len(lines) > 6
    assert not any(line.startswith(("、", "）")) or line.endswith("（") for line in lines)
    text = "```\n1 1 0\n\n1 1 1\n```\n## Title\n| a | b |\n| --- | --- |\n$$\nx\n= y\n$$\n$$z$$\nend\nof it"
    assert lines_of(text) == [*text.splitlines()[:-2], "end of it"], "code, tables, headings and formulas stay"
    assert lines_of("All:\n- one\n  and a half\n- two\n1. three") == ["All:", "- one and a half", "- two", "1. three"]
    lines = lines_of("- " + "word " * 60 + "\n- " + "注意力，" * 60)
    assert len(lines) > 4 and all(line[:2] in ("- ", "  ") and cells(line) <= 110 for line in lines)
    assert [line[:2] for line in lines].count("- ") == 2


@given(st.text(alphabet="ab \"\\'\n一，（`-$|# ", max_size=60))
def test_any_text_is_a_docstring_with_all_its_letters(text: str) -> None:
    kept = "".join("\n".join(lines_of(text)).split())
    assert kept == "".join(text.replace('"""', "'''").split())


def test_a_file_without_its_docstring_is_its_code() -> None:
    for source, code in {
        '"""What is\nasked."""\n\nimport torch\n': "import torch\n",
        '# mine\n"""What is asked."""\r\nx = 1': "x = 1",
        '"""a\u2028b"""\nx = 1\n': "x = 1\n",
        '"""alone"""': "",
        **{whole: whole for whole in ('"""One"""; x = 1\n', 'x = 1\n"""no head"""\n', "")},
    }.items():
        assert start.without_docstring(source) == code


def test_facts_are_literals_at_the_top_of_the_inputs(tmp_path: Path) -> None:
    path, nothing = tmp_path / "inputs.py", SharedFacts()
    assert start.shared_facts(path) == nothing, "there need be no inputs"
    for source, facts in (
        ('SIXTEEN_BITS = "native"', SharedFacts(sixteen_bits="native")),
        ('SIXTEEN_BITS = "technique"', SharedFacts(sixteen_bits="technique")),
        ("FLOAT32_INSIDE = True", SharedFacts(sixteen_bits="float32")),
        ('ALIAS_ALLOWED = ("f",)', SharedFacts(may_return_argument=True)),
        ('VIEWS_OF_STATE = ("m",)', SharedFacts(shows_state=True)),
        *((unusual, nothing) for unusual in ("", "ALIAS_ALLOWED = ()", "SIXTEEN_BITS = {}[0]", "def (", "\0")),
        ('SIXTEEN_BITS = "natve"', nothing),
        ('SIXTEEN_BITS = ("bf16", "fp16")', nothing),
        ('def f():\n    SIXTEEN_BITS = "native"', nothing),
        ("import nothing_like_it\nraise SystemExit(3)", nothing),
    ):
        path.write_text(source, encoding="utf-8")
        assert start.shared_facts(path) == facts, source


FOLLOW_UPS = """\
follow_ups:
  - {ask: {en: And 0?, zh: 0 呢？}, answer: {en: It is 0., zh: 还是 0。}, card: att-01}
  - {ask: {en: And 1?, zh: 1 呢？}, answer: {en: It is 2., zh: 是 2。}}
  - {ask: {en: And 2?, zh: 2 呢？}, answer: {en: It is 4., zh: 是 4。}}
sources: [{id: "arxiv:1706.03762", where: Section 3}]
"""


def test_a_challenge_carries_its_follow_ups_and_sources(open_workspace: Open, small_impl: Path) -> None:
    plain = open_workspace().library.challenge("double")
    assert (plain.follow_ups, plain.sources) == ((), ())
    with (small_impl / "basics" / "double" / "challenge.yaml").open("a", encoding="utf-8") as yaml:
        yaml.write(FOLLOW_UPS)
    challenge = open_workspace().library.challenge("double")
    first, second, third = challenge.follow_ups
    assert (first.ask, first.card) == (Localised("And 0?", "0 呢？"), "att-01")
    assert (second.ask, second.card) == (Localised("And 1?", "1 呢？"), "")
    assert third.answer == Localised("It is 4.", "是 4。")
    assert challenge.sources == (Source("arxiv:1706.03762", "Section 3", ""),)


def test_a_statement_has_the_facts_of_the_challenge_s_inputs(open_workspace: Open, small_impl: Path) -> None:
    folder = small_impl / "basics" / "double"
    text = (folder / "challenge.yaml").read_text(encoding="utf-8")
    text = text.replace("[loads, matches-reference]", "[loads, matches-reference, low-precision]")
    text = text.replace("hints:", "hardened: {en: Twice 40000., zh: 40000 的两倍。}\nhints:", 1)
    (folder / "challenge.yaml").write_text(text, encoding="utf-8")
    (folder / "inputs.py").write_text('SIXTEEN_BITS = "native"\n', encoding="utf-8")
    workspace = open_workspace()
    parts = start.statement(workspace.library.challenge("double"))
    assert parts.first == Localised("Return twice the input.", "返回输入的两倍。")
    assert "torch.compile" in parts.everywhere.en
    assert "their own precision" in parts.hardened.en and parts.hardened.zh.endswith("\n\n40000 的两倍。")
    docstring = start_challenge(workspace, "double").path.read_text(encoding="utf-8")
    for part in ("Return twice the input.", "## Everywhere", "`torch.compile`", "## Hardened", "Twice 40000."):
        assert part in docstring


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "sdpa.py").write_text("one\n", encoding="utf-8")
    return tmp_path / "sdpa.py"


def test_what_is_saved_is_on_disk_and_read_again(path: Path) -> None:
    file = OpenFile(path)
    assert file.save("two 二\n") is None
    assert OpenFile(path).text == file.text == "two 二\n"
    path.write_text("same", encoding="utf-8")
    assert file.save("same") is None and list(path.parent.iterdir()) == [path], "there is nothing to keep"
    path.unlink()
    assert file.save("back") is None and path.read_text(encoding="utf-8") == "back"


def test_what_something_else_wrote_is_kept_under_a_free_name(path: Path) -> None:
    file = OpenFile(path)
    for number, other in enumerate(("theirs", "theirs again"), 1):
        path.write_text(other, encoding="utf-8")
        kept = file.save(f"mine {number}")
        assert kept == path.with_name(f"sdpa.other-{number}.py") and kept.read_text(encoding="utf-8") == other
        assert path.read_text(encoding="utf-8") == f"mine {number}"


@given(st.lists(st.tuples(st.booleans(), st.text(alphabet="ab\n中", max_size=6)), max_size=8))
def test_nothing_that_was_on_disk_is_lost_but_what_was_written_here(tmp_path_factory, acts) -> None:
    path = tmp_path_factory.mktemp("open") / "a.py"
    path.write_text("first", encoding="utf-8")
    file, others = OpenFile(path), set[str]()
    for is_other, text in acts:
        if is_other:
            path.write_text(text, encoding="utf-8", newline="")
        else:
            if (there := path.read_text(encoding="utf-8")) not in (file.text, text):
                others.add(there)
            file.save(text)
            assert path.read_text(encoding="utf-8") == text
    assert others <= {kept.read_text(encoding="utf-8") for kept in path.parent.glob("a.other-*.py")}


def test_what_cannot_be_opened_or_written_is_told(path: Path) -> None:
    file = OpenFile(path)
    with pytest.raises(UsageError, match=r"cannot read .*gone.py \(No such file or directory\); make it readable"):
        OpenFile(path.with_name("gone.py"))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text; open it in another editor"):
        OpenFile(path)
    path.write_bytes(b"x" * (start.LARGEST_BYTES + 1))
    with pytest.raises(UsageError, match="is larger than 256 KiB; open it in another editor"):
        OpenFile(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="Is a directory"):
        file.save("typed")
    assert file.text == "one\n"


@pytest.fixture
def small_impl(small_impl: Path) -> Path:
    for folder in ("attention/sdpa", "attention/causal-mask"):
        shutil.copytree(bundled_impl() / folder, small_impl / folder)
    (small_impl / "attention" / "causal-mask" / "repairs.yaml").unlink(missing_ok=True)
    return small_impl


def report(verdict: str = "accepted", repaired: RepairedBugs | None = None) -> GradeReport:
    rung = "hardened" if verdict == "accepted" else "none"
    found = replace(read(GradeReport, {"challenge": "sdpa", "verdict": verdict, "rung": rung}), repaired=repaired)
    assert read(GradeReport, report_document(found)) == found
    return found


def sdpa(workspace: Workspace) -> ChallengeStatus:
    return next(found for found in standings(workspace) if found.challenge.id == "sdpa")


def graded(workspace: Workspace, path: Path, verdict: str, **options: Any) -> None:
    settle(workspace, request_for(workspace, "sdpa", path, GradeOptions(**options)), report(verdict))


def test_a_round_is_the_reference_with_so_many_bugs_and_says_so_but_not_which(open_workspace: Open) -> None:
    workspace = open_workspace()
    started = start_challenge(workspace, "sdpa", repair=3)
    text = started.path.read_text(encoding="utf-8")
    (row,) = workspace.store.log.of_kind(RowKind.START)
    assert started.bugs == 3 and len(row.repairs) == 3 and row.is_planted
    assert "this file has 3 bugs" in text and "attn grade sdpa sdpa.repair.py" in text
    assert not any(name in text for name in row.repairs)
    assert "so that their variance does not grow" not in text and "def sdpa" in ast.unparse(ast.parse(text))
    assert row_of_line(checked_line(row)) == row
    one = start_challenge(workspace, "sdpa", repair=1, force=True)
    assert "this file has 1 bug" in one.path.read_text(encoding="utf-8")
    chinese = start_challenge(open_workspace("other", lang="zh"), "sdpa", repair=2)
    assert "这个文件里有 2 处错误" in chinese.path.read_text(encoding="utf-8")


def test_rounds_take_turns_and_a_number_gives_the_same_round_again(workspace: Workspace) -> None:
    for number, seed in enumerate((None, None, 7, 7)):
        start_challenge(workspace, "sdpa", workspace.home.root / str(number), repair=2, seed=seed)
    drawn = [row.repairs for row in workspace.store.log.of_kind(RowKind.START)]
    assert drawn[0] != drawn[1] and drawn[2] == drawn[3]


def test_what_a_challenge_does_not_offer_is_refused_before_anything_is_written(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"causal-mask has no repair round; use --bug, or --repair with one of sdpa"):
        start_challenge(workspace, "causal-mask", repair=2)
    for count in (0, 5, -1):
        with pytest.raises(UsageError, match=f"sdpa has 1 to 4 bugs, not {count}; use --repair 1 to 4"):
            start_challenge(workspace, "sdpa", repair=count)
    assert not workspace.home.solutions.exists() and not workspace.store.log.of_kind(RowKind.START)


def test_an_existing_file_is_kept_and_stays_what_it_was_under_its_new_name(workspace: Workspace) -> None:
    first = start_challenge(workspace, "sdpa", repair=3)
    with pytest.raises(UsageError, match="already exists; use --force"):
        start_challenge(workspace, "sdpa", repair=2)
    second = start_challenge(workspace, "sdpa", repair=2, force=True)
    challenge = workspace.library.challenge("sdpa")
    found = planted_in(workspace, challenge, second.path)
    assert found is not None and len(found.bugs) == 2
    kept = planted_in(workspace, challenge, second.kept)
    assert kept is not None and len(kept.bugs) == len(kept.repairs) == 3
    assert first.path == second.path and planted_in(workspace, challenge, Path("elsewhere.py")) is None


def test_the_judge_is_told_of_the_bugs_of_the_file_alone(workspace: Workspace) -> None:
    path = start_challenge(workspace, "sdpa", repair=2).path
    request = request_for(workspace, "sdpa", path, GradeOptions())
    assert len(request.bugs) == 2 and [repair.wrong for repair in request.repairs] == list(request.bugs)
    mine = workspace.home.root / "mine.py"
    mine.write_text("x = 1\n")
    plain = request_for(workspace, "sdpa", mine, GradeOptions())
    assert plain.bugs == () and plain.repairs == ()


def test_a_single_bug_of_the_second_rung_is_asked_for_there(workspace: Workspace) -> None:
    wrong = sorted((bundled_impl() / "attention" / "sdpa" / "wrong").glob("*.py"))
    rungs = {}
    for _ in wrong:
        path = start_challenge(workspace, "sdpa", bug=True, force=True).path
        request = request_for(workspace, "sdpa", path, GradeOptions(rung="solved"))
        rungs[request.bugs[0]] = request.options.rung
    mistakes = workspace.library.challenge("sdpa").mistakes
    assert rungs == {name: mistakes[name].rung for name in rungs} and len(rungs) == len(wrong)


@pytest.mark.parametrize("how", [{"bug": True}, {"repair": 2}])
def test_a_round_is_open_until_it_is_fixed_and_counts_apart(workspace: Workspace, how: dict[str, Any]) -> None:
    own, challenge = start_challenge(workspace, "sdpa").path, workspace.library.challenge("sdpa")
    own.write_text("mine = 1\n")
    assert open_round(workspace, challenge) is None and target(workspace, "sdpa", None) == ("sdpa", own)
    started = start_challenge(workspace, "sdpa", **how)
    assert open_round(workspace, challenge) == started and target(workspace, "sdpa", None)[1] == started.path
    graded(workspace, started.path, "rejected")
    assert open_round(workspace, challenge) == started
    assert (sdpa(workspace).standing, sdpa(workspace).fixed, sdpa(workspace).attempts) == ("new", 0, 0)
    for _ in range(2):
        graded(workspace, started.path, "accepted")
        assert open_round(workspace, challenge) is None and target(workspace, "sdpa", None) == ("sdpa", own)
        found = sdpa(workspace)
        assert (found.standing, found.fixed, found.attempts, found.schedule) == ("new", 1, 0, None)
    assert found.document("en")["fixed"] == 1 and own.read_text() == "mine = 1\n"
    start_challenge(workspace, "sdpa", force=True, **how)
    graded(workspace, started.path, "accepted")
    assert sdpa(workspace).fixed == 2
    take_back(workspace)
    assert sdpa(workspace).fixed == 1


def test_a_round_changes_nothing_about_attempts_before_and_after(workspace: Workspace) -> None:
    start_challenge(workspace, "sdpa")
    record_attempt(workspace, report(), "a = 1")
    before = sdpa(workspace).schedule
    graded(workspace, start_challenge(workspace, "sdpa", repair=2).path, "rejected")
    assert sdpa(workspace).schedule == before
    graded(workspace, start_challenge(workspace, "sdpa", force=True).path, "accepted")
    assert (sdpa(workspace).standing, sdpa(workspace).fixed, sdpa(workspace).attempts) == ("hardened", 0, 2)


def test_the_log_keeps_which_bugs_were_left_and_another_machine_takes_it(workspace: Workspace) -> None:
    path = start_challenge(workspace, "sdpa", repair=2).path
    graded(workspace, path, "accepted", record=False)
    assert workspace.store.log.of_kind(RowKind.REPAIR) == [] and sdpa(workspace).fixed == 0
    request = request_for(workspace, "sdpa", path, GradeOptions())
    left = RepairedBugs(2, (LeftBug(request.bugs[0], Localised("It shows.", "表现。")),))
    settle(workspace, request, report("rejected", left))
    (row,), (begun,) = (workspace.store.log.of_kind(kind) for kind in (RowKind.REPAIR, RowKind.START))
    assert row.payload["left"] == [request.bugs[0]] and row.works_on == begun.id and row.fixes == ""
    assert row_of_line(checked_line(row)) == row
