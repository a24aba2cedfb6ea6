"""Fold tags and notes over the log: the last row counts, undone rows do not, arrival order does not matter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, RowKind
from attncli.memory.replay import Annotation, fold_annotation

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
TAGS = st.sampled_from(["flag", "hard", "面试"])
ACTS = st.one_of(
    st.tuples(st.just(RowKind.TAG), st.fixed_dictionaries({"tag": TAGS, "on": st.booleans()})),
    st.tuples(st.just(RowKind.NOTE), st.fixed_dictionaries({"text": st.sampled_from(["", "a", "b"])})),
)


def rows_of(acts: list[tuple[RowKind, dict[str, object]]]) -> list[LogRow]:
    return [
        LogRow(f"r{n:03d}", "m", kind, "att-01", NOON + timedelta(minutes=n), 739000, payload)
        for n, (kind, payload) in enumerate(acts)
    ]


@given(st.lists(ACTS, max_size=12), st.randoms(use_true_random=False))
def test_it_is_what_the_acts_one_by_one_would_leave(acts, rng: Random) -> None:  # type: ignore[no-untyped-def]
    tags, note = list[str](), ""
    for kind, said in acts:
        if kind is RowKind.NOTE:
            note = said["text"]
            continue
        tags = [tag for tag in tags if tag != said["tag"]] + [said["tag"]] * said["on"]
    rows = rows_of(acts)
    rng.shuffle(rows)
    assert fold_annotation(rows) == Annotation(tuple(tags), note)


@given(st.lists(ACTS, min_size=1, max_size=8), st.data())
def test_an_act_that_was_taken_back_never_was(acts, data) -> None:  # type: ignore[no-untyped-def]
    rows = rows_of(acts)
    undone = data.draw(st.sampled_from(rows))
    undo = LogRow("u", "m", RowKind.UNDO, "att-01", NOON + timedelta(days=1), 739001, {"row": undone.id})
    assert fold_annotation([undo, *rows]) == fold_annotation([row for row in rows if row is not undone])


def test_rows_that_say_nothing_count_as_absent() -> None:
    odd = rows_of([(RowKind.TAG, {}), (RowKind.TAG, {"tag": 3}), (RowKind.NOTE, {"text": None}), (RowKind.NOTE, {})])
    assert fold_annotation(odd) == Annotation()
