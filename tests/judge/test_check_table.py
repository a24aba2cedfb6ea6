"""The table of checks says of each check what the exam and the grading need, and names no others."""

from __future__ import annotations

import pytest

from attncli.domain.checks import CHECK_NAMES, CHECKS


@pytest.mark.parametrize("name", CHECK_NAMES)
def test_what_a_check_waits_for_comes_before_it(name: str) -> None:
    needs = {CHECKS[name].needs, CHECKS[name].needs_hardened} - {""}
    assert all(CHECK_NAMES.index(needed) < CHECK_NAMES.index(name) for needed in needs)


@pytest.mark.parametrize("name", CHECK_NAMES)
def test_what_draws_cases_says_from_which_profiles_and_how_many(name: str) -> None:
    check = CHECKS[name]
    draws = check.way in ("cases", "source")
    assert draws == (check.examples > 0) and (not draws or check.strata)
    assert check.kind == "values" or check.way == "cases"


def test_what_no_stream_changes_draws_nothing() -> None:
    assert not any(check.examples for check in CHECKS.values() if check.once)
