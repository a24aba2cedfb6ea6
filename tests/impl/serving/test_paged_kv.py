"""paged-kv: a wrong result of the allocator is named with the rule that it breaks."""

from typing import Any

import pytest

from ..conftest import IMPL, load

inputs = load(IMPL / "serving/paged-kv/inputs.py")
APPENDED = "append", (0,)


@pytest.mark.parametrize(
    ("calls", "results", "said"),
    [
        (
            [APPENDED, ("fork", (0, 1)), APPENDED],
            [(2, 0, None), None, (2, 1, None)],
            "call 4, append(0), returned (2, 1, None): block 2 is also in the table of 1: append must copy it first; "
            "expected (new, 1, (2, new)), new not in [2]",
        ),
        (
            [APPENDED],
            [(7, 0, None)],
            "call 2, append(0), returned (7, 0, None): sequence 0 has no block with room: append must take a new one; "
            "expected (new, 0, None), new not in []",
        ),
        (
            [APPENDED, APPENDED],
            [(2, 0, None), (3, 0, None)],
            "call 3, append(0), returned (3, 0, None): block 2 has room and only sequence 0 uses it; "
            "expected (2, 1, None)",
        ),
        ([APPENDED, ("table", (0,))], [(2, 0, None), [2, 0]], "call 3, table(0), returned [2, 0]: expected [2]"),
    ],
)
def test_a_wrong_result_is_told_with_the_rule_that_it_breaks(calls: Any, results: Any, said: str) -> None:
    found = inputs.wrong(4, 2, [(number, *call) for number, call in enumerate(calls, 2)], results)
    assert found is not None and found[0] == said and "应返回" in found[1]
