"""`attn experiment`: the list, a run with its exit code, JSON, the picture, and Ctrl-C."""

from __future__ import annotations

import fcntl
import signal
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from attncli.commands import experiments

from .conftest import Attn, Program
from .test_imports import loaded_by

TOY = '''\
"""A toy."""

TITLE = {"en": "Toy", "zh": "玩具"}
CLAIM = {"en": "Seeds are small.", "zh": "种子很小。"}
CARDS = ("att-01", "att-02")
CAVEATS = ({"en": "Only a toy.", "zh": "只是玩具。"},)
SEEDS = 3
SECONDS = (1, 2)


def both(en, zh):
    return {"en": en, "zh": zh}


def run(seed, quick, progress):
    series = {"name": both("s", "系列"), "y": [seed + 1]}
    return {
        "columns": [both("seed", "种子"), both("quick", "快速")],
        "rows": [[seed, quick]],
        "plots": [{"kind": "bar", "title": both("Plot", "图"), "x": ["x"], "series": [series]}],
        "checks": [{"says": both("the seed", "种子"), "holds": seed < LIMIT, "got": str(seed), "due": f"< {LIMIT}"}],
        "seen": both(f"it was {seed}.", f"种子为 {seed}。"),
    }


LIMIT = 9
'''
ENDLESS = """\
def run(seed, quick, progress):
    import fcntl, time
    fcntl.flock(held := open({lock!r}, "w"), fcntl.LOCK_EX)
    while True:
        time.sleep(1)
"""


@pytest.fixture
def toy(small_impl: Path) -> Path:
    folder = small_impl / "experiments"
    folder.mkdir()
    (folder / "toy.py").write_text(TOY, encoding="utf-8")
    return folder / "toy.py"


def test_without_an_id_they_are_listed(attn: Attn, toy: Path) -> None:
    done = attn("experiment")
    assert (done.code, done.err) == (0, "")
    assert done.out == "experiment  title  quick  full  cards\ntoy         Toy      1 s   2 s  att-01 att-02\n"
    assert attn("--lang", "zh", "experiment").out.splitlines()[1] == "toy   玩具  1 秒  2 秒  att-01 att-02"
    (entry,) = attn("experiment", "--json").json
    seconds = {"quick": 1.0, "full": 2.0}
    told = {"id": "toy", "title": "Toy", "claim": "Seeds are small.", "cards": ["att-01", "att-02"]}
    assert entry == {**told, "seconds": seconds, "seeds": 3}


def test_a_claim_that_shows_ends_with_0_and_has_its_picture(attn: Attn, toy: Path, tmp_path: Path) -> None:
    file = tmp_path / "plot.svg"
    done = attn("experiment", "toy", "-o", str(file))
    assert (done.code, done.err) == (0, f"wrote the plot to {file}\n")
    assert ElementTree.parse(file).getroot().tag.endswith("svg")
    lines = done.out.splitlines()
    assert lines[:2] == ["Toy", "Claimed: Seeds are small."]
    rows = [[str(seed), str(seed), "no"] for seed in range(3)]
    assert [line.split() for line in lines[3:7]] == [["seed", "seed", "quick"], *rows]
    assert "holds  the seed: 0 / 1 / 2 (expected: < 9)" in lines
    assert lines[-3:] == ["Note: Only a toy.", "", "As claimed in 3 of 3 seeds: it was 0."]
    lines = attn("experiment", "toy", "--lang", "zh").out.splitlines()
    assert lines[:2] == ["玩具", "论断：种子很小。"]
    assert "成立  种子：0 / 1 / 2（应为 < 9）" in lines
    assert lines[-1] == "与论断相符（3 个种子中的 3 个）：种子为 0。"


def test_a_claim_of_which_a_part_was_not_run_is_shown_in_part(attn: Attn, toy: Path) -> None:
    skipped = '"skipped": {"en": "odd seeds", "zh": "奇数种子"}, "seen":'
    toy.write_text(TOY.replace('"seen":', skipped), encoding="utf-8")
    done = attn("experiment", "toy", "--quick")
    assert (done.code, done.out.splitlines()[-1]) == (0, "As claimed, in part (not run: odd seeds): it was 0.")
    assert attn("experiment", "toy", "--quick", "--json").json["skipped"] == "odd seeds"
    chinese = attn("experiment", "toy", "--quick", "--lang", "zh").out.splitlines()[-1]
    assert chinese == "与论断部分相符（未运行：奇数种子）：种子为 0。"


