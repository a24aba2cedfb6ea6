"""Shared fixtures: a small bank, a small challenge, and a clock that tests move."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hypothesis import HealthCheck, settings

from attncli import i18n
from attncli.__main__ import main
from attncli.judge.client import Judge
from attncli.store.connection import Connection
from moved_clock import Clock

# Without a GPU, kernels are interpreted. Triton settles that when it is imported, which torch.utils.flop_counter does
# for the judge: no test may import that before this line.
if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")

# Apps that tests start have no animations.
os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")

# What a script starts in the background ignores interrupts, and what a test starts would ignore them too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What `make` and the build compile, for whoever runs pytest by itself.
for catalogue in i18n.CATALOGUE.parent.glob("*.po"):
    compiled = catalogue.with_suffix(".mo")
    if not compiled.exists() or compiled.stat().st_mtime < catalogue.stat().st_mtime:
        beside = compiled.with_suffix(f".{os.getpid()}")
        with catalogue.open("rb") as source, beside.open("wb") as target:
            write_mo(target, read_po(source))
        beside.replace(compiled)

# No test depends on how fast the machine is.
settings.register_profile("attn", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("attn")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the tests marked `full` too")


@pytest.hookimpl(trylast=True)  # after syrupy's: snapshots of deselected tests are not unused
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all"):
        left_out = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


def pytest_collection_finish() -> None:
    """Leave what was imported out of every further garbage collection: torch and Textual make a million objects."""
    gc.collect()
    gc.freeze()


CARDS = {
    "att": """\
topic: att
licence: CC-BY-4.0
title: {en: Attention, zh: 注意力}
cards:
  - id: att-01
    kind: qa
    level: screen
    core: true
    question: {en: Why divide by the root of d?, zh: 为什么除以 √d？}
    short: {en: It keeps the variance at one., zh: 让方差保持为一。}
    explain: {en: "The variance of a dot product is d.", zh: "点积的方差是 d。"}
    points:
      - {en: variance is d, zh: 方差是 d}
      - {en: softmax saturates, zh: softmax 饱和}
      - {en: gradients vanish, zh: 梯度消失}
  - id: att-02
    kind: choice
    level: screen
    question: {en: Which is permutation equivariant?, zh: 哪个是置换等变的？}
    options:
      - {text: {en: attention, zh: 注意力}, correct: true}
      - {text: {en: a convolution, zh: 卷积}, why_not: {en: It sees neighbours., zh: 它看邻居。}}
      - {text: {en: an LSTM, zh: LSTM}, why_not: {en: It sees the order., zh: 它看顺序。}}
    explain: {en: No positions inside., zh: 内部没有位置。}
  - id: att-03
    kind: cloze
    level: onsite
    question: {en: "Scores are ____ over ____.", zh: "分数是 ____ 除以 ____。"}
    blanks:
      - {answer: "QK^T", accept: ["Q K^⊤"]}
      - {answer: "sqrt(d)", form: algebra, variables: [d]}
    explain: {en: By definition., zh: 定义。}
""",
    "kv": """\
topic: kv
licence: CC-BY-4.0
title: {en: KV cache, zh: KV 缓存}
cards:
  - id: kv-01
    kind: numeric
    level: screen
    core: true
    question: {en: "{{layers}} layers in {{dtype}}: how many GiB?", zh: "{{layers}} 层、{{dtype}}：多少 GiB？"}
    parameters:
      layers: [2, 4]
      dtype: {bf16: 2, fp8: 1}
    compute: layers * dtype * 2 ** 30
    compute_unit: B
    unit: GiB
    tolerance: 2%
    explain: {en: Multiply., zh: 相乘。}
  - id: kv-02
    kind: ordering
    level: onsite
    question: {en: Order the steps of decoding., zh: 排列解码的步骤。}
    items:
      - {key: prefill, text: {en: prefill, zh: 预填充}}
      - {key: decode, text: {en: decode, zh: 解码}}
      - {key: detokenise, text: {en: detokenise, zh: 还原文本}}
    before: [[prefill, decode], [decode, detokenise]]
    explain: {en: One after the other., zh: 依次进行。}
  - id: kv-03
    kind: debug
    level: onsite
    question: {en: Which line is wrong?, zh: 哪一行有错？}
    code: |
      k = torch.cat([cache, k], dim=1)
      v = torch.cat([cache, v], dim=2)
    lines: [1]
    symptom: {en: Shapes differ., zh: 形状不一致。}
    fix: {en: "k = torch.cat([cache, k], dim=2)", zh: "k = torch.cat([cache, k], dim=2)"}
    explain: {en: Time is dimension 2., zh: 时间是第 2 维。}
""",
}

CHALLENGE = """\
level: 1
title: {en: Doubling, zh: 加倍}
entry: [double]
statement: {en: "Return twice the input.", zh: "返回输入的两倍。"}
hints:
  - {en: Add., zh: 相加。}
  - {en: Add it to itself., zh: 与自身相加。}
  - {en: "x + x", zh: "x + x"}
required: [loads, matches-reference]
"""
REFERENCE = '''\
"""Twice the input."""

from __future__ import annotations

import math

from torch import Tensor


def double(x: Tensor, times: float = math.pi) -> Tensor:
    """Doubles."""
    return x + x  # (...)
'''
SQUARES = '''\
"""Squares instead.
求成了平方。

symptom: Right for 0 and 2 only.
症状：只有 0 和 2 对。

cards: att-02
rung: solved
"""


def double(x, times=2.0):
    # squares here
    return x * x
'''


@pytest.fixture
def moving_clock() -> Clock:
    return Clock()


@pytest.fixture
def small_bank(tmp_path: Path) -> Path:
    """Write a bank with two topics and a card of every kind; return its folder."""
    folder = tmp_path / "small-bank"
    folder.mkdir()
    for topic, text in CARDS.items():
        (folder / f"{topic}.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def small_impl(tmp_path: Path) -> Path:
    """Write one challenge, which is never graded; return its folder."""
    folder = tmp_path / "small-impl" / "basics" / "double"
    (folder / "wrong").mkdir(parents=True)
    (folder / "challenge.yaml").write_text(CHALLENGE, encoding="utf-8")
    (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
    (folder / "wrong" / "squares.py").write_text(SQUARES, encoding="utf-8")
    return folder.parent.parent


MakeCard = Callable[[str], str]


@pytest.fixture
def qa_card() -> MakeCard:
    """`qa_card(id)` returns the YAML of one more card."""

    def make(id: str) -> str:
        return (
            f"  - id: {id}\n    kind: qa\n    level: screen\n    question: {{en: Question {id}?, zh: 问题 {id}？}}\n"
            "    short: {en: Short., zh: 简答。}\n    explain: {en: Long., zh: 详解。}\n"
            "    points: [{en: a, zh: 甲}, {en: b, zh: 乙}, {en: c, zh: 丙}]\n"
        )

    return make


@pytest.fixture(autouse=True, scope="session")
def without_fsync() -> Iterator[None]:
    """Do not wait for the disk. Other processes still see every write; no test simulates a power cut."""
    open_file = Connection.__init__

    def opened(connection: Connection, path: Path) -> None:
        open_file(connection, path)
        connection.execute("PRAGMA synchronous = OFF")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr(Connection, "__init__", opened)
        yield


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Use one thread, since small tensors gain nothing from more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """Start the judge that the tests of a process share."""
    with Judge.start() as started:
        yield started


@pytest.fixture(scope="session")
def indexed_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with the bundled cards indexed, to be copied."""
    folder = tmp_path_factory.mktemp("indexed")
    assert main(["--home", str(folder), "due", "--json"]) == 0
    return folder
