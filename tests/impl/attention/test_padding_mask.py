"""Compare padding masks with a loop over keys, and combined masks with a loop over positions."""

import itertools

import pytest
import torch

from ..conftest import IMPL, load

reference = load(IMPL / "attention/padding-mask/reference.py")


@pytest.mark.parametrize("lengths", [[0], [3], [0, 3, 1], [2, 2], [4, 0, 0, 1, 3]])
@pytest.mark.parametrize("S", [4, 6])
def test_a_key_is_valid_before_its_sequence_ends(lengths: list[int], S: int) -> None:
    due = [[[[j < length for j in range(S)]]] for length in lengths]
    assert torch.equal(reference.padding_mask(torch.tensor(lengths), S), torch.tensor(due))


@pytest.mark.parametrize("shapes", [[(2, 1, 1, 5)], [(4, 5), (2, 1, 1, 5)], [(2, 3, 4, 5), (5,), (1, 3, 1, 1)]])
def test_a_place_is_open_where_every_mask_is(shapes: list[tuple[int, ...]]) -> None:
    masks = [torch.rand(shape) < 0.6 for shape in shapes]
    got = reference.combine_masks(*masks)
    assert got.shape == torch.broadcast_shapes(*shapes)
    for place in itertools.product(*map(range, got.shape)):
        assert got[place] == all(mask.expand(got.shape)[place] for mask in masks)


def test_a_single_mask_comes_back_in_memory_of_its_own() -> None:
    mask = torch.tensor([True, False])
    assert torch.equal(reference.combine_masks(mask), mask)
    assert reference.combine_masks(mask).data_ptr() != mask.data_ptr()