def test_one_seed_that_does_not_show_it_is_enough_for_1_but_the_quick_form_runs_one(attn: Attn, toy: Path) -> None:
    toy.write_text(TOY.replace("LIMIT = 9", "LIMIT = 2"), encoding="utf-8")
    done = attn("experiment", "toy")
    assert done.line == ("attn: toy: the claim does not hold: the seed, got 0 / 1 / 2, due < 2; see the table above")
    assert done.code == 1
    assert "FAILS  the seed: 0 / 1 / 2 (expected: < 2)" in done.out
    assert done.out.splitlines()[-1] == "Not as claimed in 1 of 3 seeds: it was 2."
    done = attn("experiment", "toy", "--quick")
    assert (done.code, done.out.splitlines()[-1]) == (0, "As claimed: it was 0.")


def test_a_text_is_handed_to_an_experiment_that_looks_at_one(attn: Attn, toy: Path) -> None:
    refused = attn("experiment", "toy", "text")
    assert (refused.code, refused.out) == (2, "")
    assert "toy takes no text; leave it out, or run attn experiment attention-map" in refused.err
    text = TOY.replace("progress):", "progress, text):").replace("it was {seed}.", "it was {text}.")
    toy.write_text(text + 'TEXT = {"en": "a cat", "zh": "一只猫"}\n', encoding="utf-8")
    assert attn("experiment", "toy", "--quick").out.splitlines()[-1] == "As claimed: it was a cat."
    assert attn("experiment", "toy", "猫 and 狗", "--quick").out.splitlines()[-1] == "As claimed: it was 猫 and 狗."
    for text, said in ((" ", "the text is empty; give one"), ("x" * 401, "has 401 characters; use at most 400")):
        refused = attn("experiment", "toy", text)
        assert (refused.code, refused.out) == (2, "") and said in refused.err


def test_json_is_one_document_whatever_the_outcome(attn: Attn, toy: Path) -> None:
    plot = {"kind": "bar", "title": "Plot", "x": ["x"], "series": [{"name": "s", "y": [1]}], "log": ""}
    for limit, code in ((9, 0), (1, 1)):
        toy.write_text(TOY.replace("LIMIT = 9", f"LIMIT = {limit}"), encoding="utf-8")
        done = attn("experiment", "toy", "--json")
        assert (done.code, done.json["holds"], done.json["seeds"][0]["plots"]) == (code, code == 0, [plot])
        assert [seed["holds"] for seed in done.json["seeds"]] == [seed < limit for seed in range(3)]
        assert (done.json["caveats"], done.json["quick"]) == (["Only a toy."], False)


def test_what_cannot_be_used_is_told_before_anything_is_run_and_death_ends_with_3(attn: Attn, toy: Path) -> None:
    toy.write_text(TOY.replace("    series =", "    raise RuntimeError('no')\n    series ="), encoding="utf-8")
    for words, said in (
        (["toi"], "there is no experiment toi; did you mean toy?"),
        (["toy", "-o", "plot.png"], "plot.png is not an .svg file; plots are SVG only"),
        (["toy", "-o", "nowhere/at/all.svg"], "cannot write nowhere/at/all.svg (there is no folder"),
        (["--quick"], "list them with `attn experiment`"),
        (["toy", "two", "three"], "unexpected extra argument (three)"),
    ):
        done = attn("experiment", *words)
        assert (done.code, done.out) == (2, "") and said in done.line
    done = attn("experiment", "toy")
    assert (done.code, done.out, done.line) == (3, "", "attn: experiment toy.py:16: RuntimeError: no")


def test_progress_is_told_on_a_terminal_alone(attn: Attn, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.write_text(TOY.replace("    series =", "    progress(0.5)\n    series ="), encoding="utf-8")
    assert attn("experiment", "toy", "--quick").err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    told: list[str] = []
    monkeypatch.setattr(experiments, "show_progress", told.append)
    attn("experiment", "toy", "--quick")
    assert told == ["toy …", "toy 50%", ""]


def test_the_command_itself_loads_neither_torch_nor_rich(program: Program, toy: Path) -> None:
    assert loaded_by(program, "experiment", "toy", "--quick") <= {"click"}


def test_ctrl_c_ends_the_experiment_too(program: Program, toy: Path, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    toy.write_text(TOY.partition("def both")[0] + ENDLESS.format(lock=str(lock)), encoding="utf-8")
    process = program("experiment", "toy")
    assert waited_for(lambda: lock.exists() and not free(lock))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "attn: interrupted; everything recorded so far is kept\n")
    assert waited_for(lambda: free(lock))


def free(lock: Path) -> bool:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def waited_for(condition) -> bool:
    return any(condition() or time.sleep(0.05) for _ in range(1200))
