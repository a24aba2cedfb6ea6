"""The reference tests of the challenges: references pass, no false alarm, and 95 % of the catchable ones caught."""

import inspect
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import settings

from attncli import paths
from attncli.practice.own_tests import VERIFY_SECONDS, GradeOptions, reference_tests, request_of
from attncli.practice.workspace import Workspace
from attncli.sandbox.own_tests import EXAMPLES

from .conftest import IMPL, by_content, load, sampled

WITH_TESTS = sorted(path.parent.name for path in IMPL.glob("*/*/tests.py"))
IN_PYTORCH = [path.parent for path in IMPL.glob("*/*/tests.py") if "kernel" not in path.parent.name]
PLACES = """attention/softmax-stable attention/sdpa attention/causal-mask attention/mha attention/attention-dropout
attention/gpt-causal-self-attention attention/attention-visualise positions/rope positions/learned-pe norms/layer-norm
cache/kv-cache cache/gqa optimisers/adamw peft/lora precision/bf16-round embeddings/bpe-train-encode
decoding/speculative-sampling serving/paged-kv"""
ALWAYS = {*(IMPL / place for place in PLACES.split()), *(path.parent for path in IMPL.glob("kernels/*/tests.py"))}
"""The references that others are built on, and those that learners meet first: their tests run in `make test` too."""
LAYOUT_OF_A_KERNEL = "swiglu-kernel", "test_any_other_view"
"""A kernel's result is contiguous; torch's has the layout of its input."""


@pytest.fixture(scope="module")
def challenges(tmp_path_factory):
    home = paths.home(tmp_path_factory.mktemp("home"), {})
    with Workspace.open(home, lambda: datetime.now(UTC)) as workspace:
        yield {challenge.id: challenge for challenge in workspace.library.challenges()}


def test_every_challenge_has_reference_tests():
    assert [path.parent.name for path in IMPL.glob("*/*/challenge.yaml") if path.parent.name not in WITH_TESTS] == []


@pytest.fixture
def as_in_the_judge() -> Iterator[None]:
    """Let Hypothesis draw the same few examples on every run."""
    settings.register_profile("reference-tests", settings(derandomize=True), max_examples=EXAMPLES)
    settings.load_profile("reference-tests")
    yield
    settings.load_profile("attn")


@pytest.mark.slow
@pytest.mark.usefixtures("as_in_the_judge")
@sampled((path.parent for path in IMPL.glob("*/*/tests.py")), 12, ALWAYS)
def test_a_reference_passes_its_tests(path):
    reference = load(path / "reference.py")
    for name, test in vars(load(path / "tests.py")).items():
        if name.startswith("test") and (path.name, name) != LAYOUT_OF_A_KERNEL:
            given = inspect.signature(test).parameters.values()
            test(**{each.name: vars(reference)[each.name] for each in given if each.default is each.empty})


# `make test-all` runs `attn verify --tests`, which has all of them.
@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("path", by_content(IN_PYTORCH)[:1], ids=lambda path: path.name)
def test_reference_tests_are_hardened(judge, challenges, path):
    challenge = challenges[path.name]
    options = GradeOptions(timeout_seconds=VERIFY_SECONDS)
    report = judge.run_tests(request_of(challenge, reference_tests(challenge), "tests.py", options))
    assert (report.fault.en, report.false_alarms) == ("", ())
    assert report.rung == "hardened", (report.all, report.survived)
