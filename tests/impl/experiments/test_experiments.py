"""Every experiment proves its claim in the quick form, its control does not, and a card links to it."""

import ast
import re
import sys
from collections import defaultdict
from functools import cache
from hashlib import sha256

import pytest

from attncli.bank.loader import bank_files, load_file
from attncli.experiments.plots import lines, svg, unmet
from attncli.experiments.runner import ChildRun, Experiment, SeedOutcome, catalogue
from attncli.i18n import LANGS, Localised
from attncli.paths import bundled_quizbank

from ..conftest import IMPL

EXPERIMENTS = catalogue(IMPL)
MOST_LINES = 210
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def digest(experiment: Experiment) -> bytes:
    return sha256(experiment.file.read_bytes()).digest()


SHORT = [one for one in EXPERIMENTS if one.quick_seconds <= 5]
SAMPLE = sorted(SHORT, key=digest)[:1]
sampled = pytest.mark.parametrize(
    "experiment", [pytest.param(one, id=one.id, marks=() if one in SAMPLE else pytest.mark.full) for one in EXPERIMENTS]
)


@cache
def links() -> dict[str, set[str]]:
    """Return the cards that link to each experiment."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in bank_files(bundled_quizbank()):
        for card in load_file(path).documents:
            found[card.get("experiment", "")].add(card["id"])
    return found


def run_quick_form(experiment: Experiment, *, control: bool = False) -> list[SeedOutcome]:
    text = experiment.text.en if experiment.text else ""
    with ChildRun(experiment, IMPL, experiment.seeds(quick=True), True, text, control=control) as run:
        return run.outcomes()


@pytest.mark.slow
@sampled
def test_the_claim_shows_in_the_quick_form(experiment: Experiment) -> None:
    outcomes = run_quick_form(experiment)
    assert unmet(outcomes) == ""
    for lang in LANGS:
        told = "\n".join(lines(experiment, outcomes, 80, lang))
        assert experiment.claim[lang][:10] in told.replace("\n", " ")
        assert svg(outcomes[0].plots, lang).startswith("<svg")
    (outcome,) = outcomes
    shown = [outcome.seen, *(check.says for check in outcome.checks), *(plot.title for plot in outcome.plots)]
    assert all(in_both(text) for text in shown), shown
    assert outcome.seen.en.endswith(".") and outcome.seen.zh.endswith("。")
    assert in_both(outcome.skipped)


@pytest.mark.full
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.id)
def test_the_control_fails_a_check(experiment: Experiment) -> None:
    assert unmet(run_quick_form(experiment, control=True)) != ""


def in_both(text: Localised) -> bool:
    """Return True if signs, numbers and names are the same in both languages, and words are not."""
    same = text.en == text.zh
    return (same and not re.search(r"[a-z]{4,} [a-z]{2,}", text.en)) or (not same and not CHINESE.search(text.en))


def test_what_it_says_of_itself_is_there_in_both_languages_and_its_cards_lead_to_it() -> None:
    for experiment in EXPERIMENTS:
        said = [experiment.title, experiment.claim, *experiment.caveats]
        assert all(in_both(text) for text in said), said
        assert not any("$" in text[lang] for text in said for lang in LANGS), "plain text: no formulas in $…$"
        assert experiment.claim.en.endswith(".") and experiment.claim.zh.endswith("。")
        assert experiment.seed_count in (1, 3)
        assert 0 < experiment.quick_seconds <= experiment.full_seconds
        assert set(experiment.cards) == links()[experiment.id], experiment.id


def test_it_stands_alone_and_can_be_read_at_one_sitting() -> None:
    for experiment in EXPERIMENTS:
        text = experiment.file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        docstring = ast.get_docstring(tree) or ""
        assert text.count("\n") <= MOST_LINES and docstring.count("\n") >= 4, experiment.id
        assert re.search(r"^Control: .*\.$", docstring, re.M), experiment.id
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= {"torch", *sys.stdlib_module_names}, experiment.id
