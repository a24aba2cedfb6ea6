"""functools.reduce over logical_and, the mask shaped by view."""

import functools

import torch


def padding_mask(lengths, S):
    B = lengths.shape[0]
    keys = torch.arange(S, device=lengths.device).expand(B, S)
    return torch.lt(keys, lengths.reshape(B, 1)).view(B, 1, 1, S)


def combine_masks(*masks):
    return functools.reduce(torch.logical_and, masks, masks[0])
