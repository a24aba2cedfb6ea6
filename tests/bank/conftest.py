"""A valid card of each kind, and fixtures to check card files."""

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from attncli.bank.check import Report, check
from attncli.bank.checked_files import Surroundings
from attncli.bank.loader import bank_files, load_file
from attncli.paths import bundled_quizbank

Card = dict[str, Any]
Cards = dict[str, Card]
Checker = Callable[..., Report]
Errors = Callable[..., list[str]]
Writer = Callable[..., Path]


@cache
def bundled_documents() -> tuple[Card, ...]:
    """Return all cards of the bundled bank."""
    return tuple(document for path in bank_files(bundled_quizbank()) for document in load_file(path).documents)


_CARDS = """
- id: att-01
  kind: qa
  level: screen
  question: {en: "Why are scores scaled?", zh: 分数为什么要缩放？}
  short: {en: WORDS, zh: CHARACTERS}
  explain: {en: It is $d_k$., zh: 就是 $d_k$。}
  points: [{en: one, zh: 一}, {en: two, zh: 二}, {en: three, zh: 三}]
- id: att-02
  kind: choice
  level: onsite
  question: {en: "Which dimension does softmax run over?", zh: softmax 在哪一维上做？}
  options:
    - {text: {en: keys, zh: 键}, correct: true}
    - {text: {en: queries, zh: 查询}, why_not: {en: rows sum to one, zh: 每行和为一}}
    - {text: {en: heads, zh: 头}, why_not: {en: heads are apart, zh: 各头独立}}
- id: att-03
  kind: numeric
  level: screen
  question: {en: "{{layers}} layers in {{dtype}}: bytes?", zh: "{{layers}} 层、{{dtype}}：多少字节？"}
  parameters: {layers: [24, 32], dtype: {bf16: 2, fp8: 1}}
  compute: 2 * layers * dtype * 2 ** 30
  compute_unit: B
  unit: GiB
  tolerance: 2%
  explain: {en: It is $d_k$., zh: 就是 $d_k$。}
- id: att-04
  kind: cloze
  level: research
  question: {en: The exponent is ____ and the base ____., zh: 指数是 ____，底数是 ____。}
  blanks: [{answer: 2*i/d, form: algebra, variables: [i, d]}, {answer: ten thousand}]
  explain: {en: It is $d_k$., zh: 就是 $d_k$。}
- id: att-05
  kind: ordering
  level: screen
  question: {en: Put the steps in order., zh: 给步骤排序。}
  items:
    - {key: score, text: {en: score, zh: 打分}}
    - {key: mask, text: {en: mask, zh: 掩码}}
    - {key: softmax, text: {en: softmax, zh: 归一}}
  before: [[score, mask], [mask, softmax]]
  explain: {en: It is $d_k$., zh: 就是 $d_k$。}
- id: att-06
  kind: debug
  level: onsite
  question: {en: "What breaks here?", zh: 这里哪里坏了？}
  code: "weights = scores.softmax(-1)\\nreturn weights.masked_fill(~mask, 0) @ v\\n"
  lines: [2]
  symptom: {en: Rows do not sum to one., zh: 每行之和不为一。}
  explain: {en: It is $d_k$., zh: 就是 $d_k$。}
"""
WORDS = "the scale keeps the variance of every score at one whatever the width of a head is " * 4
CHARACTERS = "缩放让每个分数的方差保持为一与头的宽度无关" * 7
_filled = _CARDS.replace("WORDS", f"'{WORDS}'").replace("CHARACTERS", CHARACTERS)
CARDS: Cards = {card["kind"]: card for card in yaml.safe_load(_filled)}


class _WithoutAliases(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


def as_yaml(document: object) -> str:
    """Return YAML without anchors, in the given order."""
    return yaml.dump(document, Dumper=_WithoutAliases, allow_unicode=True, sort_keys=False)


def table(text: str) -> list[list[str]]:
    """Return the cells of each line, which a bar separates."""
    return [line.split(" | ") for line in text.strip("\n").splitlines()]


def changed(kind: str, way: str, value: str) -> Card:
    """Return the card with a YAML value at a way such as `points.0.en`; the value `-` removes what is there."""
    card = copy.deepcopy(CARDS[kind])
    *steps, last = [int(step) if step.isdigit() else step for step in way.split(".")]
    place: Any = card
    for step in steps:
        place = place[step]
    if value == "-":
        del place[last]
    else:
        place[last] = yaml.safe_load(value)
    return card


def only(found: list[str], start: str) -> None:
    assert len(found) == 1 and found[0].startswith(start), (found, start)


@pytest.fixture
def cards() -> Cards:
    """Return a valid card of each kind, for tests to damage."""
    return copy.deepcopy(CARDS)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    """Return an empty bundled bank without challenges, in which all files must be complete."""
    for name in ("bundled", "impl"):
        (tmp_path / name).mkdir()
    return Surroundings(tmp_path / "bundled", tmp_path / "impl", complete=True)


@pytest.fixture
def bank_file(tmp_path: Path) -> Writer:
    """Return a function that writes cards as the bank file of a topic."""

    def write(*cards: Card, topic: str = "att", **more: Any) -> Path:
        path = tmp_path / f"{topic}.yaml"
        document = {"topic": topic, **more, "cards": list(cards)}
        path.write_text(as_yaml(document), encoding="utf-8")
        return path

    return write


@pytest.fixture
def checked(bank_file: Writer, around: Surroundings) -> Checker:
    """Return a function that checks cards as one file."""
    return lambda *cards, **more: check([bank_file(*cards, **more)], around)


@pytest.fixture
def errors(checked: Checker) -> Errors:
    """Return a function that yields the problems' messages for cards, without positions."""
    return lambda *cards, **more: [problem.message.en for problem in checked(*cards, **more).problems]
