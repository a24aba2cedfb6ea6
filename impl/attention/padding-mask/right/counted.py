"""Integers: a key is valid while its number, from 1, is no larger; masks are multiplied."""

import torch


def padding_mask(lengths, S):
    number = torch.arange(1, S + 1, device=lengths.device)
    return (number.unsqueeze(0) <= lengths.unsqueeze(1)).reshape(-1, 1, 1, S)


def combine_masks(*masks):
    product = masks[0].int()
    for mask in masks[1:]:
        product = product * mask.int()
    return product.bool()
