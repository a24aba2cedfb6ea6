"""index_select over flat ids; the factor is 1 where nothing is scaled."""

import torch


def embed_tokens(ids, table, scale=True):
    factor = table.size(-1) ** 0.5 if scale else 1.0
    flat = torch.index_select(table, 0, ids.reshape(-1))
    return flat.mul(factor).unflatten(0, ids.shape)
