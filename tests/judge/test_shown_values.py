"""Limit the size of displayed values, whatever they are."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.grade_report import CheckResult, Counterexample, GradeReport, read
from attncli.i18n import quoted
from attncli.judge.counterexample import ITEMS_SHOWN, LARGEST, TEXT_SHOWN, VALUES_SHOWN, Room, bounded, plain
from attncli.sandbox.values import Opaque, Raised
from in_process import check, grade, write_challenge

ROOM = 30_000

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers() | st.integers(10**100, 10**400),
    st.floats(),
    st.text(max_size=2000),
    st.binary(max_size=500),
    st.complex_numbers(),
    st.just(Opaque("Thing")),
    st.builds(Raised, st.just(("ValueError",)), st.text(max_size=600)),
    st.sampled_from([torch.rand(300), torch.zeros(0, 5), torch.zeros(2, device="meta"), torch.full((2,), 1j)]),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2000) | st.integers() | st.none(), inner, max_size=4)
    ),
    max_leaves=40,
)


@given(values)
def test_any_value_is_shown_within_its_room(value):
    text = json.dumps(plain(value, Room(ROOM)), allow_nan=False, indent=2)
    assert len(text) <= 2 * ROOM


LONG = {"a" * 5000: "b" * 10**6}


@pytest.mark.parametrize(
    "value",
    [
        [torch.rand(256, dtype=torch.float64)] * 19_000,
        dict.fromkeys(range(9000), LONG),
        [[[["x" * 400] * 99] * 99] * 99] * 99,
        ["\u202e" * 10**6] * 500,
    ],
    ids=["tensors", "dict", "nested", "texts"],
)
def test_large_values_are_shown_by_their_beginning(value):
    shown = plain(value, Room(ROOM))
    assert len(json.dumps(shown, indent=2)) < 8 * ROOM
    assert shown[-1] == "…" if isinstance(shown, list) else shown["…"] == "…"


def test_small_values_are_shown_whole():
    value = {"a": [torch.arange(3.0), (1, 2.5, None, True)], "b": "word", 3: math.inf}
    assert plain(value, Room(ROOM)) == {
        "a": [{"shape": [3], "dtype": "float32", "values": [0.0, 1.0, 2.0]}, [1, 2.5, None, True]],
        "b": "word",
        "3": "inf",
    }
    assert plain(2**63 - 1, Room(ROOM)) == 2**63 - 1
    assert plain(-(2**4000), Room(ROOM)) == "-a whole number of 4001 bits"


def test_what_is_cut_says_so():
    assert plain(torch.zeros(VALUES_SHOWN + 1), Room(ROOM))["truncated"]
    assert "truncated" not in plain(torch.zeros(VALUES_SHOWN), Room(ROOM))
    assert plain("x" * (TEXT_SHOWN + 1), Room(ROOM)).endswith("…")
    assert len(plain([0] * (ITEMS_SHOWN + 1), Room(10**6))) == ITEMS_SHOWN + 1


def report(counterexamples: list[dict[str, Any]]) -> GradeReport:
    checks = [
        CheckResult(name="pure", status="fail", reason="values", message=quoted("x"), counterexample=shown)
        for shown in (read(Counterexample, each) for each in counterexamples)
    ]
    return GradeReport(
        challenge="c",
        file="f",
        verdict="rejected",
        checks=tuple(checks),
        diagnosis=(),
        seconds=0.1,
        seed=0,
        printed="\x1f" * 65_536 + '"' * 65_536,
    )


@pytest.mark.parametrize("count", [1, 3, 14])
def test_a_report_is_never_larger_than_it_may_be(count):
    shown = {"args": {"x": [0] * 20_000}, "got": {"\x1b[31m" + "k" * 50: 1}}
    found = bounded(report([shown] * count))
    assert len(json.dumps(found, indent=2)) <= LARGEST
    assert found["checks"][0]["counterexample"]["got"] == {"k" * 50: 1}, "the first one is kept, its keys cleaned"
    assert ("truncated" in found["checks"][-1]["counterexample"]) == (count == 14)


def test_a_message_has_an_end(tmp_path):
    source = "def scaled_sum(x, weight, scale=2.0):\n    return {('k' * 100_000) + str(k): k for k in range(9)}\n"
    found = check(grade(write_challenge(tmp_path), source, quick=True), "matches-reference")
    assert len(found["message"]) < 1000 and len(json.dumps(found)) < 20_000
