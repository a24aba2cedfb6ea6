"""The complement of a running sum; all over the broadcast masks, stacked."""

import torch


def padding_mask(lengths, S):
    ends = torch.nn.functional.one_hot(lengths, S + 1)[:, :S]
    return (ends.cumsum(-1) == 0).unsqueeze(1).unsqueeze(1)


def combine_masks(*masks):
    return torch.stack(torch.broadcast_tensors(*masks)).all(dim=0)
