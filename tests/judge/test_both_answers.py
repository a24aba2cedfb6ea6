"""Compare both answers to a typed case: the values shown, the differences, and the hidden parts of the reference."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attncli.domain.grade_report import ABSENT, BothAnswers, ShownTensor, document, read
from attncli.judge import try_case as module
from attncli.judge.challenge import Folder

from .conftest import RIGHT

Answered = Callable[..., BothAnswers]


def test_equal_answers_are_both_shown(answered: Answered) -> None:
    found = answered("tensor([[1.0, 2.0]]), scale=3.0")
    assert found.same and found.said.en == "both answers are the same" and not found.forbidden
    assert found.shown is not None and isinstance(found.shown.expected, ShownTensor)
    assert found.shown.expected.values == (3.0, 6.0) and found.shown.got == found.shown.expected
    assert found.shown.first_wrong_index is None


def test_a_difference_is_told_and_its_place(answered: Answered) -> None:
    found = answered("tensor([[1.0, 2.0]]), how='down'", RIGHT.replace("x / scale", "x"))
    assert found.same is False and "largest error 1 at" in found.said.en
    assert found.shown is not None and found.shown.first_wrong_index == (0, 0)
    assert isinstance(found.shown.expected, ShownTensor) and found.shown.expected.dtype == "float32"


def test_of_several_calls_the_one_that_differs_is_shown(answered: Answered) -> None:
    found = answered("turned(ones(1, 2), how='down'); turned(ones(1, 2))", RIGHT.replace("x / scale", "x"))
    assert found.same is False and found.shown is not None and found.shown.call == 1


def test_an_object_that_is_changed_in_place_is_the_answer(answered: Answered) -> None:
    found = answered("kept = {}; noted(ones(1, 2), kept)", RIGHT.replace("x.sum()", "x.max()"))
    assert found.same is False and found.shown is not None
    assert found.shown.expected == {"sum": 2.0} and found.shown.got == {"sum": 1.0}
    assert answered("kept = {}; noted(ones(1, 2), kept)").same


def test_what_the_file_raises_is_told_with_its_line_beside_the_references_answer(answered: Answered) -> None:
    found = answered("ones(1, 2)", "def turned(x, scale=2.0, how='up'):\n    return nobody\nnoted = Counter = turned\n")
    assert found.same is False and "NameError" in found.said.en and "line 2" in found.said.en
    assert found.shown is not None and isinstance(found.shown.expected, ShownTensor) and found.shown.got is ABSENT


def test_a_file_that_does_not_load_is_told(answered: Answered) -> None:
    found = answered("ones(1, 2)", "def turned(x")
    assert found.same is False and "SyntaxError" in found.said.en


def test_of_what_the_reference_raises_the_name_alone_is_told(answered: Answered) -> None:
    found = answered("ones(2)")
    assert found.same is None and found.said.en == "the reference raises ValueError for these arguments"
    assert "secret" not in str(document(found))


def test_a_reference_that_takes_too_long_is_given_up(answered: Answered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFERENCE_SECONDS", 0.05)
    monkeypatch.setattr(module, "run_reference", lambda *given: [None for _ in iter(int, 1)])
    assert "too slow" in answered("ones(1, 2)").refused.en


def test_what_cannot_be_typed_is_refused(answered: Answered) -> None:
    found = answered("open('x')")
    assert "FileNotFoundError" in found.refused.en and found.shown is None


def test_where_answers_are_random_it_is_said(answered: Answered, folder: Folder) -> None:
    folder.spec["required"] = [*folder.spec["required"], "random"]
    assert "is random" in answered("ones(1, 2)").said.en


def test_answers_pass_between_the_processes(answered: Answered) -> None:
    for text in ("ones(1, 3), how='sideways'", "ones(2)", "open('x')"):
        found = answered(text)
        assert read(BothAnswers, document(found)) == found
