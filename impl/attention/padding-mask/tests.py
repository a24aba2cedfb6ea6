"""The definition, one position at a time, and the laws of a logical AND."""

import functools

import torch
from hypothesis import given
from hypothesis import strategies as st


def random_mask(*shape):
    return torch.rand(shape) < 0.6


def assert_mask(actual, wanted):
    assert actual.dtype == torch.bool and actual.shape == wanted.shape
    assert torch.equal(actual, wanted)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(0, 4))
def test_the_first_keys_of_each_sequence_are_real(padding_mask, lengths, spare):
    S = max(1, max(lengths) + spare)
    mask = padding_mask(torch.tensor(lengths), S)
    assert mask.dtype == torch.bool and mask.shape == (len(lengths), 1, 1, S)
    assert mask[:, 0, 0].tolist() == [[j < length for j in range(S)] for length in lengths]


def test_empty_and_full_sequences(padding_mask):
    assert padding_mask(torch.tensor([0, 3]), 3)[:, 0, 0].tolist() == [[False] * 3, [True] * 3]
    assert not padding_mask(torch.tensor([0, 0]), 4).any()
    assert padding_mask(torch.tensor([1]), 1).all()


def test_long_sequences_are_counted_exactly(padding_mask):
    lengths = torch.tensor([257, 2_049, 33_000, 70_000, 70_001])
    assert torch.equal(padding_mask(lengths, 70_001).sum((1, 2, 3)), lengths)


@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=4))
def test_a_position_needs_the_consent_of_every_mask(combine_masks, ones):
    # Each mask has some dimensions of size 1, so that all broadcast together.
    shapes = [tuple(1 if one else size for one, size in zip(row, (2, 3, 4), strict=True)) for row in ones]
    masks = [random_mask(*shape) for shape in shapes]
    assert_mask(combine_masks(*masks), functools.reduce(torch.logical_and, masks))


def test_masks_of_different_dimensions(combine_masks):
    causal, padding, window = random_mask(4, 5), random_mask(2, 1, 1, 5), random_mask(3, 4, 5)
    wanted = causal & padding & window
    assert wanted.shape == (2, 3, 4, 5)
    for masks in ((causal, padding, window), (window, causal, padding), (padding, window, causal)):
        assert_mask(combine_masks(*masks), wanted)
    assert_mask(combine_masks(torch.tensor(True), causal), causal)
    assert_mask(combine_masks(torch.tensor(False)), torch.tensor(False))


def test_a_mask_repeated_changes_nothing(combine_masks):
    for mask in (random_mask(2, 3), random_mask(2, 1, 1, 5)):
        for times in (1, 2, 3, 4):
            assert_mask(combine_masks(*[mask] * times), mask)


def test_all_true_changes_nothing_and_all_false_hides_everything(combine_masks):
    mask, ones = random_mask(3, 4), torch.ones(3, 4, dtype=torch.bool)
    assert_mask(combine_masks(mask, ones), mask)
    assert_mask(combine_masks(ones, mask, ones), mask)
    assert_mask(combine_masks(~ones, mask, ones), ~ones)


def test_padding_and_causal_together(padding_mask, combine_masks):
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    mask = combine_masks(padding_mask(torch.tensor([2, 4, 0]), 4), causal)
    assert mask.shape == (3, 1, 4, 4)
    for b, length in enumerate((2, 4, 0)):
        assert mask[b, 0].tolist() == [[j <= i and j < length for j in range(4)] for i in range(4)]


def test_any_memory_layout(padding_mask, combine_masks):
    lengths = torch.tensor([3, 9, 1, 9, 0, 9])[::2]
    assert padding_mask(lengths, 4).sum((1, 2, 3)).tolist() == [3, 1, 0]
    assert padding_mask(torch.tensor([2]).expand(3), 4).sum((1, 2, 3)).tolist() == [2, 2, 2]
    masks = random_mask(5, 4).t(), random_mask(4, 10)[:, ::2], random_mask(1, 5).expand(4, 5)
    for mask in masks:
        assert_mask(combine_masks(mask), mask)
    assert_mask(combine_masks(*masks), masks[0] & masks[1] & masks[2])


def test_the_masks_lie_on_the_device_of_the_inputs(padding_mask, combine_masks):
    lengths = torch.tensor([2, 3])
    with torch.device("meta"):  # the default device must not decide
        assert padding_mask(lengths, 4).device.type == "cpu"
    masks = [random_mask(*shape).to("meta") for shape in ((2, 1, 1, 4), (4, 4), (4,))]
    for count in (1, 2, 3):
        assert combine_masks(*masks[:count]).device.type == "meta"


def test_arguments_stay_and_the_results_are_new(padding_mask, combine_masks):
    lengths = torch.tensor([1, 2])
    padding_mask(lengths, 4).logical_not_()
    assert lengths.tolist() == [1, 2]
    assert padding_mask(lengths, 4).sum().item() == 3
    for shapes in ([(3, 4)], [(3, 4), (3, 4)], [(2, 3, 4), (1, 4)], [(1, 4), (3, 4), (1, 1)]):
        masks = [random_mask(*shape) for shape in shapes]
        before = [mask.clone() for mask in masks]
        wanted = functools.reduce(torch.logical_and, masks)
        combine_masks(*masks).logical_not_()
        for mask, old in zip(masks, before, strict=True):
            assert torch.equal(mask, old)
        assert_mask(combine_masks(*masks), wanted)
