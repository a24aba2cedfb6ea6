"""Reports and counterexamples: their properties, and a lossless round trip through JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.grade_report import Counterexample, GradeReport, ShownTensor, read, report_document


@pytest.mark.parametrize(
    ("expected", "says"),
    [
        (ShownTensor((2, 3), "float32", axes=("T", "d")), "[T=1, d=0]"),
        (ShownTensor((2, 3), "float32", axes=("", "d")), "[1, d=0]"),
        (ShownTensor((2, 3), "float32"), "[1, 0]"),
        (ShownTensor((), "float32", axes=("T",)), "[1, 0]"),
        (0.5, "[1, 0]"),
        (None, "[1, 0]"),
    ],
)
def test_the_first_wrong_place_has_the_names_of_what_was_expected(expected: Any, says: str) -> None:
    assert Counterexample(expected=expected, first_wrong_index=(1, 0)).first_wrong == says
    assert Counterexample(first_wrong_index=(1, 0)).first_wrong == "[1, 0]"
    assert Counterexample().first_wrong == ""


def test_a_dict_of_the_submissions_own_is_no_tensor() -> None:
    for own in ({"shape": [2], "dtype": 3}, {"shape": [-1], "dtype": "x"}, {"shape": "2", "dtype": "x"}):
        assert read(Counterexample, {"got": own}).got == own
    assert read(Counterexample, {"got": {"shape": [2], "dtype": "x", "mine": 1}}).got == {
        "shape": [2],
        "dtype": "x",
        "mine": 1,
    }


names = st.text("abcd", min_size=1, max_size=4)
tensors = st.builds(
    lambda shape, values, more: {"shape": shape, "dtype": "float32", "values": values, **more},
    st.lists(st.integers(0, 3), max_size=3),
    st.lists(st.floats(-9, 9) | st.just("nan") | st.booleans(), max_size=4),
    st.sampled_from([{}, {"truncated": True}, {"axes": ["T", ""]}]),
)
plain_values = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | names
values = st.recursive(
    plain_values | tensors, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for any subset of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


frames = st.fixed_dictionaries({"line": st.integers(1, 99), "function": names, "code": names})
counterexamples = some(
    args=st.dictionaries(names, values, max_size=3),
    calls=st.lists(
        st.fixed_dictionaries({"call": names, "args": st.dictionaries(names, values)}), min_size=1, max_size=3
    ),
    call=st.integers(1, 3),
    profile=names,
    edge_case=names,
    edge_case_zh=names,
    expected=values,
    got=values,
    first_wrong_index=st.lists(st.integers(0, 3), max_size=3),
    frames=st.lists(frames, min_size=1, max_size=2),
    truncated=st.just(True),
)
failed = st.builds(
    lambda told, more: (
        {"name": "stable", "status": "fail", "required": True, "examples": 3, "seconds": 0.5} | told | more
    ),
    st.fixed_dictionaries({"rung": st.sampled_from(["solved", "hardened"]), "reason": names, "message": names}),
    some(message_zh=st.text("甲乙", min_size=1), counterexample=counterexamples),
)
skipped = st.just({"name": "device", "status": "skipped", "required": False, "message": "needs stable"})
found = st.builds(
    lambda told, more: told | more,
    st.fixed_dictionaries({"wrong": names, "says": names, "cards": st.lists(names, max_size=2)}),
    some(says_zh=names, beside=names),
)


@given(
    st.lists(failed | skipped, max_size=3),
    st.lists(found, max_size=2),
    some(printed=names, error=names),
    st.sampled_from([{}, {"device_note": "no GPU"}, {"device_note": "no GPU", "device_note_zh": "没有 GPU"}]),
)
def test_a_report_is_the_same_after_json_and_back(
    checks: list[Any], diagnosis: list[Any], more: Any, note: Any
) -> None:
    document = {
        "challenge": "sdpa",
        "file": "sdpa.py",
        "verdict": "rejected",
        "rung": "solved",
        "checks": checks,
        "diagnosis": diagnosis,
        "score": {"passed": 0, "total": sum(check["required"] for check in checks)},
        "seconds": 0.25,
        "seed": 7,
        "sandbox": ["process"],
        "device": "cpu",
        **more,
        **note,
    }
    report = read(GradeReport, document)
    assert report_document(report) == document
    assert read(GradeReport, report_document(report)) == report
