"""Check that docs/own-challenges.md describes the current challenge."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "own-challenges.md").read_text(encoding="utf-8")
LAYER_NORM = ROOT / "impl" / "norms" / "layer-norm"


@pytest.mark.parametrize("name", ["inputs.py", "wrong/unbiased-variance.py"])
def test_what_is_quoted_of_layer_norm_is_its_file(name: str) -> None:
    assert f"```python\n{(LAYER_NORM / name).read_text(encoding='utf-8')}```\n" in GUIDE


def test_the_walk_through_is_short_enough_to_be_read() -> None:
    assert len((LAYER_NORM / "inputs.py").read_text(encoding="utf-8").splitlines()) < 70
