"""The wire format: a valid row survives the round trip; a changed one is rejected or reads as another row."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import fsrs.scheduler
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain import log_row
from attncli.domain.log_row import HIGHEST_WEIGHTS, LOWEST_WEIGHTS, LogRow, RowKind, is_machine, line_of, row_of_line

names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=30)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
SIZES = {"float32": 4, "bool": 1, "int64": 8}
sources = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=[])).map(log_row.clean_source)
AT = datetime(2026, 6, 1, tzinfo=UTC)
UNUSABLE: list[Any] = [None, True, -1, 3.5, "x", [], [1], {}, {"a": 1}, 10**30]


@st.composite
def tensors(draw: st.DrawFn) -> list[Any]:
    dtype, shape = draw(st.sampled_from(sorted(SIZES))), draw(st.lists(st.integers(0, 3), max_size=3))
    count = SIZES[dtype]
    for size in shape:
        count *= size
    return [dtype, shape, base64.b64encode(draw(st.binary(min_size=count, max_size=count))).decode()]


counterexamples = st.fixed_dictionaries(
    {
        "check": st.sampled_from(["stable", "gradients"]),
        "record": st.sampled_from(["case", "edge_one"]),
        "profile": st.just("ordinary"),
        "draws": st.lists(st.integers(-3, 60), max_size=9),
        "values": st.lists(tensors(), max_size=3),
    }
)
fields, ints, lists = st.fixed_dictionaries, st.integers, st.lists
verdicts, rungs = st.sampled_from(["accepted", "rejected"]), st.sampled_from(["none", "solved", "hardened"])
FIELDS: dict[RowKind, st.SearchStrategy[dict[str, Any]]] = {
    RowKind.REVIEW: fields(
        {"rating": ints(1, 4)},
        optional={"points": lists(ints(0, 9)), "correct": st.booleans(), "elapsed_ms": ints(-9, 10**9)},
    ),
    RowKind.UNDO: fields({"row": names}),
    RowKind.ATTEMPT: fields(
        {"verdict": verdicts},
        optional={
            "sha256": st.binary(min_size=32, max_size=32).map(bytes.hex),
            "source": sources,
            "rung": rungs,
            "seconds": st.floats(0, 1e6),
            "stored": lists(counterexamples, max_size=2),
            "checks": lists(fields({"name": names, "status": names}), max_size=2),
        },
    ),
    RowKind.QUIZ: fields({"correct": st.booleans()}),
    RowKind.MOCK: fields(
        {"step": names}, optional={"item": ints(0, 99), "got": ints(0, 9), "points": lists(ints(0, 9), max_size=3)}
    ),
    RowKind.MOCK_CLOCK: fields({"step": names, "item": ints(0, 99), "spent_ms": ints(0, 9)}),
    RowKind.REPAIR: fields(
        {"start": names, "verdict": verdicts}, optional={"left": lists(names, max_size=4), "rung": rungs}
    ),
    RowKind.FIT: st.tuples(
        *(st.floats(low, high) for low, high in zip(LOWEST_WEIGHTS, HIGHEST_WEIGHTS, strict=True))
    ).map(lambda weights: {"parameters": list(weights)}),
}


@st.composite
def rows(draw: st.DrawFn) -> LogRow:
    kind = draw(st.sampled_from(RowKind))
    first, last = (bound.replace(tzinfo=None) for bound in (log_row.EARLIEST, log_row.LATEST))
    at = draw(st.datetimes(first, last - timedelta(1), timezones=st.just(UTC)))
    extra = draw(st.dictionaries(names.map("x-{}".format), plain, max_size=2))
    payload = {**extra, **draw(FIELDS.get(kind, st.just({})))}
    day = at.toordinal() + draw(st.integers(-2, 2))
    return LogRow(draw(names), draw(names), kind, draw(names), at, day, payload)


@given(rows())
def test_any_valid_row_comes_back_as_it_was(row: LogRow) -> None:
    log_row.checked_line(row)
    again = row_of_line(line_of(row))
    assert again == row and line_of(again) == line_of(row)


@given(rows(), st.data())
def test_a_changed_line_is_refused_or_a_row_that_stays_as_it_is(row: LogRow, data: st.DataObject) -> None:
    line = line_of(row)
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, min(len(line), start + 8)))
    changed = line[:start] + data.draw(st.text(max_size=4)) + line[end:]
    try:
        found = row_of_line(changed)
    except ValueError as refusal:
        assert len(str(refusal)) < 500
        return
    assert row_of_line(line_of(found)) == found


@given(rows(), st.data())
def test_a_field_of_another_kind_is_refused_or_kept(row: LogRow, data: st.DataObject) -> None:
    document = json.loads(line_of(row))
    inside = data.draw(st.booleans()) and bool(document["payload"])
    owner = document["payload"] if inside else document
    owner[data.draw(st.sampled_from(sorted(owner)))] = data.draw(plain)
    try:
        found = row_of_line(json.dumps(document))
    except ValueError:
        return
    assert row_of_line(line_of(found)) == found


def test_json_that_means_different_things_to_others_and_other_machines_names_are_refused() -> None:
    too_large = ("[1e999]", "[1" + "0" * 30 + "]", "[9223372036854775808]")
    for text, said in (
        *((number, "too large") for number in too_large),
        *((text, "nested too deeply") for text in ("[" * 20 + "]" * 20, "[" * 100_000)),
        *(("NaN", "NaN is no JSON"), ('{"a": 1, "a": 2}', "a key stands in it twice")),
        *(('"\\ud800"', "half a character"), ("1 2", "Extra data")),
    ):
        with pytest.raises(ValueError, match=said):
            log_row.parse(text)
    assert is_machine("0badc0de")
    for other in ("", "0badc0d", "0badc0de0", "0BADC0DE", "../../xx", "0badc0de\n", "０badc0de"):
        assert not is_machine(other)


def test_weights_are_those_that_fsrs_takes() -> None:
    assert tuple(fsrs.scheduler.LOWER_BOUNDS_PARAMETERS) == LOWEST_WEIGHTS
    assert tuple(fsrs.scheduler.UPPER_BOUNDS_PARAMETERS) == HIGHEST_WEIGHTS
    payloads: list[Any] = [[], {}, *({"parameters": weights} for weights in (None, [0.5] * 20, [True] * 21))]
    for payload in payloads:
        with pytest.raises(ValueError, match="FSRS-6"):
            log_row.fitted(payload)


@given(st.text())
def test_a_kept_source_has_no_control_characters(text: str) -> None:
    kept = log_row.clean_source(text)
    assert not log_row.CONTROLS.search(kept)
    assert kept == text or log_row.CONTROLS.search(text)


@given(counterexamples, plain, st.data())
def test_a_counterexample_with_a_foreign_part_is_refused(
    stored: dict[str, Any], foreign: Any, data: st.DataObject
) -> None:
    log_row.check_counterexample(stored)
    key = data.draw(st.sampled_from(sorted(stored)))
    assert log_row.is_counterexample({**stored, key: foreign}) in (True, False)
    assert not log_row.is_counterexample({**stored, key: {"a": 1}})


def test_an_unusable_payload_counts_as_absent() -> None:
    keys = ["rating", "row", "verdict", "rung", "sha256", "source", "stored", "bug", "repairs", "start"]
    payloads: list[Any] = [[], None, 5, "x", *({key: value} for key, value in product(keys, UNUSABLE))]
    for kind, payload in product(RowKind, payloads):
        row = LogRow("r-1", "m", kind, "att-01", AT, AT.toordinal(), payload)
        assert not row.is_usable_review and row.verdict == "" and row.reached == "none", payload
        texts = (row.takes_back, row.source, row.bug, row.works_on, row.text_hash, *row.repairs)
        assert all(isinstance(text, str) for text in texts), payload
        assert row.fixes == "" and log_row.counterexamples_of(row) == [], payload
