"""Compare ALiBi with a loop over single numbers, and its slopes with those in the paper."""

import pytest
import torch

from ..conftest import IMPL, load

alibi_bias = load(IMPL / "positions/alibi/reference.py").alibi_bias


def slopes(n_heads: int) -> list[float]:
    """Return the bias of a key one token back."""
    return [-float(value) for value in alibi_bias(n_heads, 1, 2)[:, 0, 0]]


def test_eight_heads_halve_and_others_are_filled_up_from_sixteen() -> None:
    eight, sixteen = [2.0**-k for k in range(1, 9)], [2.0 ** (-k / 2) for k in range(1, 17)]
    assert slopes(8) == eight and slopes(16) == pytest.approx(sixteen)
    assert slopes(12) == pytest.approx(eight + sixteen[0:8:2])
    assert slopes(1) == [2.0**-8] and slopes(3) == pytest.approx([2.0**-4, 2.0**-8, 2.0**-2])


@pytest.mark.parametrize(("n_heads", "T", "S"), [(1, 1, 1), (3, 4, 4), (6, 2, 7), (4, 1, 9)])
def test_a_key_is_lowered_by_its_distance(n_heads: int, T: int, S: int) -> None:
    got = alibi_bias(n_heads, T, S)
    assert got.dtype == torch.float32 and got.shape == (n_heads, T, S)
    for h, slope in enumerate(slopes(n_heads)):
        for i in range(T):
            for j in range(i + S - T + 1):
                assert float(got[h, i, j]) == pytest.approx(-slope * (i + S - T - j), rel=1e-6)


def test_decoding_sees_the_last_row_of_the_whole_pass() -> None:
    assert torch.equal(alibi_bias(5, 1, 6)[:, 0], alibi_bias(5, 6, 6)[:, -1])
