"""Read statements of challenges from disk: facts are parsed, never run, and damaged ones count as missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from attncli.domain.card import Source
from attncli.domain.statement import SharedFacts
from attncli.i18n import Localised
from attncli.practice.start import shared_facts, start_challenge, statement
from attncli.practice.workspace import Workspace


@pytest.mark.parametrize(
    ("source", "facts"),
    [
        ("", SharedFacts()),
        ('SIXTEEN_BITS = "native"', SharedFacts(sixteen_bits="native")),
        ('SIXTEEN_BITS = "technique"', SharedFacts(sixteen_bits="technique")),
        ("FLOAT32_INSIDE = True", SharedFacts(sixteen_bits="float32")),
        ('SIXTEEN_BITS = "natve"', SharedFacts()),
        ('SIXTEEN_BITS = ("bf16", "fp16")', SharedFacts()),
        ("SIXTEEN_BITS = {}[0]", SharedFacts()),
        ('def f():\n    SIXTEEN_BITS = "native"', SharedFacts()),
        ('ALIAS_ALLOWED = ("f",)', SharedFacts(may_return_argument=True)),
        ("ALIAS_ALLOWED = ()", SharedFacts()),
        ('VIEWS_OF_STATE = ("m",)', SharedFacts(shows_state=True)),
        ("import nothing_like_it\nraise SystemExit(3)", SharedFacts()),
        ("def (", SharedFacts()),
        ("\0", SharedFacts()),
    ],
)
def test_facts_are_literals_at_the_top_of_the_inputs(tmp_path: Path, source: str, facts: SharedFacts) -> None:
    path = tmp_path / "inputs.py"
    path.write_text(source, encoding="utf-8")
    assert shared_facts(path) == facts


def test_a_challenge_without_inputs_still_has_its_statement(tmp_path: Path) -> None:
    assert shared_facts(tmp_path / "inputs.py") == SharedFacts()


FOLLOW_UPS = """\
follow_ups:
  - {ask: {en: And 0?, zh: 0 呢？}, answer: {en: It is 0., zh: 还是 0。}, card: att-01}
  - {ask: {en: And 1?, zh: 1 呢？}, answer: {en: It is 2., zh: 是 2。}}
  - {ask: {en: And 2?, zh: 2 呢？}, answer: {en: It is 4., zh: 是 4。}}
sources: [{id: "arxiv:1706.03762", where: Section 3}]
"""


def test_a_challenge_carries_its_follow_ups_and_sources(
    open_workspace: Callable[..., Workspace], small_impl: Path
) -> None:
    with (small_impl / "basics" / "double" / "challenge.yaml").open("a", encoding="utf-8") as yaml:
        yaml.write(FOLLOW_UPS)
    challenge = open_workspace().library.challenge("double")
    assert [(asked.ask, asked.card) for asked in challenge.follow_ups][:2] == [
        (Localised("And 0?", "0 呢？"), "att-01"),
        (Localised("And 1?", "1 呢？"), ""),
    ]
    assert [asked.answer for asked in challenge.follow_ups][2:] == [Localised("It is 4.", "是 4。")]
    assert challenge.sources == (Source("arxiv:1706.03762", "Section 3", ""),)


def test_a_challenge_may_have_neither(open_workspace: Callable[..., Workspace], small_impl: Path) -> None:
    challenge = open_workspace().library.challenge("double")
    assert (challenge.follow_ups, challenge.sources) == ((), ())


def test_a_statement_has_the_text_of_its_challenge_and_the_facts_of_its_inputs(
    open_workspace: Callable[..., Workspace], small_impl: Path
) -> None:
    folder = small_impl / "basics" / "double"
    text = (folder / "challenge.yaml").read_text(encoding="utf-8")
    text = text.replace("[loads, matches-reference]", "[loads, matches-reference, low-precision]")
    text = text.replace("hints:", "hardened: {en: Twice 40000., zh: 40000 的两倍。}\nhints:", 1)
    (folder / "challenge.yaml").write_text(text, encoding="utf-8")
    (folder / "inputs.py").write_text('SIXTEEN_BITS = "native"\n', encoding="utf-8")
    workspace = open_workspace()
    parts = statement(workspace.library.challenge("double"))
    assert parts.first == Localised("Return twice the input.", "返回输入的两倍。")
    assert "torch.compile" in parts.everywhere.en
    assert "their own precision" in parts.hardened.en and parts.hardened.zh.endswith("\n\n40000 的两倍。")
    docstring = start_challenge(workspace, "double").path.read_text(encoding="utf-8")
    for part in ("Return twice the input.", "## Everywhere", "`torch.compile`", "## Hardened", "Twice 40000."):
        assert part in docstring
