"""`attn ladder`: which pieces run, the engine's results, and which piece breaks it, in both languages and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree

import pytest

import attncli.ladder
from attncli import paths
from attncli.domain.grade_report import GradeReport
from attncli.ladder import Difference, Engines, Files, Part
from attncli.practice.grade import record_attempt
from attncli.practice.workspace import Workspace
from attncli.sandbox.zygote_client import ZygoteClient

from .conftest import Attn

pytestmark = [
    pytest.mark.slow,
    pytest.mark.sandbox,
    pytest.mark.skipif(sys.platform != "linux", reason="workers want Linux"),
]

ROOT = Path(__file__).parents[2]
IMPL = ROOT / "impl"
RIGHT = {"rope": IMPL / "positions/rope/right/rotate-half.py", "gqa": IMPL / "cache/gqa/right/vmap.py"}
WRONG = IMPL / "norms" / "rms-norm" / "wrong" / "no-weight.py"
known_runs: dict[tuple[tuple[str, str], ...], tuple[list[Part], Difference | None]] = {}


class KnownEngines(Engines):
    """Engines that run each mix of pieces once."""

    def run(self, own: Mapping[str, str]) -> tuple[list[Part], Difference | None]:
        key = tuple(own.items())
        if key not in known_runs:
            known_runs[key] = super().run(own)
        return known_runs[key]


@pytest.fixture(scope="module")
def zygote() -> Iterator[ZygoteClient]:
    with ZygoteClient.start() as started:
        started.ready()
        yield started


@pytest.fixture(scope="module")
def engines(zygote: ZygoteClient) -> Engines:
    return KnownEngines(Files(IMPL), zygote.worker)


@pytest.fixture
def ladder(bundled_attn: Attn, zygote: ZygoteClient, engines: Engines, monkeypatch: pytest.MonkeyPatch) -> Attn:
    """`ladder(home, …)` runs `attn ladder` over the real challenges."""
    monkeypatch.setattr(ZygoteClient, "start", lambda: nullcontext(zygote))
    monkeypatch.setattr(attncli.ladder, "Engines", lambda *_: engines)
    return lambda home, *words: bundled_attn("--home", home, "ladder", *words)


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory, indexed_home: Path) -> Path:
    """Return the folder of a learner who has solved two pieces and tried a third."""
    home = copytree(indexed_home, tmp_path_factory.mktemp("learner") / "home")
    with Workspace.open(paths.Home(home), lambda: datetime(2026, 5, 1, 9, tzinfo=UTC)) as workspace:
        for id, file in RIGHT.items():
            report = GradeReport(challenge=id, file=str(file), verdict="accepted", rung="solved")
            record_attempt(workspace, report, file.read_text(encoding="utf-8"))
        report = GradeReport(challenge="rms-norm", file=str(WRONG), verdict="rejected", rung="none")
        record_attempt(workspace, report, WRONG.read_text(encoding="utf-8"))
    return home


def test_whoever_has_solved_nothing_is_told_how_to_begin(ladder: Attn, home: Path) -> None:
    done = ladder(home)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0].split() == ["role", "piece", "source", "calls", "in", "the", "engine"]
    assert done.out.count(" reference ") == 20
    assert "The engine works." in done.out
    assert "attn start input-embedding" in done.out.splitlines()[-1]


@pytest.mark.full
def test_solved_pieces_have_their_seats_and_what_was_only_tried_has_none(ladder: Attn, learner: Path) -> None:
    done = ladder(learner, "--json")
    assert (done.code, done.err) == (0, "")
    told = done.json
    assert told["verdict"] == "right" and told["broken"] == []
    own = {piece["id"]: piece["from"]["rung"] for piece in told["pieces"] if piece["own"]}
    assert own == {"rope": "solved", "gqa": "solved"}
    assert {piece["status"] for piece in told["pieces"]} == {"right", "reference"}
    assert all(piece["calls"] > 0 for piece in told["pieces"])
    assert told["loss"][0] > told["loss"][1] > 0
    assert told["tokens"]["generated"] > 0 and told["tokens"]["found"] > 0
    assert told["sample"] and "process" in told["sandbox"]


@pytest.mark.full
def test_a_file_that_breaks_the_engine_is_named_with_the_place_in_both_languages(ladder: Attn, learner: Path) -> None:
    done = ladder(learner, "--piece", f"rms-norm={WRONG}")
    assert done.code == 1
    assert "rms-norm: training: the output of the first block" in done.out.splitlines()
    assert done.line.startswith("attn: the engine fails because of rms-norm; run attn grade")
    (row,) = [line for line in done.out.splitlines() if line.split()[1:2] == ["rms-norm"]]
    assert row.split()[-2:] == ["BREAKS", "IT"]
    chinese = ladder(learner, "--piece", f"rms-norm={WRONG}", "--json", "--lang", "zh")
    (blame,) = json.loads(chinese.out)["broken"]
    assert chinese.code == 1
    told = {"pieces": ["rms-norm"], "part": "training", "place": "block-a", "number": 0, "reason": None}
    assert blame == {**told, "says": "训练：第一个 block 的输出"}


def test_a_call_that_makes_no_sense_is_refused(ladder: Attn, home: Path) -> None:
    for piece, says in (
        ("rope", "--piece rope has no file; write it as --piece rope=rope.py"),
        ("roper=x.py", "the engine has no piece roper; did you mean rope?"),
        ("zzz=x.py", "the engine has no piece zzz; use one of input-embedding, "),
        ("rope=nowhere.py", "there is no file nowhere.py"),
    ):
        done = ladder(home, "--piece", piece)
        assert done.code == 2 and says in done.line
