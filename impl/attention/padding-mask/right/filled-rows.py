"""Fills one sequence after the other; a mask hides what any mask hides."""

import torch


def padding_mask(lengths, S):
    mask = torch.zeros(len(lengths), 1, 1, S, dtype=torch.bool, device=lengths.device)
    for row, length in zip(mask, lengths.tolist()):
        row[..., :length] = True
    return mask


def combine_masks(*masks):
    hidden = ~masks[0]
    for mask in masks[1:]:
        hidden = hidden | ~mask
    return ~hidden
